#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Before, while, after: what the kernel's own list of redirected functions says
# of each variant; other users of the same functions; ftrace switched off.
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

tracing=/sys/kernel/tracing

# Where ftrace leads our functions, "function replacement" a line.
directs()
{
	awk '/^[a-z]/ { name = $1 } /direct(\(jmp\))?-->/ { sub(/.*-->/, ""); sub(/_trampoline.*|\+0x.*/, ""); print name, $0 }' \
		$tracing/enabled_functions | sort
}

load
is "before: nothing is redirected" "$(directs)" ""
for v in null exact; do
	ok "$v is set" set_variant $v
	is "while $v: all six functions lead to it" "$(directs)" \
"task_cputime leanacct_vtime_${v}_cputime
vtime_guest_enter leanacct_vtime_${v}_guest_enter
vtime_guest_exit leanacct_vtime_${v}_guest_exit
vtime_task_switch_generic leanacct_vtime_${v}_switch
vtime_user_enter leanacct_vtime_${v}_user_enter
vtime_user_exit leanacct_vtime_${v}_user_exit"
done
ok "jiffy is set" set_variant jiffy
is "while jiffy: only the transitions" "$(directs)" \
"vtime_user_enter leanacct_vtime_jiffy_user_enter
vtime_user_exit leanacct_vtime_jiffy_user_exit"
ok "shadow is set" set_variant shadow
is "while shadow: transitions, switch, guest" "$(directs)" \
"vtime_guest_enter leanacct_vtime_shadow_guest_enter
vtime_task_switch_generic leanacct_vtime_shadow_switch
vtime_user_enter leanacct_vtime_shadow_user_enter
vtime_user_exit leanacct_vtime_shadow_user_exit"

# Newer kernels do not let ftrace be switched off at all while direct calls are
# built in; older ones only while a permanent user is there.
refused="$(put /proc/sys/kernel/ftrace_enabled 0)"
like "while on, ftrace cannot be switched off" "$refused" \
	'^(Device or resource busy|Operation not supported)$'
ok "stock is set" set_variant stock
is "after: nothing is redirected" "$(directs)" ""
if [ "$refused" = "Operation not supported" ]; then
	skip "with ftrace off a variant is refused" "this kernel never lets ftrace be switched off"
else
	ok "and ftrace can be switched off" setting /proc/sys/kernel/ftrace_enabled 0
	log_mark
	is "then a variant is refused" "$(set_variant exact)" "Device or resource busy"
	like "the log names ftrace" "$(log_since)" 'ftrace is off, set kernel.ftrace_enabled=1'
	is "and it stays in stock" "$(status_of)" "vtime stock - off"
	is "with nothing redirected" "$(directs)" ""
	ok "on again" put /proc/sys/kernel/ftrace_enabled 1
fi
ok "the variant is taken" set_variant exact

ok "a kprobe on a redirected function" put $tracing/kprobe_events 'p:probe vtime_user_enter'
ok "is enabled" put $tracing/events/kprobes/probe/enable 1
leanacct-bench syscall -c 1 -n 1000 -r 1 >/dev/null
like "functions says that it is shared" "$(cat "$leanacct/vtime/functions")" \
	'^vtime_user_enter redirected (jmp|call) .* shared with a tracer'
put $tracing/events/kprobes/probe/enable 0
between "it was hit" "$(grep -c 'probe:' $tracing/trace)" 100 1000000
put $tracing/kprobe_events ''
like "and no longer when it is gone" "$(cat "$leanacct/vtime/functions")" \
	'^vtime_user_enter redirected (jmp|call) .* -$'

finish
