#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Read what the guest says (see bench-guest.sh) as it comes, and print a line
# an arm as it finishes, with the median of what the plugin counted so far.
set -eu

if [ $# -ne 1 ]; then
	echo "usage: bench-progress.sh REGIONS <RESULT" >&2
	exit 129
fi

# median ID ITERATIONS, per operation
median()
{
	grep "^region [0-9]* id $1 vcpu" "$regions" | cut -d ' ' -f 8 | sort -n |
		awk -v n="$2" '{ v[NR] = $1 } END { if (NR) printf "%.1f", v[int((NR + 1) / 2)] / n }'
}

regions=$1
id='' iterations=1
while read -r first second third fourth rest; do
	case $first in
	bench)
		[ "$second" != arm ] || id=$third
		;;
	run)
		[ "$third" != iterations ] || iterations=$fourth
		;;
	ok | not)
		label="$fourth $rest"
		insns=
		[ -z "$id" ] || insns=$(median "$id" "$iterations")
		case "$first $rest" in
		*'# SKIP'*)	printf '  skipped: %s\n' "$label" ;;
		not*)		printf '  FAILED: %s\n' "$label" ;;
		*)		printf '  %-52s %10s insns\n' "$label" "$insns" ;;
		esac
		id=
		;;
	esac
done
