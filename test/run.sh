#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# All tests, as `make test` runs them: for KERNEL everything, for each OTHER the
# cases that are to hold on every kernel, and the figures.
#
# Prints TAP, stream by stream; the last line is `N passed, N failed, N skipped`.
# The streams stay in build/test/.
set -eu

if [ $# -lt 1 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
	echo "usage: run.sh KERNEL [OTHER...]   (as test/vm/kernel.sh knows them)" >&2
	exit 129
fi

# The cases of test/cases/ that run on every kernel.
everywhere='boot interface batch toggle fidelity psi_shadow psi_leak'

# A row a stream: how many CPUs it needs, its name, its command. Those that need
# two run first, one at a time: they look at times. Then the others, two at a time,
# long ones first. (A case says which it is, see test/vm/run.sh. The quick ones of
# the other kernels do without: where the host takes the CPU, fidelity skips.)
table()
{
	echo "2 lint sh test/lint.sh $1"
	echo "2 unit sh test/unit/run.sh"
	echo "2 $1-alone sh test/vm/run.sh $1 --cpus 2"
	echo "1 $1-figures sh test/figures.sh $1 syscall switch wake wakehog"
	echo "1 dkms sh test/dkms/run.sh"
	echo "1 $1-beside sh test/vm/run.sh $1 --cpus 1"
	echo "1 unfit sh test/unfit/run.sh $1"
	# As in the lab, on fewer CPUs (but more than the 16 that make 32 of the batch).
	echo "1 lab sh test/vm/run.sh $1 --qemu-arg -smp --qemu-arg 20 test/lab/batch_guest.sh"
	shift
	for kernel; do
		echo "1 $kernel-cases sh test/vm/run.sh $kernel --quick $everywhere"
	done
	for kernel; do
		# PSI is another's before 6.2 and the fastest way to it another's since 6.19.
		case $kernel in
		6.1 | 7)	ops='syscall wake' ;;
		*)		ops=syscall ;;
		esac
		echo "1 $kernel-figures sh test/figures.sh $kernel $ops"
	done
}

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
: "${LEANACCT_BUILD:=$top/build}"
export LEANACCT_BUILD
out=$LEANACCT_BUILD/test
rm -rf "$out"
mkdir -p "$out"
start=$(date +%s)

# Each has its file from the beginning: what never ran is a failure then, too.
table "$@" >"$out/table"
while read -r _ name _; do
	: >"$out/$name.tap"
done <"$out/table"

# run CPUS STREAMS: the rows that need CPUS, so many streams at a time. What they
# end with is in their TAP.
run()
{
	grep "^$1 " "$out/table" | xargs -L 1 -P "$2" sh test/stream.sh || :
}
run 2 1
run 1 2

awk -v all=$(($(date +%s) - start)) -f test/times.awk "$out"/*.tap
awk -f test/vm/summary.awk "$out"/*.tap
