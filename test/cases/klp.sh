#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The mechanism klp: leanacct_klp.ko comes and goes, gates follow.
#
# A transition has 10 s before it is turned back.
# cpus: 2
# timeout: 120
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

load vtime=exact
mech=$(mechanism)
is "leanacct_klp is refused while a gate is on" \
	"$(insmod "$leanacct_modules/leanacct_klp.ko" 2>&1 | sed 's/.*: //')" "Device or resource busy"
ok "in stock" set_variant stock
load_klp
like "stock is said to be behind the livepatch" "$(status_of)" \
	'^vtime stock klp off stock behind the livepatch'
is "mechanism marks klp" "$(grep -v '^#' "$leanacct/mechanism")" "jmp call (klp)"
ok "exact is set when asked for by name" set_variant exact
is "and called a net loss" "$(status_of)" "vtime exact klp on net loss under klp"
leanacct-bench syscall -c 1 -n 20000 -r 1 >/dev/null
between "it is reached" "$(counter fast 1)" 30000 1000000
# A task that has ended goes through psi_task_switch last, with no state in a
# transition: the kernel warned, seen on 6.1-rt.
is "psi is not patched, vtime is" "$(find "$leanacct_klp/vmlinux" -name 'psi_*' | wc -l)
$(find "$leanacct_klp/vmlinux" -name 'vtime_user_enter*' | wc -l)" "0
1"
is "psi is refused" "$(set_variant exact psi)" "Operation not supported"
like "with the reason" "$(status_of psi)" '^psi stock - unfit not by klp: livepatch warns'
for v in null jiffy legacy shadow; do
	ok "$v is set" set_variant $v
	is "$v is on" "$(status_of | cut -d ' ' -f 2-4)" "$v klp on"
done
ok "exact once more" set_variant exact
is "leanacct does not go while leanacct_klp is in" \
	"$(rmmod leanacct 2>&1 | sed 's/.*: //')" "Resource temporarily unavailable"
ok "the livepatch goes while exact is on" unload_klp
is "and the gate is in stock, by no mechanism" "$(status_of)" "vtime stock - off"
is "so is psi" "$(status_of psi)" "psi stock - off"
ok "the old mechanism works again" set_variant exact
is "and is in use" "$(status_of)" "vtime exact $mech on"
ok "stock" set_variant stock

ko="$leanacct_modules/leanacct_klp.ko"
is "leanacct klp on" "$(LEANACCT_KLP_KO=$ko leanacct klp on 2>&1 | sed -n 2p | cut -d ' ' -f 1-4)" \
	"vtime stock klp off"
is "leanacct klp off" "$(leanacct klp off 2>&1 | sed -n 2p)" "vtime stock - off"

# Livepatch cannot look at the stack of a task that is running, so one that
# stays in the kernel holds the transition.
sh -c "exec taskset -c 1 insmod $leanacct_modules/leanacct_hold.ko" 2>/dev/null &
holder=$!
sleep 1
said=$(LEANACCT_KLP_KO=$ko leanacct klp on 2>&1)
rc=$?
is "a transition that does not end: exit status 1" "$rc" 1
like "the holder is named" "$said" "^ *$holder insmod$"
like "and it was reversed" "$said" 'reversed: nothing is patched'
is "leanacct_klp is out" "$(grep -c '^leanacct_klp ' /proc/modules)" 0
is "the gate works by the old mechanism" "$(set_variant exact; status_of)" "vtime exact $mech on"

wait $holder
ok "the holder goes" rmmod leanacct_hold

finish
