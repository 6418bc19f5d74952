#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The nohz_full series of 2016, patches 1 to 4, on a kernel of today: measures the
# published operation, an invalid system call on a nohz_full CPU, with what each
# patch took away put back, and prints the published figures beside ours.
# Markdown on stdout.
set -eu

if [ $# -ne 1 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
	echo "usage: nohz_full.sh KERNEL   (as test/vm/kernel.sh knows it)" >&2
	exit 129
fi
top=$(cd "$(dirname "$0")/../.." && pwd)
: "${LEANACCT_BUILD:=$top/build}"
export LEANACCT_BUILD

sh "$top/test/vm/bench.sh" "$1" --gate lab syscall >&2
release=$(sh "$top/test/vm/kernel.sh" "$1")

cat <<EOT
## System calls on a nohz_full CPU (2016)

Published: seconds for ten million invalid system calls on a nohz_full CPU. Ours:
instructions per invalid system call, Debian $release, nohz_full CPU, exact
counts. Ratio: to the first row. Excess removed: how much of what the first row has
over a CPU without nohz_full (published: 1.86 s; ours: the housekeeping CPU) is gone.

| published | seconds | ratio | excess removed | ours | instructions | ratio | excess removed |
|---|--:|--:|--:|---|--:|--:|--:|
EOT
# A row each: published name, seconds, and which of our rows stands for it.
jq -r '
	def row($cpu; $variant): first(.[] | select(.cpu == $cpu and .variant == $variant)) // null;
	def two: . * 100 | round / 100;
	def one: . * 10 | round / 10;
	def removed($worst; $best): ($worst - .) / ($worst - $best) * 100 | round | "\(.) %";
	. as $rows
	| ($rows | row("nohz_full"; "vtime:legacy,integrals:legacy").insns) as $worst
	| ($rows | row("housekeeping"; "stock").insns) as $best
	| [
		["4.5-rc1", 3.7, "nohz_full", "vtime:legacy,integrals:legacy"],
		["+ patch 1", 3.3, "nohz_full", "vtime:legacy,integrals:nodiv"],
		["+ patches 1 to 3", 3.1, "nohz_full", "vtime:legacy,integrals:lean"],
		["+ all patches", 2.3, "nohz_full", "vtime:jiffy"],
		["no nohz_full", 1.86, "housekeeping", "stock"],
		["-", null, "nohz_full", "stock"],
		["-", null, "nohz_full", "vtime:exact"]
	][]
	| . as [$name, $seconds, $cpu, $variant]
	| ($rows | row($cpu; $variant)) as $row
	| (if $variant == "stock" then "stock, \($cpu) CPU" else $variant | gsub(":"; " ") end) as $ours
	| "| \($name) | \($seconds // "-") | "
	+ if $seconds then "\($seconds / 3.7 | two) | \($seconds | removed(3.7; 1.86))" else "- | -" end
	+ " | \($ours) | "
	+ if $row then
		"\($row.insns | one) | \($row.insns / $worst | two) | \($row.insns | removed($worst; $best)) |"
	else
		"not measured | - | - |"
	end
' "$LEANACCT_BUILD/bench/$release-lab.json"

cat <<'EOT'

What is different: only the accounting of 4.5 is put back (at every transition to
the task, the cgroup, `/proc/stat` and the integrals, by way of jiffies and a
timeval), not the rest of that kernel, whose system call path was another. And
instructions are not seconds: what patch 1 took away is few instructions here, since
a compiler of today makes multiplications of its divisions by constants.
EOT
