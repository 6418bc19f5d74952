#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Check a build/bench/RELEASE.json against what the vtime gate promises for a
# system call on the nohz_full CPU. TAP on stdout.
set -eu

if [ $# -ne 1 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
	echo "usage: bench-check.sh RELEASE.json   (of bench.sh KERNEL syscall)" >&2
	exit 129
fi
if [ ! -s "$1" ]; then
	echo "bench-check.sh: no such file: $1; test/vm/bench.sh makes it" >&2
	exit 1
fi

# vtime: what stock spends in the functions of its vtime accounting. In a
# system call nothing else reads sched_clock().
jq -r '
	def row($variant; $mechanism): [.[] | select(.op == "syscall" and .cpu == "nohz_full"
		and .variant == $variant and .mechanism == $mechanism)][0];
	def one: . * 10 | round / 10;

	row("stock"; "none") as $stock
	| ([$stock.symbols // {} | .vtime_user_enter, .vtime_user_exit, .get_vtime_delta,
		.sched_clock, .sched_clock_noinstr, .native_sched_clock] | map(. // 0) | add) as $vtime

	# Each yields [what, whether, measured], or null for "not measured".
	| def over($name; $variant; $mechanism; $min; $max):
		row($variant; $mechanism) as $row
		| if $row and $stock then ($row.insns - $stock.insns) as $over
		| [$name, $over >= $min and $over <= $max, "\($over | one) over stock"]
		else [$name, null] end;
	def saves($variant; $percent):
		"\($variant) under call removes at least \($percent) % of the vtime instructions" as $name
		| row($variant; "call") as $row
		| if $row and $vtime > 0 then (($stock.insns - $row.insns) * 100 / $vtime) as $saved
		| [$name, $saved >= $percent,
			"\($saved | one) % of \($vtime | one), \($row.insns) of \($stock.insns)"]
		else [$name, null] end;
	def control($name; $key; $cpu):
		[.[] | select(.op == "syscall" and .cpu == $cpu and .variant == "stock")][0] as $row
		| if $row[$key] then [$name, ($row[$key] - $row.insns | fabs) <= 1,
			"\($row[$key]), stock \($row.insns)"]
		else [$name, null] end;

	[
		over("null under call costs at most 10"; "null"; "call"; -1; 10),
		saves("exact"; 79),
		saves("jiffy"; 84),
		over("null under klp costs 120 to 220"; "null"; "klp"; 120; 220),
		over("exact under klp is a net loss"; "exact"; "klp"; 0.1; 1000),
		control("stock written back is stock again"; "after_stock"; "nohz_full"),
		control("stock after unload is stock again"; "after_unload"; "nohz_full")
	]
	| "1..\(length)",
	(to_entries[] | (.key + 1) as $n | .value
	| if .[1] == null then "ok \($n) - \(.[0]) # SKIP not measured"
	else "\(if .[1] then "ok" else "not ok" end) \($n) - \(.[0]) (\(.[2]))" end)
' "$1" | awk '{ print } /^not ok/ { bad = 1 } END { exit bad }'
