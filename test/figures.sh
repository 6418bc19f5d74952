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
if ! log=$(sh "$top/test/vm/bench.sh" "$kernel" -r 3 "$*" 2>&1); then
	echo 1..1
	echo "not ok 1 - bench"
	printf '%s\n' "$log" | sed 's/^/# /'
	exit 1
fi
release=$(sh "$top/test/vm/kernel.sh" "$kernel")
exec sh "$top/test/vm/bench-check.sh" "$LEANACCT_BUILD/bench/$release.json"
