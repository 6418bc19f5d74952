# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The part of `make bench` that runs in the guest: brings the machine into each
# arm, runs leanacct-bench there, and says on stdout what it did, in TAP with
# lines between that bench-rows.awk reads:
#
#	bench arm ID cpu ROLE op OP depth N gate G variant V mechanism M control C
#	run OP iterations N tsc N ns N		(of leanacct-bench)
#	bench kernel-symbols, base64 of a compressed list, bench end
#	bench module-symbols, the lines of /proc/kallsyms, bench end
#
# The instruction counter knows the runs of an arm by its ID. Module symbols
# hold for the arms that follow.
#
# bench.sh puts these before this file: ops (which operations), runs (how many
# of each), send_symbols (1: the host lacks the kernel's).
# shellcheck disable=SC2154 # those three
: "$ops" "$runs" "$send_symbols"

# operation, and the cgroup depths to run it at
operations='
syscall	0
switch	0 4
wake	0 4
cputime	0
tick	0
sleep	0
'

# variant, mechanism, control, and the CPUs to measure on. Taken from the top;
# the modules are loaded and unloaded as the mechanism changes. A control is a
# stock that must come out like the first.
arms='
stock	none	-		nohz_full housekeeping
null	jmp	-		nohz_full
exact	jmp	-		nohz_full
jiffy	jmp	-		nohz_full
null	call	-		nohz_full
exact	call	-		nohz_full housekeeping
jiffy	call	-		nohz_full
stock	call	after_stock	nohz_full
null	klp	-		nohz_full
exact	klp	-		nohz_full housekeeping
jiffy	klp	-		nohz_full
stock	none	after_unload	nohz_full housekeeping
'

modules=/lib/leanacct
debugfs=/sys/kernel/debug/leanacct
patch=/sys/kernel/livepatch/leanacct_klp
cgroups=/sys/fs/cgroup
tests=0
arm=0
missing=

# first NUMBER of a CPU list such as `1-3,5`
first_of()
{
	sed 's/[^0-9].*//' "$1" 2>/dev/null
}

# Which CPU has which role. Without nohz_full= there is only the second.
nohz_full_cpu=$(first_of /sys/devices/system/cpu/nohz_full)
housekeeping_cpu=0

# until COMMAND...: wait up to 15 s for it to become true.
until_true()
{
	tries=150
	while ! "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		usleep 100000
	done
}

settled()
{
	[ "$(cat $patch/transition)" = 0 ]
}

gone()
{
	[ ! -e $patch ]
}

# Symbols of modules and of ftrace's own trampolines: they stand behind those
# of the kernel, and reading all to the end takes seconds here.
module_symbols()
{
	echo "bench module-symbols"
	tail -n 4000 /proc/kallsyms | grep -i ' [tw] .*\['
	echo "bench end"
}

# What leanacct.ko was loaded for (none, jmp, call), and whether leanacct_klp.ko
# is in on top of it.
loaded=none
klp=0
was_loaded=

unload_klp()
{
	[ $klp = 1 ] || return 0
	echo 0 >$patch/enabled
	until_true gone && until_true rmmod leanacct_klp || return 1
	klp=0
}

unload()
{
	unload_klp || return 1
	[ "$loaded" = none ] || rmmod leanacct || return 1
	loaded=none
}

# load jmp|call|auto: leanacct.ko for that mechanism.
load()
{
	if [ ! -e $modules/leanacct.ko ]; then
		missing="no leanacct.ko in the guest"
		return 1
	fi
	missing=$(insmod $modules/leanacct.ko mechanism="$1" 2>&1)
	[ -z "$missing" ] || return 1
	loaded=$1
	was_loaded=1
}

load_klp()
{
	if [ ! -e $modules/leanacct_klp.ko ]; then
		missing="no leanacct_klp.ko in the guest"
		return 1
	fi
	echo stock >$debugfs/vtime/variant
	missing=$(insmod $modules/leanacct_klp.ko 2>&1)
	[ -z "$missing" ] || return 1
	klp=1
	until_true settled || missing="the livepatch transition did not end in 15 s"
}

# Load or unload until the mechanism is $1. If it cannot be, `missing` has why.
mechanism()
{
	missing=
	case $1 in
	none)
		unload || missing="could not be unloaded"
		;;
	jmp | call)
		[ "$loaded$klp" != "${1}0" ] || return 0
		if ! unload; then
			missing="could not be unloaded"
		else
			load "$1"
		fi
		;;
	klp)
		[ $klp = 0 ] || return 0
		[ "$loaded" != none ] || load auto
		[ "$loaded" = none ] || load_klp
		;;
	esac
}

# Make the gate's variant $1 under the mechanism $2, and believe what `status`
# says of it, not what was written.
variant()
{
	[ "$2" != none ] || return 0
	status=$(grep '^vtime ' $debugfs/status)
	case $status in
	*" unfit "*)
		missing=${status#*unfit }
		return
		;;
	esac
	missing=$({ echo "$1" >$debugfs/vtime/variant; } 2>&1) || :
	[ -z "$missing" ] || return 0
	status=$(grep '^vtime ' $debugfs/status)
	case "$1 $status" in
	"stock vtime stock "*)			;;
	"$1 vtime $1 $2 on" | "$1 vtime $1 $2 on "*)	;;
	*)	missing="status says: $status" ;;
	esac
}

# A cgroup $1 levels below the root, each with the cpu controller.
cgroup()
{
	dir=$cgroups
	level=0
	while [ $level -lt "$1" ]; do
		echo +cpu >$dir/cgroup.subtree_control || return 1
		level=$((level + 1))
		dir=$dir/depth$level
		[ -d $dir ] || mkdir $dir || return 1
	done
	echo $dir
}

# One TAP line.
result()
{
	tests=$((tests + 1))
	echo "$1 $tests - $2"
}

# measure OP DEPTH ROLE CPU, in the arm that stands
measure()
{
	label="$1 $3 depth $2 $variant $mechanism"
	[ "$control" = - ] || label="$label $control"
	if [ -n "$missing" ]; then
		result ok "$label # SKIP $missing"
		return
	fi
	if ! group=$(cgroup "$2"); then
		result ok "$label # SKIP no cgroup with the cpu controller"
		return
	fi
	gate=vtime
	shown=$mechanism
	if [ "$variant" = stock ]; then
		gate=none
		shown=none
	fi
	arm=$((arm + 1))
	echo "bench arm $arm cpu $3 op $1 depth $2 gate $gate variant $variant" \
		"mechanism $shown control $control"
	# shellcheck disable=SC2016 # for the inner shell
	if sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec leanacct-bench "$@"' sh \
		"$group" "$1" -c "$4" -r "$runs" -i $arm; then
		result ok "$label"
	else
		result "not ok" "$label"
	fi
}

# The runs of `switch` fill their CPU with real-time tasks.
echo -1 >/proc/sys/kernel/sched_rt_runtime_us

if [ "$send_symbols" = 1 ]; then
	echo "bench kernel-symbols"
	grep -i ' [tw] ' /proc/kallsyms | grep -v '\[' | gzip -1 | base64
	echo "bench end"
fi

# Not in a pipe: the loops count. Standard input is what the tables are read by.
echo "$arms" >/tmp/arms
echo "$operations" >/tmp/operations
while read -r variant mechanism control roles; do
	[ -n "$variant" ] || continue
	before=$loaded$klp
	mechanism "$mechanism"
	[ "$before" = "$loaded$klp" ] || [ "$loaded" = none ] || module_symbols
	[ "$control$was_loaded" != after_unload ] || missing="nothing was loaded"
	[ -n "$missing" ] || variant "$variant" "$mechanism"
	for role in $roles; do
		case $role in
		nohz_full)	cpu=$nohz_full_cpu ;;
		*)		cpu=$housekeeping_cpu ;;
		esac
		[ -n "$cpu" ] || continue
		while read -r op depths; do
			case " $ops " in
			*" $op "*)
				for depth in $depths; do
					measure "$op" "$depth" "$role" "$cpu"
				done
			esac
		done </tmp/operations
	done
done </tmp/arms
echo "1..$tests"
