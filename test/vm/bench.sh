#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Measure what the gates save, in exact instructions, in one boot of the VM:
# every operation under stock, under each variant and mechanism, and under stock
# again. bench-guest.sh has the table of what is measured.
#
# A table goes to stdout, progress to stderr, and everything to
# build/bench/RELEASE.json, an array of rows (bench-rows.awk says what is in
# them). What it was made from is kept in build/bench/RELEASE/.
set -eu

usage()
{
	cat <<'USAGE'
usage: bench.sh KERNEL [--gate GATE] [-r RUNS] [--no-module] ["OPS"]

KERNEL as kernel.sh knows it. OPS are some of (default: all of them)
  syscall switch wake cputime tick sleep     with the gate vtime
  switch wake wakehog sleep                  with the gate psi

  --gate GATE   vtime or psi: leave out the other, and what needs both; lab:
                what test/lab/ compares, to RELEASE-lab.json instead
  -r RUNS       runs of each operation in each arm (default 5)
  --no-module   do not build the module first; take what is there

Exit status: 0 done, 1 error, 129 usage.

examples:
  bench.sh 6.12 syscall
  bench.sh 6.12 --gate psi wake
  bench.sh 6.12 "syscall wake" && bench-check.sh build/bench/6.12*.json
USAGE
}

bad_usage()
{
	echo "bench.sh: $*" >&2
	usage >&2
	exit 129
}

die()
{
	echo "bench.sh: $*" >&2
	exit 1
}

kernel='' ops='' gates='vtime psi' runs=5 no_module=''
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	-r | --gate)
		[ $# -gt 1 ] || bad_usage "$1 wants a value"
		case $1 in
		-r)	runs=$2 ;;
		*)	gates=$2 ;;
		esac
		shift
		;;
	--no-module)	no_module=$1 ;;
	-*)		bad_usage "unknown option '$1'" ;;
	*)
		if [ -z "$kernel" ]; then
			kernel=$1
		else
			ops="$ops $1"
		fi
		;;
	esac
	shift
done
[ -n "$kernel" ] || bad_usage "which kernel?"
case $runs in
'' | *[!0-9]* | 0)	bad_usage "-r wants a number, not '$runs'" ;;
esac
case $gates in
'vtime psi')	all_ops='syscall switch wake wakehog cputime tick sleep' ;;
vtime)		all_ops='syscall switch wake cputime tick sleep' ;;
psi)		all_ops='switch wake wakehog sleep' ;;
lab)		all_ops=syscall ;;
*)		bad_usage "no gate '$gates'" ;;
esac
[ -n "$(echo "$ops" | tr -d ' ,')" ] || ops=$all_ops
for op in $ops; do
	case " $all_ops " in
	*" $op "*)	;;
	*)		bad_usage "no operation '$op' with $gates" ;;
	esac
done

top=$(cd "$(dirname "$0")/../.." && pwd)
: "${LEANACCT_BUILD:=$top/build}"
export LEANACCT_BUILD
vm=$top/test/vm
release=$(sh "$vm/kernel.sh" "$kernel")
out=$LEANACCT_BUILD/bench/$release
json=$out.json
[ "$gates" != lab ] || json=$out-lab.json
mkdir -p "$out"
exec 9>"$out/.lock"
flock -n 9 || die "another bench of $release is running"
case $out in
*,*)	die "QEMU takes no comma in a path: $out" ;;
esac

plugin=$LEANACCT_BUILD/bench/insn.so
if [ ! -e "$plugin" ] || [ -n "$(find "$vm/insn.c" -newer "$plugin")" ]; then
	# Another bench may be loading it.
	${CC:-cc} -O2 -Wall -Wextra -Werror -shared -fPIC -o "$plugin.$$" "$vm/insn.c"
	mv "$plugin.$$" "$plugin"
fi

# The kernel's symbols: a boot of their own, once per kernel package.
symbols=$out/symbols
if [ ! -s "$symbols" ] ||
	[ -n "$(find "$LEANACCT_BUILD/kernels/$release/vmlinuz" -newer "$symbols")" ]; then
	echo "bench.sh: reading the symbols of $release" >&2
	sh "$vm/run.sh" "$kernel" --no-module --out "$out" "$vm/bench-symbols.sh" >"$out/tap" ||
		die "the boot that reads the kernel's symbols failed (see $out/boot-1.log)"
	tr -d '\r' <"$out/boot-1.result" |
		sed -n '/^bench kernel-symbols/,/^bench end/p' | sed '1d;$d' |
		base64 -d | gzip -d | LC_ALL=C sort >"$symbols.new" ||
		die "the kernel's symbols did not come through: $out/boot-1.result"
	mv "$symbols.new" "$symbols"
fi

# What reads the clock is told apart by who asked: it is the larger part of some
# kinds of accounting.
shared=$(LC_ALL=C awk '
	from && $1 != from { printf ",shared=%s-%s", from, $1; from = "" }
	$3 ~ /^((native_)?sched_clock(_noinstr|_cpu|_local|_remote)?|local_clock(_noinstr)?|(__)?cyc2ns_read(_begin|_end)?|__SCT__pv_sched_clock)$/ {
		from = $1
	}' "$symbols")

# What an arm takes, seconds, generously; there are up to 30 to an operation and
# depth. (On a machine with other work, three times what it takes alone.)
{
	echo "# timeout: $((180 + runs * 40 * $(echo "$ops" | wc -w)))"
	echo "ops='$ops'"
	echo "runs=$runs"
	echo "gates='$gates'"
	cat "$vm/bench-guest.sh"
} >"$out/bench.sh"
: >"$out/regions"

pid=
clean_up()
{
	status=$?
	[ -z "$pid" ] || kill "$pid" 2>/dev/null || :
	exit $status
}
trap clean_up EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

start=$(date +%s)
echo "bench.sh: $release:$(echo " $ops" | tr -s ' '); gates $gates; $runs runs each" >&2
rm -f "$out/boot-1.result"
# shellcheck disable=SC2086 # an option or nothing
sh "$vm/run.sh" "$kernel" $no_module --out "$out" \
	--qemu-arg -plugin --qemu-arg "$plugin,out=$out/regions$shared" \
	"$out/bench.sh" >"$out/tap" &
pid=$!

# Say each arm as it is done, with its median, until the run is over.
while [ ! -e "$out/boot-1.result" ] && kill -0 $pid 2>/dev/null; do
	sleep 0.2
done
if [ -e "$out/boot-1.result" ]; then
	tail -n +1 -s 0.2 -f --pid=$pid "$out/boot-1.result" |
		sh "$vm/bench-progress.sh" "$out/regions" >&2
fi
rc=0
wait $pid || rc=$?
pid=
if [ $rc -ne 0 ]; then
	grep '^not ok' -A 3 "$out/tap" >&2 || :
	die "the run failed (see above, and $out/boot-1.log)"
fi

LC_ALL=C awk -v kernel="$release" -f "$vm/bench-rows.awk" "$symbols" \
	"$out/boot-1.result" "$out/regions" | jq -s . >"$json.new"
[ "$(jq length "$json.new")" -gt 0 ] || die "nothing was counted: $out/boot-1.result"
mv "$json.new" "$json"
gzip -1 -f "$out/regions"

sh "$vm/bench-table.sh" "$json"
echo "bench.sh: $json, $(($(date +%s) - start)) s" >&2
