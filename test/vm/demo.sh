#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The main job, shown: boot a Debian kernel in a VM, load the module, turn the
# gate vtime on and off in debugfs, and count what a system call costs each
# time. What is done in the guest is in bench-guest.sh.
set -eu

if [ $# -ne 1 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
	echo "usage: demo.sh KERNEL   (as kernel.sh knows it)" >&2
	exit 129
fi
top=$(cd "$(dirname "$0")/../.." && pwd)
: "${LEANACCT_BUILD:=$top/build}"
export LEANACCT_BUILD

release=$(sh "$top/test/vm/kernel.sh" "$1")
cat <<EOT
Booting Linux $release in a VM: two CPUs, CPU 1 is nohz_full. There, for each
line that follows:

	modprobe leanacct			(klp: and leanacct_klp)
	echo VARIANT >/sys/kernel/debug/leanacct/vtime/variant
	leanacct-bench syscall			five runs, counted by the emulator

EOT
sh "$top/test/vm/bench.sh" "$1" syscall >"$LEANACCT_BUILD/demo.log"

echo
jq -r '
	def figure: . * 10 | round / 10 | tostring | if test("[.]") then . else . + ".0" end;
	def signed: if . > 0 then "+" else "" end + figure;
	map(select(.cpu == "nohz_full")) | .[0] as $stock
	| ["variant", "mechanism", "instructions", "to stock", "%", "what it is"],
	(.[] | [.variant, .mechanism, (.insns | figure),
		(.insns - $stock.insns | signed),
		((.insns - $stock.insns) * 100 / $stock.insns | signed),
		({ stock: "the kernel as it is", null: "control: the redirect alone",
			exact: "same sums to the ns, split by TSC", jiffy: "sampled once a jiffy"
		}[.variant])]),
	["stock", "none", ($stock.after_unload | figure), ($stock.after_unload - $stock.insns | signed),
		(($stock.after_unload - $stock.insns) * 100 / $stock.insns | signed), "control: after rmmod"]
	| @tsv' "$LEANACCT_BUILD/bench/$release.json" |
	awk -F '\t' '{ printf "%-8s %-10s %12s %9s %7s  %s\n", $1, $2, $3, $4, $5, $6 }'
cat <<'EOT'

Each line is the median count of instructions of one invalid system call on the
nohz_full CPU, user mode and kernel together: read exact against stock for what
the gate saves, null against stock for what its redirect costs, and the last
line for what is left of it when the module has gone.
EOT
