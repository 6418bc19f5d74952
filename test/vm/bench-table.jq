# SPDX-License-Identifier: GPL-2.0-only
#
# The rows of build/bench/RELEASE.json as lines for people: cells parted by
# tabs, tables by empty lines. bench-table.sh aligns them.

def figure: . * 10 | round / 10 | tostring | if test("[.]") then . else . + ".0" end;
def signed: if . > 0 then "+" else "" end + figure;

def sum_of($part): .parts[$part] // {} | add // 0;

def stock_of($rows): . as $row | first($rows[]
	| select(.variant == "stock" and .op == $row.op and .cpu == $row.cpu and .depth == $row.depth));

# Rows of one operation, CPU and depth together, in the order they were measured in.
def together: [.[].op] as $ops | sort_by([.op as $op | $ops | index($op)], .cpu != "nohz_full", .depth);

# A table for each operation: where the instructions go that have to do with a
# gate; a column an arm.
def by_symbol($gate; $depth):
	map(select(.cpu == "nohz_full" and .depth == $depth))
	| group_by(.op)[] | select(any(.[]; .gate == $gate))
	| map(select(.gate == "none" or .gate == $gate)) as $columns
	| [($gate, "redirect", "gate") as $part
		| [$columns[].parts[$part] // {} | to_entries[] | select(.value >= 0.5) | .key]
		| unique[] | [$part, .]]
	| "",
	(["\($columns[0].op), depth \($depth), nohz_full CPU, by symbol"] + [$columns[]
		| if .mechanism == "none" then .variant else "\(.variant)/\(.mechanism)" end]
	| @tsv),
	(.[] as [$part, $symbol]
		| [$symbol] + [$columns[].parts[$part][$symbol] | if . then figure else "" end]
	| @tsv);

together as $rows
| (["op", "cpu", "depth", "gate", "variant", "mechanism", "insns", "to stock", "%", "spread",
	"vtime", "psi", "redirect", "in gate"],
($rows[]
	| [.op, .cpu, .depth, .gate, .variant, .mechanism, (.insns | figure)]
	+ (if .variant == "stock" then ["", ""] else
		([stock_of($rows)] + [null])[0] as $stock
		| if $stock | not then ["?", "?"] else
		(.insns - $stock.insns) as $more
		| [($more | signed),
			if ($more | fabs) <= ([.spread, $stock.spread] | max) then "noise"
			else ($more * 100 / $stock.insns | signed) end] end end)
	+ [.spread, sum_of("vtime", "psi", "redirect", "gate") | figure])
| @tsv),

# The controls, and by how much they are off.
(if any(.[]; .after_stock or .after_unload) then
	"",
	(["control", "cpu", "depth", "stock", "stock written back", "stock after unload"],
	(.[] | select(.after_stock or .after_unload)
		| [.op, .cpu, .depth, (.insns | figure),
			(.after_stock, .after_unload | if . then figure else "" end)])
	| @tsv)
else empty end),

by_symbol("vtime"; 0),
by_symbol("psi"; 4)
