#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Print the rows of a build/bench/RELEASE.json as a table for people.
set -eu

if [ $# -ne 1 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
	echo "usage: bench-table.sh RELEASE.json" >&2
	exit 129
fi

# A line a row, tab-separated; then the controls of the stock rows.
jq -r '
	def figure: . * 10 | round / 10 | tostring | if test("[.]") then . else . + ".0" end;
	def signed: if . >= 0 then "+" else "" end + figure;

	# What the vtime accounting itself costs: the functions of the kernel
	# that the gate stands before, and what the gate puts in their place.
	def vtime: to_entries
		| map(select(.key | test("^(vtime_|get_vtime_delta$|(native_)?sched_clock$|account_(user|system)_time$|(__SCT__)?leanacct_|exact_|jiffy_|flush|(klp_)?ftrace_)")));

	. as $rows
	| (["op", "cpu", "depth", "variant", "mechanism", "insns/op", "to stock", "%", "spread", "vtime", "of it by symbol"] | @tsv),
	(.[] | . as $row
	| ([$rows[] | select(.variant == "stock" and .op == $row.op and .cpu == $row.cpu and .depth == $row.depth)][0]) as $stock
	| (.symbols | vtime) as $vtime
	| [.op, .cpu, .depth, .variant, .mechanism, (.insns | figure),
		(if .variant == "stock" or $stock == null then "-", "-" else
			(.insns - $stock.insns | signed),
			((.insns - $stock.insns) * 100 / $stock.insns | signed) end),
		(.spread | figure),
		([$vtime[].value] | add // 0 | figure),
		([$vtime[] | select(.value >= 0.5) | "\(.key) \(.value | figure)"] | join(", "))]
	| @tsv)
' "$1" | awk -F '\t' '
	{
		for (i = 1; i <= NF; i++) {
			cell[NR, i] = $i
			if (length($i) > width[i])
				width[i] = length($i)
		}
		columns[NR] = NF
	}
	END {
		for (row = 1; row <= NR; row++) {
			for (i = 1; i < columns[row]; i++)
				printf((i == 3 || i > 5 ? "%" : "%-") width[i] "s  ", cell[row, i])
			print cell[row, columns[row]]
		}
	}'

jq -r '.[] | select(.after_stock or .after_unload)
	| "control: \(.op) on the \(.cpu) CPU, depth \(.depth): stock \(.insns)"
	+ (if .after_stock then ", stock written back \(.after_stock)" else "" end)
	+ (if .after_unload then ", after unload \(.after_unload)" else "" end)' "$1"
echo "insns/op: instructions executed per operation, the median of the runs; spread: max - min."
