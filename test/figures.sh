#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Measure the gates on a kernel (test/vm/bench.sh), and hold the figures to what is
# promised (test/vm/bench-check.sh). TAP on stdout.
set -eu

if [ $# -ne 1 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
	echo "usage: figures.sh KERNEL   (as test/vm/kernel.sh knows it)" >&2
	exit 129
fi
top=$(cd "$(dirname "$0")/.." && pwd)
: "${LEANACCT_BUILD:=$top/build}"
export LEANACCT_BUILD

if ! log=$(sh "$top/test/vm/bench.sh" "$1" syscall 2>&1); then
	echo 1..1
	echo "not ok 1 - bench"
	printf '%s\n' "$log" | sed 's/^/# /'
	exit 1
fi
release=$(sh "$top/test/vm/kernel.sh" "$1")
exec sh "$top/test/vm/bench-check.sh" "$LEANACCT_BUILD/bench/$release.json"
