#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Everything that reads or moves the figures finds them flushed: a task that
# reads its own, a context switch, a change of variant, a CPU that goes offline,
# unload. (Debian's 6.12 does not let a CPU of isolcpus=domain go offline.)
# append: nohz_full=1 rcu_nocbs=1
# tcg: single
# timeout: 240
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

cpu1=/sys/devices/system/cpu/cpu1/online

load vtime=exact
leanacct-bench cputime -c 1 -n 1000 -r 1 >/dev/null
ok "reset" put "$leanacct/reset_counters" 1
readers own 1 1 >/dev/null
between "a task that reads its own times flushes" "$(counter flush_read 1)" 10 100000000

put "$leanacct/reset_counters" 1
leanacct-bench switch -c 1 -n 5000 -r 1 >/dev/null
between "context switches flush" "$(counter flush_switch 1)" 4000 1000000

put "$leanacct/reset_counters" 1
leanacct-bench syscall -c 1 -n 100000000 -r 1 >/dev/null &
load=$!
busy()
{
	[ "$(counter fast 1)" -gt 10000 ]
}
wait_for 20 busy || bail "the load does not get to CPU 1"
ok "a change of variant under load" set_variant null
# 0 where a transition of the load came between and closed the epoch by itself.
between "flushes the CPU's epoch, once at most" "$(counter flush_leave 1)" 0 1
before=$(counter fast 1)
sleep 1
is "and no fast path is taken after it" "$(counter fast 1)" "$before"
ok "exact again" set_variant exact
kill $load

for v in exact jiffy legacy shadow null; do
	set_variant $v
	leanacct-bench syscall -c 1 -n 100000000 -r 1 >/dev/null 2>&1 &
	load=$!
	sleep 1
	ok "$v: CPU 1 goes offline under load" put $cpu1 0
	ok "$v: comes online" put $cpu1 1
	taskset -p 2 $load >/dev/null	# the offline moved it away
	ok "$v: goes offline again" put $cpu1 0
	ok "$v: stock is set meanwhile" set_variant stock
	ok "$v: and $v again" set_variant $v
	ok "$v: online" put $cpu1 1
	kill $load
	wait $load 2>/dev/null
	ok "$v: the gate works there" taskset -c 1 leanacct-bench syscall -c 1 -n 1000 -r 1
done
ok "unload under load" sh -c "leanacct-bench syscall -c 1 -n 2000000 -r 1 >/dev/null & sleep 1; rmmod leanacct; rc=\$?; wait; exit \$rc"

finish
