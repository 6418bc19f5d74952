#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel does its own pressure-stall accounting under a mixed load in a tree
# of cgroups, and the gate predicts what becomes of every level it updates: 5
# million of them, and no difference in counts, mask or times. Every part of the
# load shows to have run, and every slow cause that it provokes to have been met.
#
# tcg: single
# append:
# timeout: 600
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh
# shellcheck source=test/programs/psi_lib.sh
. /lib/psi_lib.sh

levels=5000000
[ ! -e /cases/quick ] || levels=300000
limit=480	# s
least=16	# s: some parts take their time

# met NAME COLUMN: the counter is there and has counted.
met()
{
	if met_count=$(counter "$2" ALL psi); then
		between "$1" "$met_count" 1 1000000000000
	else
		skip "$1" "psi/counters has no column $2"
	fi
}

# worked NAME WHAT LEAST
worked()
{
	between "$1" "$(done_of "$2" /tmp/load)" "$3" 1000000000
}

load_psi
block_device || diag "$no_device"
set_variant shadow psi >/dev/null || bail "cannot set shadow: $(dmesg | tail -n 1)"
put "$leanacct/reset_counters" 1

# The averages of a group are not kept while all of it sleeps.
sleeper=/sys/fs/cgroup/sleeper
mkdir $sleeper
# shellcheck disable=SC2016 # $1 is the inner shell's
sh -c 'echo $$ >"$1/cgroup.procs"; while :; do sleep 6; done' sh $sleeper &
sleeper_pid=$!

start_load /tmp/load -d 8 $parts
cpu=$(total /proc/pressure/cpu some)
memory=$(total /proc/pressure/memory some)
io=$(total /proc/pressure/io some)
begin=$(cut -d . -f 1 /proc/uptime)
took=0
while [ "$took" -lt $least ] ||
	{ [ "$(counter shadow_levels ALL psi)" -lt $levels ] && [ "$took" -lt $limit ]; }; do
	sleep 1
	took=$(($(cut -d . -f 1 /proc/uptime) - begin))
done
cpu=$(($(total /proc/pressure/cpu some) - cpu))
memory=$(($(total /proc/pressure/memory some) - memory))
io=$(($(total /proc/pressure/io some) - io))
counters=$(cat $psi/counters)
kill $sleeper_pid
ok "every part of the load ran to its end" stop_load
sed 's/^/# /' /tmp/load
echo "$counters" | sed 's/^/# /'
echo "# $took s; some of cpu $cpu, memory $memory, io $io us"

between "level updates compared" "$(counter shadow_levels ALL psi)" $levels 1000000000000
for row in $(echo "$counters" | awk '/^[0-9]/ { print $1 }'); do
	between "some of them on CPU $row" "$(counter shadow_levels "$row" psi)" 1000 1000000000000
done
columns=$(echo "$counters" | awk '!/^#/ { for (i = 1; i <= NF; i++) if ($i ~ /^diff_/) print $i; exit }')
like "there are columns of differences" "$columns" '^diff_'
for column in $columns; do
	is "$column" "$(counter "$column" ALL psi)" 0
done
is "inconsistent tasks" "$(counter call_inconsistent ALL psi)" 0

for cause in memstall trigger averaging disabled; do
	met "slow for $cause" slow_$cause
done

between "cpu pressure" "$cpu" 500000 1000000000
between "memory pressure" "$memory" 500000 1000000000
worked "rings" hops 1000
worked "duty cycles" slices 100
worked "forks" forks 20
worked "vfork and exec" execs 10
worked "moves" moves 50
worked "over memory.high" stalls 2
worked "triggers put up" armed 12
worked "cpu triggers fire" events_cpu 10
worked "memory triggers fire" events_memory 10
worked "cgroup.pressure off and on" toggles 20
worked "groups made and removed" groups 10
if [ -z "$no_device" ]; then
	between "io pressure" "$io" 500000 1000000000
	worked "io triggers fire" events_io 10
	worked "reads through a page cache that is too small" cached 50
	worked "direct reads" direct 50
else
	skip "io pressure, io triggers, page cache and direct reads" "$no_device"
fi

finish
