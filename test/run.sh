#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# All tests, as `make test` runs them.
#
# For one kernel, everything: lint, the unit tests, refusals of unfit kernels,
# the guest cases of test/cases/, and the measured figures against what they are
# held to. For each of the others: load, toggle, fidelity and the figures.
#
# Prints TAP as it goes; the last line is `N passed, N failed, N skipped`. The
# streams stay in build/test/.
set -eu

if [ $# -lt 1 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
	echo "usage: run.sh KERNEL [OTHER...]   (as test/vm/kernel.sh knows them)" >&2
	exit 129
fi
kernel=$1
shift
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
out=build/test
rm -rf "$out"
mkdir -p "$out"

# stream NAME COMMAND...: run it, show its TAP and keep it. What it exits with
# is in the TAP: a command that dies leaves no plan, and that is a failure.
stream()
{
	name=$1
	shift
	echo "# --- $name"
	"$@" 2>&1 | tee "$out/$name.tap"
}

# as_tap NAME COMMAND...: a command that is one test by its exit status.
as_tap()
{
	test=$1
	shift
	echo 1..1
	if "$@" >"$out/$name.log" 2>&1; then
		echo "ok 1 - $test"
	else
		echo "not ok 1 - $test"
		sed 's/^/# /' "$out/$name.log"
	fi
}

# figures KERNEL: count, then compare with what is promised.
figures()
{
	stream "$1-bench" as_tap "$1: bench" sh test/vm/bench.sh "$1" syscall
	stream "$1-figures" sh test/vm/bench-check.sh \
		"build/bench/$(sh test/vm/kernel.sh "$1").json"
}

stream lint as_tap lint sh test/lint.sh "$kernel"
stream unit sh test/unit/run.sh
stream "$kernel-unfit" sh test/unfit/run.sh "$kernel"
stream "$kernel-guest" sh test/vm/run.sh "$kernel"
figures "$kernel"
for other; do
	stream "$other-guest" sh test/vm/run.sh "$other" --quick boot interface toggle fidelity
	figures "$other"
done

awk -f test/vm/summary.awk "$out"/*.tap
