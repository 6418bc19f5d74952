# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# What the psi cases share, beside test/cases/lib.sh:
#
#	. /cases/lib.sh
#	. /lib/psi_lib.sh
#	load_psi
#	block_device || diag "$no_device"

# shellcheck disable=SC2034,SC2154 # for the cases, from lib.sh
psi=$leanacct/psi
tree=/sys/fs/cgroup/psi_load	# psi_load's, see test/programs/psi_tree.h
no_device=
parts=ring,hog,duty,rt,fork,move,mem,trigger,toggle,group

# The module, and a gate psi that fits here; else the case is skipped.
load_psi()
{
	load "$@"
	[ -d "$psi" ] || skip_all "no gate psi in this module"
	case $(status_of psi) in
	*' unfit'*)	skip_all "$(status_of psi)" ;;
	esac
}

# block_device [NS]: that completes by timer, so long after (1 ms); $parts are all of
# psi_load then. False, and $no_device says why, where there is none.
block_device()
{
	if [ ! -b /dev/nullb0 ]; then
		no_device="no null_blk.ko in the guest: test/vm/drivers.sh did not get it"
		[ -e /lib/drivers/null_blk.ko ] || return 1
		loaded configfs || no_device=$(insmod /lib/drivers/configfs.ko 2>&1) || return 1
		no_device=$(insmod /lib/drivers/null_blk.ko nr_devices=1 gb=1 queue_mode=2 \
			irqmode=2 completion_nsec="${1-1000000}" 2>&1) || return 1
		no_device='null_blk made no /dev/nullb0'
		wait_for 5 [ -b /dev/nullb0 ] || return 1
	fi
	no_device=
	parts=$parts,cache,io
}

# group leaf|mem|cache: the first of psi_load's groups of that kind.
group()
{
	find "$tree" -name "$1" | LC_ALL=C sort | head -n 1
}

# total FILE some|full: us of stall.
total()
{
	awk -v kind="$2" '$1 == kind { sub(/.*total=/, ""); print; found = 1 }
		END { exit !found }' "$1"
}

# done_of NAME FILE: a count of what psi_load did.
done_of()
{
	sed -n "s/^psi_load:.* $1=\([0-9]*\).*/\1/p" "$2"
}

# start_load FILE ARGUMENTS...: $load_pid, until stop_load; FILE has what it says.
start_load()
{
	load_out=$1
	shift
	psi_load -t 0 "$@" >"$load_out" 2>&1 &
	load_pid=$!
	wait_for 10 [ -e "$tree/hog/cgroup.procs" ] || bail "psi_load: $(cat "$load_out")"
}

# The load ends; true if all of its parts ran all the time.
stop_load()
{
	kill -TERM "$load_pid" || return 1
	stop_rc=0
	wait "$load_pid" || stop_rc=$?
	cat "$load_out"
	return $stop_rc
}

remove_tree()
{
	[ ! -e "$tree" ] || find "$tree" -depth -type d -exec rmdir {} +
}

# FILE KIND TOTAL, a line each, of all groups of the tree.
tree_totals()
{
	find "$tree" -name '*.pressure' ! -name cgroup.pressure ! -name irq.pressure |
		LC_ALL=C sort | while read -r tree_file; do
		awk -v file="${tree_file#"$tree"/}" '
			{ sub(/.*total=/, "", $NF); print file, $1, $NF }' "$tree_file"
	done
}

# idle_is_idle NAME: no task is left in the tree (`psi_load -k`), so a total
# that grows shows a count that is not 0: NR_RUNNING in cpu, NR_IOWAIT in io,
# NR_MEMSTALL in memory. The system's grow by what the idle guest does, less than
# 10 % of the time; a count left over there makes it 100 % of one CPU's.
idle_is_idle()
{
	wait_for 10 grep -q '^populated 0' "$tree/cgroup.events" ||
		bail "the tree is not empty: $(cat "$tree/cgroup.events")"
	sleep 1
	tree_totals >/tmp/idle.before
	idle_cpu=$(total /proc/pressure/cpu some)
	idle_memory=$(total /proc/pressure/memory some)
	idle_io=$(total /proc/pressure/io some)
	sleep 2
	idle_cpu=$(($(total /proc/pressure/cpu some) - idle_cpu))
	idle_memory=$(($(total /proc/pressure/memory some) - idle_memory))
	idle_io=$(($(total /proc/pressure/io some) - idle_io))
	tree_totals >/tmp/idle.after
	between "$1: $(wc -l </tmp/idle.after) totals are looked at" \
		"$(wc -l </tmp/idle.after)" 20 10000
	is "$1: no total of an empty group grows" \
		"$(diff /tmp/idle.before /tmp/idle.after)" ""
	between "$1: the system's cpu total hardly grows" $idle_cpu 0 200000
	between "$1: nor memory's" $idle_memory 0 200000
	between "$1: nor io's" $idle_io 0 200000
}
