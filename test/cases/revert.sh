#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The dead man's switch: a variant that is not kept goes back, whatever has become
# of the shell, the CPU and the clock that it was set by.
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

is_now()
{
	[ "$(variant "$2")" = "$1" ]
}

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

# shellcheck disable=SC2016 # $1 is the inner shell's
taskset 2 sh -c 'echo null >"$1"' sh "$leanacct/vtime/variant"
echo 0 >/sys/devices/system/cpu/cpu1/online
ok "the CPU that set it goes offline: it goes back" wait_for 10 is_now exact vtime
echo 1 >/sys/devices/system/cpu/cpu1/online

# A task that never sleeps, with real-time priority, on the CPU that set it.
echo -1 >/proc/sys/kernel/sched_rt_runtime_us
# shellcheck disable=SC2016 # $1 is the inner shell's
taskset 2 chrt -f 98 sh -c 'echo null >"$1"; while :; do :; done' sh "$leanacct/vtime/variant" &
hog=$!
ok "a hog of the highest priority took it" wait_for 5 is_now null vtime
ok "and it goes back" wait_for 10 is_now exact vtime
kill $hog

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
