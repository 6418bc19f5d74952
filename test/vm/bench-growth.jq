# SPDX-License-Identifier: GPL-2.0-only
#
# What PSI costs at each cgroup depth, of the rows of build/bench/*.json: a
# Markdown table. With the gate, PSI is what the kernel still does, the way to
# the gate, and the gate.

def psi: [.parts.psi[], if .gate == "psi" then .parts.redirect[], .parts.gate[] else empty end]
	| add // 0;

# How often an operation goes up through the levels: each of two tasks goes to
# sleep and is woken.
def walks: { wake: 4, wakehog: 4 }[.];

map(select(length > 0 and .[0].parts)) | add // []
| map(select(.cpu == "nohz_full" and (.gate == "none" or .gate == "psi"))) as $rows
| ["kernel", "op", "variant", "mechanism", "depth 0", "depth 4", "depth 10", "a level"],
["---", "---", "---", "---", "--:", "--:", "--:", "--:"],
(($rows | [.[].kernel] | unique[]) as $kernel
| ("switch", "wake", "wakehog") as $op
| ("stock", "exact") as $variant
| [$rows[] | select(.kernel == $kernel and .op == $op and .variant == $variant)] as $of
| first(("none", "jmp", "call") as $mechanism
	| $of | map(select(.mechanism == $mechanism)) | select(length > 0))
| def at($depth): map(select(.depth == $depth))[0];
[$kernel, $op, $variant, .[0].mechanism,
	((at(0), at(4), at(10)) | if . then "\(psi | round) of \(.insns | round)" else "" end),
	(($op | walks) as $walks | if $walks and at(4) and at(10)
		then ((at(10) | psi) - (at(4) | psi)) / 6 / $walks * 10 | round / 10 else "-" end)])
| "| " + join(" | ") + " |"
