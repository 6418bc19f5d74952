#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The dead man's switch: a variant that is not kept goes back, whatever has become
# of the shell, the CPU and the clock that it was set by. (Debian's 6.12 does not let
# a CPU of isolcpus=domain go offline.)
# append: nohz_full=1 rcu_nocbs=1
# timeout: 120
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

is_now()
{
	[ "$(variant "$2")" = "$1" ]
}

cpu1=/sys/devices/system/cpu/cpu1/online

load
is "off at load" "$(cat "$leanacct/revert_after_s")" 0
ok "a change is for good then" set_variant null
is "and nothing is said" "$(status_of)" "vtime null $(mechanism) on"
log_mark
is "there is nothing to keep" "$(set_variant keep)" "Invalid argument"
like "says the log" "$(log_since)" 'vtime: keep: nothing to keep'
is "words are refused" "$(put "$leanacct/revert_after_s" soon)" "Invalid argument"
is "so are negative numbers" "$(put "$leanacct/revert_after_s" -1)" "Invalid argument"
ok "3 s" put "$leanacct/revert_after_s" 3
is "the parameter is the same" "$(cat /sys/module/leanacct/parameters/revert_after_s)" 3

log_mark
sh -c "echo exact >$leanacct/vtime/variant"
like "status says what will be" "$(status_of)" 'on back to null in [1-4] s unless kept$'
ok "it goes back, though the shell is gone" wait_for 10 is_now null vtime
like "with a line in the log" "$(log_since)" 'vtime: exact was not kept, back to null'
is "and no more is said" "$(status_of)" "vtime null $(mechanism) on"

ok "exact, and kept" set_variant exact
ok "keep" set_variant keep
sleep 5
is "stays" "$(variant)" exact

ok "two changes in a row, the second" set_variant jiffy
ok "before the first is kept" set_variant null
ok "go back to what was kept" wait_for 10 is_now exact vtime

ok "another gate has its own" set_variant exact psi
ok "and goes back by itself" wait_for 10 is_now stock psi
is "alone" "$(variant)" exact

date -s 2030-01-01 >/dev/null
ok "the clock jumps ahead" set_variant null
date -s 2020-01-01 >/dev/null
is "and far back" "$(date +%Y)" 2020
ok "it goes back all the same" wait_for 10 is_now exact vtime

put "$leanacct/revert_after_s" 12
# shellcheck disable=SC2016 # $1 is the inner shell's
taskset 2 sh -c 'echo null >"$1" && exec sleep 60' \
	sh "$leanacct/vtime/variant" &
load=$!
ok "set" wait_for 4 is_now null vtime
ok "the CPU that set it goes offline" put $cpu1 0
is "null is on" "$(variant)" null
ok "it goes back" wait_for 20 is_now exact vtime
ok "the CPU comes back" put $cpu1 1
kill $load
put "$leanacct/revert_after_s" 3

# Two tasks of real-time priority that never sleep, on the CPU that set it.
echo -1 >/proc/sys/kernel/sched_rt_runtime_us
# shellcheck disable=SC2016 # $1 is the inner shell's
taskset 2 sh -c 'echo null >"$1" && exec leanacct-bench switch -c 1 -n 1000000000 -r 1' \
	sh "$leanacct/vtime/variant" >/dev/null &
hog=$!
ok "the CPU that set it is taken" wait_for 5 is_now null vtime
ok "and it goes back" wait_for 15 is_now exact vtime
ok "the CPU is still taken" kill $hog

ok "0: a change is for good again" put "$leanacct/revert_after_s" 0
ok "set" set_variant null
sleep 4
is "stays" "$(variant)" null

ok "a change that is pending" put "$leanacct/revert_after_s" 60
ok "does not keep the module in" set_variant exact
ok "which goes" unload
is "and nothing is redirected" "$(grep -c leanacct /sys/kernel/tracing/enabled_functions)" 0
load revert_after_s=2 vtime=exact
is "at load, by parameters" "$(variant)" exact
ok "it goes back to stock" wait_for 10 is_now stock vtime

finish
