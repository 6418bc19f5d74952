#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The same load under stock and exact, in turn: the pressure files agree.
#
# The load keeps to the clock (work and sleep by time, stalls by timers), and
# each total is taken per second. Of each figure, the medians of the runs may be
# $factor times apart what the largest of these is: the range of the stock runs, 5 % of
# their median, 1 % of the time. Ranges of three runs are loose estimates,
# hence the factor, and TCG shares the host's CPUs, hence the floor.
#
# cpus: 2
# append:
# timeout: 240
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh
# shellcheck source=test/programs/psi_lib.sh
. /lib/psi_lib.sh

factor=2
rounds=3
seconds=8
[ ! -e /cases/quick ] || seconds=4
figures=/tmp/same

# VARIANT NAME KIND US-PER-SECOND, a line each, to $figures.
measure()
{
	set_variant "$1" psi >/dev/null || bail "cannot set $1: $(dmesg | tail -n 1)"
	start_load /tmp/load $same
	sleep 1		# the parts settle
	now=$(snapshot)
	sleep $seconds
	{
		echo "$now"
		snapshot
	} | awk -v variant="$1" '
		$1 == "uptime" { span = $2 - at; at = $2; next }
		$1 " " $2 in old { print variant, $1, $2, ($3 - old[$1 " " $2]) / span }
		{ old[$1 " " $2] = $3 }' >>$figures
	stop_load >/dev/null || bail "$(cat /tmp/load)"
}

snapshot()
{
	echo "uptime $(cut -d ' ' -f 1 /proc/uptime)"
	for file in /proc/pressure/cpu /proc/pressure/memory /proc/pressure/io \
		"$(group leaf)"/*.pressure "$(group mem)"/*.pressure; do
		case $file in
		*/cgroup.pressure | */irq.pressure)	continue ;;
		esac
		awk -v name="${file#"$tree"/}" '{
			sub(/.*total=/, "", $NF); print name, $1, $NF }' "$file"
	done
}

load_psi
same=hog,duty,rt,mem
if block_device 10000000; then
	same=$same,io
else
	diag "$no_device"
fi
: >$figures
for _ in $(seq $rounds); do
	measure stock
	measure exact
done

awk -v factor=$factor '
	function median(text, v, n, i, j, t) {
		n = split(text, v)
		for (i = 1; i <= n; i++)
			for (j = i + 1; j <= n; j++)
				if (v[j] + 0 < v[i] + 0) { t = v[i]; v[i] = v[j]; v[j] = t }
		low = v[1]; high = v[n]
		return (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2
	}
	{ id = $2 " " $3; if (!(id in seen)) order[++n] = id; seen[id] = 1
	  all[$1, id] = all[$1, id] " " $4 }
	END {
		for (i = 1; i <= n; i++) {
			exact = median(all["exact", order[i]])
			stock = median(all["stock", order[i]])
			most = high - low
			if (most < stock * 0.05) most = stock * 0.05
			if (most < 10000) most = 10000
			off = exact - stock
			good = off <= factor * most && -off <= factor * most
			printf "%s %s: stock %d (%d to %d), exact %d us a second, may be off by %d\n",
				good ? "good" : "bad", order[i], stock, low, high, exact, factor * most
		}
	}' $figures >/tmp/judged
while read -r judged text; do
	ok "$text" [ "$judged" = good ]
done </tmp/judged

finish
