#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Measure operations on a kernel (test/vm/bench.sh), and hold the figures to what is
# promised (test/vm/bench-check.sh). TAP on stdout.
set -eu

if [ $# -lt 2 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
	echo "usage: figures.sh KERNEL OP...   (as test/vm/kernel.sh and bench.sh know them)" >&2
	exit 129
fi
top=$(cd "$(dirname "$0")/.." && pwd)
: "${LEANACCT_BUILD:=$top/build}"
export LEANACCT_BUILD

kernel=$1
shift
release=$(sh "$top/test/vm/kernel.sh" "$kernel")
bench()
{
	log=$(sh "$top/test/vm/bench.sh" "$kernel" -r 3 "$*" 2>&1)
}

# QEMU 10.0.2 with a thread per CPU can run a breakpoint that is no longer there
# (test/vm/run.sh), and its counting wants a thread per CPU: then once more.
hit_breakpoint()
{
	grep -q 'Oops: int3' "$LEANACCT_BUILD/bench/$release/boot-1.log"
}

if ! bench "$@" && ! { hit_breakpoint && bench "$@"; }; then
	echo 1..1
	echo "not ok 1 - bench"
	printf '%s\n' "$log" | sed 's/^/# /'
	exit 1
fi
exec sh "$top/test/vm/bench-check.sh" "$LEANACCT_BUILD/bench/$release.json"
