#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Triggers fire under exact as often as under stock. And while groups come, go
# and are switched off and on, tasks move between them, and a CPU goes offline and
# online, the pressure files stay sane: no total goes back, no average leaves 0
# to 100; at the end no count is left over.
#
# cpus: 2
# append:
# timeout: 180
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh
# shellcheck source=test/programs/psi_lib.sh
. /lib/psi_lib.sh

seconds=12
[ ! -e /cases/quick ] || seconds=6
cpu1=/sys/devices/system/cpu/cpu1

# FILE KIND avg10=... total=..., a line each. A group may be switched off, or gone.
sample()
{
	for file in /proc/pressure/* $(find $tree -name '*.pressure' ! -name cgroup.pressure \
		! -path "*/short/*" 2>/dev/null); do
		sed "s,^,$file ," "$file" 2>/dev/null || :
	done
}

load_psi
triggers=trigger,hog,duty,mem
if block_device; then
	triggers=$triggers,io
else
	diag "$no_device"
fi

for v in stock exact; do
	set_variant $v psi >/dev/null || bail "cannot set $v: $(dmesg | tail -n 1)"
	psi_load -t $seconds $triggers >/tmp/load.$v 2>&1 || bail "$(cat /tmp/load.$v)"
	echo "# $v: $(cat /tmp/load.$v)"
done
for what in cpu memory io; do
	if [ $what = io ] && [ -n "$no_device" ]; then
		skip "io triggers" "$no_device"
		continue
	fi
	stock=$(done_of events_$what /tmp/load.stock)
	between "$what triggers fire under stock" "$stock" $seconds 100000
	between "$what triggers fire as often under exact (to 25 % and 2)" \
		"$(done_of events_$what /tmp/load.exact)" \
		$((stock * 3 / 4 - 2)) $((stock * 5 / 4 + 2))
done

start_load /tmp/load -k "$parts"
: >/tmp/samples
for step in 1 2 3 4 5 6; do
	case $step in
	2 | 4)	ok "CPU 1 goes offline ($step)" put $cpu1/online 0 ;;
	3 | 5)	ok "CPU 1 comes online ($step)" put $cpu1/online 1 ;;
	esac
	sample >>/tmp/samples
	sleep 2
	sample >>/tmp/samples
done
is "exact all the while" "$(variant psi)" exact
ok "every part of the load ran to its end" stop_load
sed 's/^/# /' /tmp/load
between "samples were taken" "$(wc -l </tmp/samples)" 200 1000000
is "no total goes back" "$(awk '{
	n = split($NF, part, "=")
	id = $1 " " $2
	if (n == 2 && part[2] + 0 < last[id] + 0) print id, "from", last[id], "to", part[2]
	last[id] = part[2] }' /tmp/samples)" ""
is "no average leaves 0 to 100" "$(awk '{
	for (i = 3; i < NF; i++) { split($i, part, "="); if (part[2] < 0 || part[2] > 100) print }
	}' /tmp/samples)" ""
idle_is_idle "after all that"
remove_tree

finish
