#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Print the rows of build/bench/RELEASE.json as tables for people.
set -eu

usage()
{
	cat <<'USAGE'
usage: bench-table.sh RELEASE.json
       bench-table.sh --growth RELEASE.json...

  --growth   what PSI costs at each cgroup depth, a Markdown table
USAGE
}

growth=
case ${1-} in
-h | --help)
	usage
	exit 0
	;;
--growth)
	growth=1
	shift
	;;
-*)
	echo "bench-table.sh: unknown option '$1'" >&2
	usage >&2
	exit 129
	;;
esac
if [ $# -lt 1 ] || { [ -z "$growth" ] && [ $# -gt 1 ]; }; then
	usage >&2
	exit 129
fi
for json; do
	if [ ! -s "$json" ]; then
		echo "bench-table.sh: no such file: $json; test/vm/bench.sh makes it" >&2
		exit 1
	fi
done

here=$(dirname "$0")
if [ -n "$growth" ]; then
	jq -rs -f "$here/bench-growth.jq" "$@"
	exit 0
fi

# Words to the left, figures to the right, each column as wide as it must be.
LC_ALL=C jq -r -f "$here/bench-table.jq" "$1" | LC_ALL=C awk -F '\t' '
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
Of them, vtime and psi: the kernel's accounting functions and the clock reads they make;
redirect: the way to the gate; in gate: in it.
NOTE
