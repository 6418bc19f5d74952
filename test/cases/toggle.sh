#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Change the variant 100 times, in a random order that is the same in every run,
# while the nohz_full CPU makes system calls all the time; then some more while
# two tasks share it. The log stays quiet, and no time is lost or invented:
# utime + stime against sum_exec_runtime, not scaled, as it is under stock.
#
# timeout: 200
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

cpu=1
toggles=100
more=30
slack=200000	# ns, over all toggles

# order N SEED: that many variants, no two of a kind in a row.
order()
{
	awk -v n="$1" -v seed="$2" 'BEGIN {
		srand(seed)
		count = split("stock null exact jiffy shadow", name, " ")
		while (n > 0) {
			next_one = 1 + int(rand() * count)
			if (next_one == last)
				continue
			print name[last = next_one]
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

# start_load FILE: its process is $!. It is under way when its own start is past.
start_load()
{
	share work $cpu 0 200 1 >"$1" &
}

value()
{
	sed -n "s/^$2=-\{0,1\}//p" "$1"
}

figures()
{
	echo "# $1: $(tr '\n' ' ' <"$2")"
}

# Lines of warning level or worse since the mark.
warnings()
{
	dmesg -r | awk -v marker="$log_marker" '
		index($0, marker) { found = 1; next }
		found && /^<[0-4]>/'
}

load
echo "# order: $(order $toggles 1 | awk '{ n[$1]++ } END { for (v in n) printf "%s %d ", v, n[v] }')"

share work $cpu 5 200 1 >/tmp/stock || bail "share"
figures "stock, no toggle" /tmp/stock
bound=$(($(value /tmp/stock gap_ns) + slack))

log_mark
start_load /tmp/toggled
load_pid=$!
sleep 1
ok "$toggles toggles under load are taken" toggle $toggles 1
kill -TERM $load_pid
wait $load_pid
figures "toggled" /tmp/toggled
between "the load ran all the while" "$(value /tmp/toggled calls)" 1000000 1000000000
between "no time is lost (to $bound ns)" "$(value /tmp/toggled gap_ns)" 0 $bound
is "no warning in the log" "$(warnings)" ""

# With switches the tick runs, and hides up to a tick's worth of user time from
# a reader at the begin and at the end.
log_mark
start_load /tmp/first
first_pid=$!
start_load /tmp/second
second_pid=$!
sleep 1
ok "$more toggles under two loads are taken" toggle $more 2
kill -TERM $first_pid $second_pid
wait $first_pid
wait $second_pid
for load in first second; do
	figures "$load of two" /tmp/$load
	between "the $load was switched" "$(value /tmp/$load switches)" 100 1000000
	between "the $load lost no time (to two ticks)" \
		"$(value /tmp/$load gap_ns)" 0 $((bound + 8000000))
done
is "no warning in the log then" "$(warnings)" ""

finish
