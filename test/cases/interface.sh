#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What debugfs and the parameters say and accept: names, modes, words, errors.
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

# The names and modes of all files, as the README gives them.
files='444 batch/counters
444 batch/functions
600 batch/variant
444 integrals/counters
444 integrals/functions
600 integrals/variant
444 mechanism
444 psi/counters
444 psi/functions
600 psi/variant
200 reset_counters
600 revert_after_s
444 status
444 vtime/counters
444 vtime/functions
600 vtime/variant'

log_mark
load
is "the files and their modes are the documented ones" \
	"$(cd "$leanacct" && find . -type f -exec stat -c '%a %n' {} + | sed 's| \./| |' | sort -k 2)" "$files"
is "the load says one line" \
	"$(log_since | grep -c '^leanacct: version .* loaded, mechanism \(jmp\|call\)$')" 1
mech=$(mechanism)
is "status names its version first" "$(head -n 1 "$leanacct/status")" "version 1"
is "the gate is off, in stock" "$(status_of)" "vtime stock - off"
is "so is psi" "$(status_of psi)" "psi stock - off"
is "psi's variants" "$(cat "$leanacct/psi/variant")" "[stock] null exact shadow"
is "variant lists all, stock marked" "$(cat "$leanacct/vtime/variant")" \
	"[stock] null exact jiffy legacy shadow"
like "mechanism marks the one in use" "$(grep -v '^#' "$leanacct/mechanism")" \
	'^(\(jmp\) call|jmp \(call\)) klp$'
like "mechanism says why" "$(grep '^#' "$leanacct/mechanism")" 'CONFIG_DYNAMIC_FTRACE_WITH_JMP'
is "nothing is redirected at load" \
	"$(grep -c leanacct /sys/kernel/tracing/enabled_functions)" 0
is "counters: a header, a row a CPU, ALL" \
	"$(cut -d ' ' -f 1 "$leanacct/vtime/counters" | tr '\n' ' ')" "cpu 0 1 ALL "

for word in '' bogus 'exact now' Exact exact_ 0123456789012345678901234567890123456789; do
	log_mark
	is "variant refuses '$word'" "$(set_variant "$word")" "Invalid argument"
	is "one line in the log says why" "$(log_since | grep -c '^leanacct: ')" 1
done
like "variant refuses a NUL" \
	"$(printf 'exact\0' | dd of="$leanacct/vtime/variant" 2>&1)" 'Invalid argument'
is "after all that: still stock" "$(variant)" stock

ok "a word without a newline is taken" sh -c "printf exact >$leanacct/vtime/variant"
is "and set" "$(status_of)" "vtime exact $mech on"
ok "blanks around it do not matter" set_variant '  jiffy  '
is "and set" "$(status_of)" "vtime jiffy $mech on"

ok "the parameter takes the same words" put /sys/module/leanacct/parameters/vtime exact
is "and shows the same list" "$(cat /sys/module/leanacct/parameters/vtime)" \
	"stock null [exact] jiffy legacy shadow"
is "and refuses the same" "$(put /sys/module/leanacct/parameters/vtime bogus)" "Invalid argument"
is "the parameter is root's alone" \
	"$(stat -c %a /sys/module/leanacct/parameters/vtime)" 600

taskset -c 1 leanacct-bench syscall -c 1 -n 20000 -r 1 >/dev/null
between "the fast path is counted on CPU 1" "$(counter fast 1)" 30000 1000000
is "and not on CPU 0" "$(counter fast 0)" 0
ok "reset_counters takes anything" put "$leanacct/reset_counters" x
between "and the counters begin anew" "$(counter fast 1)" 0 1000

for func in vtime_user_enter vtime_user_exit vtime_task_switch_generic vtime_guest_enter \
	vtime_guest_exit task_cputime; do
	like "functions: $func is redirected" "$(cat "$leanacct/vtime/functions")" \
		"^$func redirected $mech [0-9a-f]{16} [0-9a-f]{16} -$"
done

ok "psi takes exact beside it" set_variant exact psi
is "and is on" "$(status_of psi)" "psi exact $mech on"
for func in psi_task_change psi_task_switch; do
	like "functions: $func is redirected" "$(cat "$leanacct/psi/functions")" \
		"^$func redirected $mech [0-9a-f]{16} [0-9a-f]{16} -$"
done
leanacct-bench wake -c 1 -n 2000 -r 1 >/dev/null
between "its fast path is counted" "$(counter fast 1 psi)" 8000 1000000
between "its levels" \
	"$(($(counter mask_changed 1 psi) + $(counter mask_kept 1 psi)))" 8000 1000000
is "psi refuses another gate's word" "$(set_variant jiffy psi)" "Invalid argument"
ok "psi's parameter takes stock" put /sys/module/leanacct/parameters/psi stock
is "and it is off" "$(status_of psi)" "psi stock - off"

ok "stock is taken" set_variant stock
log_mark
ok "stock again is no change" set_variant stock
is "and no line" "$(log_since | grep -c '^leanacct: ')" 0
ok "the module comes out" unload
is "with its files" "$(ls -d "$leanacct" 2>/dev/null)" ""

log_mark
load vtime=exact
is "the parameter at load sets the variant" "$(status_of)" "vtime exact $mech on"
ok "unload while on" unload
is "leaves nothing redirected" "$(grep -c leanacct /sys/kernel/tracing/enabled_functions)" 0
is "a wrong word at load makes the load fail" \
	"$(insmod "$leanacct_modules/leanacct.ko" vtime=bogus 2>&1 | sed 's/.*: //')" "Invalid argument"
is "so does a wrong mechanism" \
	"$(insmod "$leanacct_modules/leanacct.ko" mechanism=klp 2>&1 | sed 's/.*: //')" "Invalid argument"
if [ "$mech" = call ]; then
	load mechanism=jmp
	like "jmp is not to be had here: unfit, with the reason" "$(status_of)" \
		'^vtime stock - unfit jmp asked for'
	is "and refused" "$(set_variant exact)" "Operation not supported"
	unload
else
	skip "jmp is not to be had here: unfit, with the reason" "this kernel has jmp"
fi
load mechanism=call
like "mechanism=call is said to be asked for" "$(cat "$leanacct/mechanism")" 'asked for'
ok "and exact is set" set_variant exact
is "by call" "$(status_of)" "vtime exact call on"

finish
