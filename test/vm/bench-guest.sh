# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The part of `make bench` that runs in the guest: brings the machine into each
# arm, runs leanacct-bench there, and says on stdout what it did, in TAP with
# lines between that bench-rows.awk reads:
#
#	bench arm ID cpu ROLE op OP depth N gate G variant V mechanism M control C
#	run OP iterations N tsc N ns N		(of leanacct-bench)
#	bench module-symbols, the lines of /proc/kallsyms, bench end
#
# The instruction counter knows the runs of an arm by its ID. Module symbols
# hold for the arms that follow.
#
# bench.sh puts these before this file: ops (which operations), gates (which
# gates), runs (how many of each).
# shellcheck disable=SC2154 # those three
: "$ops" "$gates" "$runs"

# operation, a gate that it is measured with, and the cgroup depths to run it at
operations='
syscall	vtime	0
syscall	lab	0
switch	vtime	0 4
switch	psi	0 4 10
wake	vtime	0 4
wake	psi	0 4 10
wakehog	psi	0 4 10
cputime	vtime	0
tick	vtime	0
sleep	vtime	0
sleep	psi	0
'

# gate, variant, mechanism, control, and the CPUs to measure on. The other gates
# are at stock; lab names several, each with its variant. Taken from the top; the modules are loaded and unloaded as the
# mechanism changes; `best` is jmp, or call where jmp is not. A control is a stock
# that must come out like the first.
arms='
none	stock	none	-		nohz_full housekeeping
vtime	null	jmp	-		nohz_full
vtime	exact	jmp	-		nohz_full
vtime	jiffy	jmp	-		nohz_full
psi	null	jmp	-		nohz_full
psi	exact	jmp	-		nohz_full housekeeping
psi	shadow	best	-		nohz_full
both	exact	best	-		nohz_full
lab	vtime:legacy,integrals:legacy	best	-	nohz_full
lab	vtime:legacy,integrals:nodiv	best	-	nohz_full
lab	vtime:legacy,integrals:lean	best	-	nohz_full
lab	vtime:jiffy	best	-		nohz_full
lab	vtime:exact	best	-		nohz_full
vtime	null	call	-		nohz_full
vtime	exact	call	-		nohz_full housekeeping
vtime	jiffy	call	-		nohz_full
psi	null	call	-		nohz_full
psi	exact	call	-		nohz_full housekeeping
none	stock	call	after_stock	nohz_full
vtime	null	klp	-		nohz_full
vtime	exact	klp	-		nohz_full housekeeping
vtime	jiffy	klp	-		nohz_full
none	stock	none	after_unload	nohz_full housekeeping
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

# load jmp|call|auto: leanacct.ko for that mechanism, or not at all.
load()
{
	if [ ! -e $modules/leanacct.ko ]; then
		missing="no leanacct.ko in the guest"
		return 1
	fi
	missing=$(insmod $modules/leanacct.ko mechanism="$1" 2>&1)
	[ -z "$missing" ] || return 1
	loaded=$1
	if [ "$1" != auto ] && ! grep -q "($1)" $debugfs/mechanism; then
		missing=$(sed -n 's/^# //p' $debugfs/mechanism)
		unload
		return 1
	fi
	was_loaded=1
}

load_klp()
{
	if [ ! -e $modules/leanacct_klp.ko ]; then
		missing="no leanacct_klp.ko in the guest"
		return 1
	fi
	for file in "$debugfs"/*/variant; do
		echo stock >"$file"
	done
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

# set_gate GATE VARIANT: make it so under $mechanism, and believe what `status`
# says of it, not what was written.
set_gate()
{
	if ! status=$(grep "^$1 " $debugfs/status); then
		[ "$2" = stock ] || missing="leanacct.ko has no gate $1"
		return 0
	fi
	case "$2 $status" in
	"stock $1 stock "*)
		return
		;;
	*" unfit "*)
		missing=${status#*unfit }
		return
		;;
	esac
	missing=$({ echo "$2" >$debugfs/"$1"/variant; } 2>&1) || :
	[ -z "$missing" ] || return 0
	status=$(grep "^$1 " $debugfs/status)
	case "$2 $status" in
	"stock $1 stock "*)	;;
	"$2 $1 $2 $mechanism on" | "$2 $1 $2 $mechanism on "*)	;;
	*)	missing="status says: $status" ;;
	esac
}

# wanted_of GATE: its variant in this arm.
wanted_of()
{
	case $gate,$1 in
	lab,*)
		wanted=$(echo "$variant" | tr , '\n' | sed -n "s/^$1://p")
		echo "${wanted:-stock}"
		;;
	"$1,$1" | both,vtime | both,psi)	echo "$variant" ;;
	*)	echo stock ;;
	esac
}

# Bring the gates into the arm, those at stock first. If that cannot be,
# `missing` has why.
set_gates()
{
	[ "$mechanism" != none ] || return 0
	for each in vtime psi integrals; do
		[ "$(wanted_of $each)" != stock ] || set_gate $each stock
	done
	for each in vtime psi integrals; do
		[ -z "$missing" ] || return 0
		set_gate $each "$(wanted_of $each)"
	done
}

# points GATE: `OP DEPTH` a line, what is measured in an arm of that gate. Both
# gates together are measured where psi is.
points()
{
	awk -v gate="$1" -v gates="$gates" -v ops=" $ops " '
		index(ops, " " $1 " ") == 0 { next }
		gate == "none" ? index(gates, $2) : $2 == (gate == "both" ? "psi" : gate) {
			for (i = 3; i <= NF; i++)
				if (!seen[$1, $i]++)
					print $1, $i
		}' /tmp/operations
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
	label="$1 $3 depth $2 $in_arm"
	if ! group=$(cgroup "$2"); then
		result ok "$label # SKIP no cgroup with the cpu controller"
		return
	fi
	shown=$mechanism
	[ "$variant" != stock ] || shown=none
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

# Timers stay on the CPU that sets them, as real-time tuning wants it.
echo 0 >/proc/sys/kernel/timer_migration

# Not in a pipe: the loops count. Standard input is what the tables are read by.
echo "$arms" >/tmp/arms
echo "$operations" >/tmp/operations
while read -r gate variant mechanism control roles; do
	case $gate in
	'')	continue ;;
	none)	;;
	both)	[ "$gates" = 'vtime psi' ] || continue ;;
	*)	case $gates in
		*"$gate"*)	;;
		*)		continue ;;
		esac ;;
	esac
	if [ "$mechanism" = best ]; then
		mechanism=call
		[ "$loaded" != jmp ] || mechanism=jmp
		[ "$gate" != lab ] || [ "$loaded" != none ] || ! load jmp || mechanism=jmp
	fi
	points "$gate" >/tmp/points
	[ -s /tmp/points ] || continue
	before=$loaded$klp
	mechanism "$mechanism"
	[ "$before" = "$loaded$klp" ] || [ "$loaded" = none ] || module_symbols
	[ "$control$was_loaded" != after_unload ] || missing="nothing was loaded"
	[ -n "$missing" ] || set_gates
	in_arm="$gate $variant $mechanism"
	[ "$gate" != none ] || in_arm=stock
	[ "$control" = - ] || in_arm="$in_arm $control"
	if [ -n "$missing" ]; then
		result ok "all of $in_arm # SKIP $missing"
		continue
	fi
	for role in $roles; do
		case $role in
		nohz_full)	cpu=$nohz_full_cpu ;;
		*)		cpu=$housekeeping_cpu ;;
		esac
		[ -n "$cpu" ] || continue
		while read -r op depth; do
			measure "$op" "$depth" "$role" "$cpu"
		done </tmp/points
	done
done </tmp/arms
echo "1..$tests"
