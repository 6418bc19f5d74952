#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# All tests, as `make test` runs them: lint, the unit tests, the guest cases of
# test/cases/, and the measured figures against what docs/measuring.md promises.
# Prints TAP as it goes; the last line is `N passed, N failed, N skipped`. The
# streams stay in build/test/.
set -eu

if [ $# -ne 1 ]; then
	echo "usage: run.sh KERNEL   (as test/vm/kernel.sh knows it)" >&2
	exit 129
fi
kernel=$1
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
	name=$1
	shift
	echo 1..1
	if "$@" >"$out/$name.log" 2>&1; then
		echo "ok 1 - $name"
	else
		echo "not ok 1 - $name"
		sed 's/^/# /' "$out/$name.log"
	fi
}

stream lint as_tap lint sh test/lint.sh "$kernel"
stream unit sh test/unit/run.sh
stream guest sh test/vm/run.sh "$kernel"
stream bench as_tap bench sh test/vm/bench.sh "$kernel" syscall
stream figures sh test/vm/bench-check.sh "build/bench/$(sh test/vm/kernel.sh "$kernel").json"

awk -f test/vm/summary.awk "$out"/*.tap
