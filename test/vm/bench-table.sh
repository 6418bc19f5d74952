#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Print the rows of a build/bench/RELEASE.json as tables for people.
set -eu

if [ $# -ne 1 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
	echo "usage: bench-table.sh RELEASE.json" >&2
	exit 129
fi

# Words to the left, figures to the right, each column as wide as it must be.
LC_ALL=C jq -r -f "$(dirname "$0")/bench-table.jq" "$1" | LC_ALL=C awk -F '\t' '
	function flush(	row, i, line) {
		for (row = 1; row <= rows; row++) {
			line = ""
			for (i = 1; i <= columns[row]; i++)
				line = line sprintf("%" (right[i] ? "" : "-") width[i] "s  ", cell[row, i])
			sub(/ +$/, "", line)
			print line
		}
		rows = 0
		split("", width)
		split("", right)
	}
	/^$/ { flush(); print ""; next }
	{
		columns[++rows] = NF
		for (i = 1; i <= NF; i++) {
			cell[rows, i] = $i
			if (length($i) > width[i])
				width[i] = length($i)
			if (rows > 1 && $i ~ /^[-+]?[0-9.]+$/)
				right[i] = 1
		}
	}
	END { flush() }'
cat <<'NOTE'

insns: instructions executed per operation, the median of the runs; spread: max - min;
noise: the difference to stock is within the spread.
Of them, vtime: the kernel's accounting functions; redirect: the way to the gate; gate: in it.
NOTE
