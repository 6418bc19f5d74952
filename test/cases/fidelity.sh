#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What the kernel accounts against the truth, on the nohz_full CPU: loads whose
# user share is known by TSC (test/programs/share.c) under stock and under
# exact, in turn; a load in step with the tick, which exact takes as any other
# and jiffy gets grossly wrong; utime + stime against sum_exec_runtime.
#
# Everything is the median of some one-second runs: the CPUs of this machine
# are shared, and where the host takes one away between a hook and the load's
# own reading of the TSC, some milliseconds go to the wrong side, in stock as
# well. The load sees that by phases that are too long; a run with more than
# $quiet % of it is tried again, and where it stays so, the tests that cannot
# do without a quiet machine are skipped and say so. Up to there, by as many
# points as the host took percent of the time, shares may be off.
#
# cpus: 2
# timeout: 240
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

cpu=1
runs=/tmp/fidelity.runs
tries=/tmp/fidelity.tries
slack=50000	# ns: the CPU clocks cannot be read at one instant
quiet=5		# percent

# measure_once FILE VARIANT NAME SHARE-ARGUMENTS...: one run, as a line of FILE:
#	VARIANT NAME TRUTH ACCOUNTED GAP SWITCHES STOLEN
# with shares in percent: the user's by TSC and by the kernel, and what of the
# time the host (or another task) took.
measure_once()
{
	once_file=$1
	once_id="$2 $3"
	shift 3
	share "$@" | awk -F = -v id="$once_id" '
		{ v[$1] = $2 }
		END {
			truth = v["truth_user_ns"] + v["truth_sys_ns"]
			if (!truth)
				exit 1
			printf "%s %.3f %.3f %d %d %.3f\n", id,
				100 * v["truth_user_ns"] / truth,
				100 * v["utime_ns"] / (v["utime_ns"] + v["stime_ns"]),
				v["gap_ns"], v["switches"], 100 * v["stolen_ns"] / truth
		}' >>"$once_file" || bail "share $* gave no figures"
}

# measure VARIANT NAME SHARE-ARGUMENTS...: the least disturbed of up to four
# (quick: two) runs, as a line of $runs.
measure()
{
	: >$tries
	for _ in $attempts; do
		measure_once $tries "$@"
		! awk -v quiet=$quiet 'END { exit $7 > quiet }' $tries || break
	done
	sort -n -k 7 $tries | head -n 1 >>$runs
}

# figure median|max EXPRESSION VARIANT [NAME]: of an awk expression in truth,
# acct, gap, stolen over all the runs of that variant and load.
figure()
{
	awk -v variant="$3" -v name="${4-}" '
		$1 == variant && (name == "" || $2 == name) {
			truth = $3; acct = $4; gap = $5; stolen = $7
			x = '"$2"'
			print x < 0 ? -x : x
		}' $runs | sort -n |
		awk -v kind="$1" '{ x[NR] = $1 } END {
			print kind == "max" ? x[NR] : (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 }'
}

# allow POINTS VARIANT,LOAD: and what the host took of the time of those runs.
allow()
{
	plus "$1 + $(figure median stolen "${2%,*}" "${2#*,}")"
}

show()
{
	echo "# $1 $2: user share $(figure median truth "$1" "$2") % by TSC," \
		"$(figure median acct "$1" "$2") % accounted," \
		"off by $(figure median acct-truth "$1" "$2") points," \
		"worst run $(figure max acct-truth "$1" "$2");" \
		"the host took $(figure median stolen "$1" "$2") %"
}

# when_quiet NAME VARIANT,LOAD... -- COMMAND...: the test, or a skip where the
# host took the CPU away in half of the runs of one of these.
when_quiet()
{
	quiet_name=$1
	shift
	while [ "$1" != -- ]; do
		took=$(figure median stolen "${1%,*}" "${1#*,}")
		if awk "BEGIN { exit !($took > $quiet) }"; then
			skip "$quiet_name" "the host took $took % of the time of the runs $1"
			return
		fi
		shift
	done
	shift
	quiet_command=$1
	shift
	"$quiet_command" "$quiet_name" "$@"
}

use()
{
	set_variant "$1" >/dev/null || bail "cannot set $1"
}

plus()
{
	awk "BEGIN { printf \"%.3f\n\", $* }"
}

load
: >$runs
rounds='1 2 3' attempts='1 2 3 4' seconds=2
[ ! -e /cases/quick ] || rounds=1 attempts='1 2' seconds=1

# 1us: the user and the system share are about equal under stock. What exact
# saves is as much on either side of the transitions, which leaves such a load's
# shares as they are: the comparison shows errors of the split, and nothing else.
for _ in $rounds; do
	for v in stock exact; do
		use $v
		measure $v 10/90 ratio $cpu 1 200 1800
		measure $v 50/50 ratio $cpu 1 1000 1000
		measure $v 90/10 ratio $cpu 1 1800 200
		measure $v tick tick $cpu 1
		measure $v 1us work $cpu 1 320 1
		measure $v 1us work $cpu 1 320 1
	done
	use jiffy
	measure jiffy tick tick $cpu 1
done

for load in 10/90 50/50 90/10; do
	show stock $load
	show exact $load
	when_quiet "$load: the load has about that share" exact,$load -- \
		between "$(figure median truth exact $load)" \
		$((${load%/*} - 15)) $((${load%/*} + 15))
	when_quiet "$load: exact is within 1 point of the truth" exact,$load -- \
		between "$(figure median acct-truth exact $load)" 0 "$(allow 1 exact,$load)"
done

# Below 200 us the entry and exit code, which the kernel accounts as the
# user's, shows. Two runs are not the same, though: by as much as the load's own
# share by TSC differs between them, the accounted ones may too. And single short
# ones (quick) differ by up to 2 points under stock alone.
points=1
[ ! -e /cases/quick ] || points=3
show stock 1us
show exact 1us
stock=$(figure median acct stock 1us)
load_differs=$(plus "$(figure median truth exact 1us) - $(figure median truth stock 1us)" |
	tr -d -)
may_differ=$(plus "$(allow $points exact,1us) + $load_differs")
when_quiet "phases of a microsecond: exact is within $points of stock, and what the load differs by" \
	stock,1us exact,1us -- between "$(figure median acct exact 1us)" \
	"$(plus "$stock - $may_differ")" "$(plus "$stock + $may_differ")"

show stock tick
show exact tick
show jiffy tick
when_quiet "in step with the tick: the load is mostly in the kernel" exact,tick -- \
	between "$(figure median truth exact tick)" 15 45
when_quiet "in step with the tick: exact is within 2 points of the truth" exact,tick -- \
	between "$(figure median acct-truth exact tick)" 0 "$(allow 2 exact,tick)"
when_quiet "in step with the tick: jiffy is off by more than 20 points" jiffy,tick -- \
	between "$(figure max acct-truth jiffy tick)" 20 100

# utime + stime against sum_exec_runtime: stock's own gap first.
stock=$(figure median gap stock)
echo "# utime + stime - sum_exec_runtime, of a second: stock $stock ns" \
	"(worst run $(figure max gap stock)), exact $(figure median gap exact) ns" \
	"(worst run $(figure max gap exact))"
between "utime + stime is sum_exec_runtime as in stock (to $slack ns)" \
	"$(figure median gap exact)" 0 "$(plus "$stock + $slack")"

# The same of two tasks that share the CPU. The tick runs then, and hides up to
# a tick's worth of user time from a reader, at the begin and at the end.
for v in stock exact; do
	use $v
	measure_once $runs $v pair work $cpu $seconds 200 1 &
	measure_once $runs $v pair work $cpu $seconds 200 1
	wait $!
done
stock=$(figure max gap stock pair)
echo "# two tasks on the CPU: switched $(awk '$2 == "pair" { n = n " " $6 }
	END { print substr(n, 2) }' $runs) times; gap stock $stock ns," \
	"exact $(figure max gap exact pair) ns"
between "so it is with context switches (to two ticks)" \
	"$(figure max gap exact pair)" 0 "$(plus "$stock + 8000000")"

# What exact would have been off, by the module's own figures. They are the sum
# over epochs of a jiffy, each taken as it is: the noise of two clocks that are
# read one after the other does not cancel out, and 1 % would be too narrow. Short
# runs (quick) have been seen at 2.5 %.
points=2
[ ! -e /cases/quick ] || points=4
use shadow
put "$leanacct/reset_counters" 1
measure shadow 1us work $cpu $seconds 320 1
compared=$(counter shadow_ns)
echo "# shadow: $(counter differences) of $(counter shadow_epochs) epochs off by" \
	"more than 1 %; off by $(counter diff_ns) ns of $compared ns in all, at most" \
	"$(counter diff_max_ns) ns in one"
between "shadow compared the run" "$compared" $((seconds * 750000000)) 10000000000
when_quiet "phases of a microsecond: shadow finds exact within $points % of stock" \
	shadow,1us -- between "$(plus "100 * $(counter diff_ns) / $compared")" \
	0 "$(allow $points shadow,1us)"

# Readers, of the own times and of another thread's. What the kernel holds
# back of the other state, up to a tick, it does not show: so stock's utime +
# stime goes back for a remote reader too, by up to a tick.
for v in stock exact; do
	use $v
	put "$leanacct/reset_counters" 1
	readers own $cpu $seconds >/tmp/own.$v || bail "readers own"
	reads=$(counter flush_read)
	readers remote $cpu $seconds 0 >/tmp/remote.$v || bail "readers remote"
	echo "# $v, own: $(tr '\n' ' ' </tmp/own.$v)"
	echo "# $v, remote: $(tr '\n' ' ' </tmp/remote.$v)"
done
value()
{
	sed -n "s/^$2=//p" "$1"
}
tick=$(value /tmp/own.exact tick_ns)
most=$((tick + 4 * slack))
ok "a reader of its own times flushes" test "$reads" -gt 1000
is "own times: utime never goes back" "$(value /tmp/own.exact utime_back_ns)" 0
is "own times: utime + stime never goes back" "$(value /tmp/own.exact sum_back_ns)" 0
between "own times: behind sum_exec_runtime by a tick at most" \
	"$(value /tmp/own.exact gap_min_ns)" -$most 0
between "own times: never before it" \
	"$(value /tmp/own.exact gap_max_ns)" -$most $((4 * slack))
between "another's times: utime + stime goes back by a tick at most" \
	"$(value /tmp/remote.exact sum_back_ns)" 0 $most
between "another's times: within a tick of sum_exec_runtime" \
	"$(($(value /tmp/remote.exact gap_max_ns) - $(value /tmp/remote.exact gap_min_ns)))" \
	0 $most

finish
