#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Change the variant 100 times, in a random order that is the same in every run,
# while the nohz_full CPU makes system calls all the time; then some more while
# two tasks share it. The log stays quiet, and no time is lost or invented:
#
# - utime + stime of the load, not scaled, against its sum_exec_runtime, some 20
#   times a second. Between two switches they keep their distance, to what can be
#   read. At a switch to a task that another CPU woke they part under stock as
#   well: the scheduler stops the one clock at the wakeup, vtime the other at the
#   switch, and the host may take the CPU in between. So that is measured first,
#   while another gate is toggled, and the medians are compared.
# - all that /proc/stat has of the CPU against the wall clock. Ten milliseconds
#   fine, and each task holds up to a tick per state back.
#
# A variant that changes under load wants this, see test/vm/run.sh:
# tcg: single
# timeout: 500
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

cpu=1
toggles=100
more=30
[ ! -e /cases/quick ] || toggles=20 more=15
slack=200000	# ns, over a whole run

# order N SEED: that many variants, no two of a kind in a row. Into stock and
# jiffy less often: they take functions out of the redirect, and the kernel
# waits for tasks then, 0.3 s a function.
order()
{
	awk -v n="$1" -v seed="$2" 'BEGIN {
		srand(seed)
		count = split("stock jiffy null null exact exact exact shadow shadow", name)
		while (n > 0) {
			word = name[1 + int(rand() * count)]
			if (word == last)
				continue
			print last = word
			n--
		}
	}'
}

# toggle N SEED: true if all of them were taken.
toggle()
{
	for v in $(order "$1" "$2"); do
		set_variant "$v" || return 1
		[ "$(variant)" = "$v" ] || return 1
	done
	set_variant stock
}

# Wake a task on the CPU N times; seldom enough for looks in between.
disturb()
{
	# shellcheck disable=SC2016 # $1 is the inner shell's
	taskset $((1 << cpu)) sh -c 'for _ in $(seq "$1"); do usleep 150000; done' sh "$1"
}

toggle_psi()
{
	for _ in $(seq "$1"); do
		set_variant null psi && set_variant exact psi || return 1
	done
	set_variant stock psi
}

# start_load ratio|watch FILE: its process is $!.
start_load()
{
	share "$1" $cpu 0 2 1 >"$2" &
}

# stop_load PID FILE NAME: the figures are in FILE then, and shown.
stop_load()
{
	kill -TERM "$1"
	wait "$1" || bail "the load ended with status $?"
	echo "# $3: $(tr '\n' ' ' <"$2")"
}

value()
{
	sed -n "s/^$2=//p" "$1"
}

# What /proc/stat has of the CPU, less what the clock says: ms.
stat_lead()
{
	awk -v cpu="cpu$cpu" '
		FILENAME == "/proc/uptime" { up = $1 }
		$1 == cpu { for (i = 2; i <= 9; i++) sum += $i }
		END { printf "%d\n", sum * 10 - up * 1000 }' /proc/uptime /proc/stat
}

# Lines of warning level or worse since the mark; not that the host took the CPU in
# a timer's interrupt.
warnings()
{
	dmesg -r | awk -v marker="$log_marker" '
		index($0, marker) { found = 1; next }
		found && /^<[0-4]>/ && !/hrtimer: interrupt took/'
}

load
echo "# order: $(order $toggles 1 |
	awk '{ n[$1]++ } END { for (v in n) printf "%s %d ", v, n[v] }')"

# The same load while another gate is toggled: text is patched as often, the
# other CPU is as busy, and the accounting of the load is stock's. (That makes few
# switches, so a task is woken besides.)
log_mark
start_load watch /tmp/stock
load_pid=$!
sleep 1
lead=$(stat_lead)
disturb 40 &
disturb_pid=$!
ok "toggles of psi are taken, for comparison" toggle_psi 15
wait $disturb_pid
stop_load $load_pid /tmp/stock "stock"
echo "# stock: /proc/stat against the clock: $(($(stat_lead) - lead)) ms"
at_switch=$(value /tmp/stock at_switch_ns)
between "stock's own gap at a switch is known" "$at_switch" -10000 20000000
[ "$at_switch" -gt 0 ] || at_switch=0
per_switch=$(($(value /tmp/stock gap_ns) / ($(value /tmp/stock switches) + 1)))
[ "$per_switch" -gt 0 ] || per_switch=0

start_load watch /tmp/toggled
load_pid=$!
sleep 1
lead=$(stat_lead)
begin=$(cut -d . -f 1 /proc/uptime)
ok "$toggles toggles under load are taken" toggle $toggles 1
echo "# $toggles toggles took $(($(cut -d . -f 1 /proc/uptime) - begin)) s"
lead=$(($(stat_lead) - lead))
stop_load $load_pid /tmp/toggled "toggled"
echo "# /proc/stat against the clock: $lead ms"
between "the load ran all the while" "$(value /tmp/toggled calls)" $((toggles * 100)) 1000000000
between "and was looked at without a switch in between" \
	"$(value /tmp/toggled quiet)" $((2 * toggles)) 1000000
between "utime + stime: no time is lost, none invented" "$(value /tmp/toggled quiet_ns)" \
	-$((slack + $(value /tmp/toggled switched) * 10000)) \
	$((slack + $(value /tmp/toggled switched) * 10000))
between "and at a switch none but by what stock does" "$(value /tmp/toggled at_switch_ns)" \
	-10000 $((3 * at_switch + 10000))
between "/proc/stat: no time is lost, none invented (to 100 ms)" "$lead" -100 100
is "no warning in the log" "$(warnings)" ""

# What one of the two gets too much at a switch, the other gets too little. The
# tick runs with two, and hides up to a tick's worth of user time from either
# reading.
log_mark
start_load ratio /tmp/first
first_pid=$!
start_load ratio /tmp/second
second_pid=$!
sleep 1
lead=$(stat_lead)
ok "$more toggles under two loads are taken" toggle $more 2
lead=$(($(stat_lead) - lead))
stop_load $first_pid /tmp/first "first of two"
stop_load $second_pid /tmp/second "second of two"
gap=$(($(value /tmp/first gap_ns) + $(value /tmp/second gap_ns)))
switches=$(($(value /tmp/first switches) + $(value /tmp/second switches)))
echo "# two loads: gap $gap ns, $switches switches; /proc/stat against the clock: $lead ms"
between "the two were switched" "$switches" 100 1000000
between "utime + stime of both: no time is lost, none invented" "$gap" \
	-$((16000000 + switches * 10000)) $((16000000 + switches * 10000 + more * 6 * per_switch))
between "/proc/stat: no time is lost, none invented then (to 100 ms)" "$lead" -100 100
is "no warning in the log then" "$(warnings)" ""

finish
