# SPDX-License-Identifier: GPL-2.0-only
#
# What the gates promise, checked against the rows of build/bench/RELEASE.json:
# TAP. bench-check.sh has the exit status.

def one: . * 10 | round / 10;
def part($part): .parts[$part] // {} | add // 0;

def row($op; $depth; $gate; $variant; $mechanism): first(.[]
	| select(.op == $op and .cpu == "nohz_full" and .depth == $depth and .gate == $gate
		and .variant == $variant and .mechanism == $mechanism)) // null;
def stock($op; $depth): row($op; $depth; "none"; "stock"; "none");

# Every check yields [what, whether, measured], or [what, null] for "not measured".

def over($name; $op; $gate; $variant; $mechanism; $min; $max):
	row($op; 0; $gate; $variant; $mechanism) as $row | stock($op; 0) as $stock
	| if $row and $stock then ($row.insns - $stock.insns) as $over
	| [$name, $over >= $min and $over <= $max, "\($over | one) over stock"]
	else [$name, null] end;

# Of a system call, what stock spends in the functions of its vtime accounting.
def vtime_saves($variant; $percent):
	"\($variant) under call removes at least \($percent) % of the vtime instructions" as $name
	| row("syscall"; 0; "vtime"; $variant; "call") as $row | stock("syscall"; 0) as $stock
	| ($stock | if . then part("vtime") else 0 end) as $vtime
	| if $row and $vtime > 0 then (($stock.insns - $row.insns) * 100 / $vtime) as $saved
	| [$name, $saved >= $percent,
		"\($saved | one) % of \($vtime | one), \($row.insns) of \($stock.insns)"]
	else [$name, null] end;

# The fastest mechanism that was measured.
def psi_exact($op; $depth): row($op; $depth; "psi"; "exact"; "jmp")
	// row($op; $depth; "psi"; "exact"; "call");

# PSI, with what stands before it.
def psi: part("psi") + part("redirect") + part("gate");

def psi_saves($op; $depth; $percent):
	"psi exact, \($op) at depth \($depth): at least \($percent) % of the PSI instructions removed" as $name
	| psi_exact($op; $depth) as $row | stock($op; $depth) as $stock
	| if $row and $stock then (100 - ($row | psi) * 100 / ($stock | psi)) as $saved
	| [$name, $saved >= $percent,
		"\($saved | one) %, \($row | psi | one) of \($stock | psi | one), \($row.mechanism)"]
	else [$name, null] end;

# Of wakehog, where no state changes; a round trip goes up the levels 4 times.
def psi_level($max):
	"psi exact, wakehog: at most \($max) instructions a level where the state stays" as $name
	| psi_exact("wakehog"; 4) as $near | psi_exact("wakehog"; 10) as $far
	| if $near and $far then ((($far | psi) - ($near | psi)) / 6 / 4) as $level
	| [$name, $level <= $max, "\($level | one), \($near.mechanism)"]
	else [$name, null] end;

def control($name; $key; $op; $depth; $within):
	stock($op; $depth) as $row
	| if $row and $row[$key] then [$name, ($row[$key] - $row.insns | fabs) <= $within,
		"\($row[$key]), stock \($row.insns)"]
	else [$name, null] end;

# Only of operations that the run was asked for.
def of($op; checks): if any(.[]; .op == $op) then checks else empty end;

(.[0].kernel // "") as $kernel
| [
	of("syscall";
		over("null under call costs at most 10"; "syscall"; "vtime"; "null"; "call"; -1; 10),
		# Trixie's compiler makes stock cheaper: 78.9 % of 134 there.
		vtime_saves("exact"; if $kernel | test("^6\\.12\\..*deb13") then 78 else 79 end),
		vtime_saves("jiffy"; 84),
		over("null under klp costs 120 to 220"; "syscall"; "vtime"; "null"; "klp"; 120; 220),
		over("exact under klp is a net loss"; "syscall"; "vtime"; "exact"; "klp"; 0.1; 1000),
		control("stock written back is stock again"; "after_stock"; "syscall"; 0; 1),
		control("stock after unload is stock again"; "after_unload"; "syscall"; 0; 1)),

	of("switch";
		if $kernel | startswith("6.12.") then
			psi_saves("switch"; 0; 75), psi_saves("switch"; 4; 75)
		else empty end,
		control("switch: stock written back is stock again"; "after_stock"; "switch"; 0; 5),
		control("switch: stock after unload is stock again"; "after_unload"; "switch"; 0; 5)),

	of("wake";
		if $kernel | startswith("6.1.") then psi_saves("wake"; 4; 70)
		elif $kernel | startswith("6.12.") then
			psi_saves("wake"; 0; 45), psi_saves("wake"; 4; 65)
		else empty end),

	of("wakehog";
		if $kernel | startswith("6.12.") then psi_level(30) else empty end)
]
| if length == 0 then "1..0 # SKIP nothing was measured that has a promise" else
"1..\(length)",
(to_entries[] | (.key + 1) as $n | .value
| if .[1] == null then "ok \($n) - \(.[0]) # SKIP not measured"
else "\(if .[1] then "ok" else "not ok" end) \($n) - \(.[0]) (\(.[2]))" end) end
