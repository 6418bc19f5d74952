#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Check a build/bench/RELEASE.json against what the gates promise for the
# nohz_full CPU (bench-check.jq has the list). TAP on stdout.
set -eu

if [ $# -ne 1 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
	echo "usage: bench-check.sh RELEASE.json   (of bench.sh KERNEL \"OPS\")" >&2
	exit 129
fi
if [ ! -s "$1" ]; then
	echo "bench-check.sh: no such file: $1; test/vm/bench.sh makes it" >&2
	exit 1
fi

jq -r -f "$(dirname "$0")/bench-check.jq" "$1" |
	awk '{ print } /^not ok/ { bad = 1 } END { exit bad || NR == 0 }'
