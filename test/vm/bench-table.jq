# SPDX-License-Identifier: GPL-2.0-only
#
# The rows of build/bench/RELEASE.json as lines for people: cells parted by
# tabs, tables by empty lines. bench-table.sh aligns them.

def figure: . * 10 | round / 10 | tostring | if test("[.]") then . else . + ".0" end;
def signed: if . > 0 then "+" else "" end + figure;

# Whose a symbol is: of the kernel's vtime accounting (sched_clock() has other
# callers too, in all operations but syscall), of the way to the gate, of the
# gate itself.
def part:
	if test("^(vtime_|get_vtime_delta$|(native_)?sched_clock(_noinstr)?$|account_(user|system)_time$)") then "vtime"
	elif test("^(leanacct_.*_trampoline$|__SCT__leanacct_|klp_ftrace_|ftrace_)") then "redirect"
	elif test("^(leanacct_|(exact|jiffy|shadow)_|flush([.]|$))") then "gate"
	else null end;

def sum_of($whose): [.symbols | to_entries[] | select(.key | part == $whose) | .value] | add // 0;

def stock_of($rows): . as $row | first($rows[]
	| select(.variant == "stock" and .op == $row.op and .cpu == $row.cpu and .depth == $row.depth));

# Rows of one operation, CPU and depth together, in the order they were measured in.
def together: [.[].op] as $ops | sort_by([.op as $op | $ops | index($op)], .cpu != "nohz_full", .depth);

together as $rows
| (["op", "cpu", "depth", "variant", "mechanism", "insns", "to stock", "%", "spread",
	"vtime", "redirect", "gate"],
($rows[]
	| [.op, .cpu, .depth, .variant, .mechanism, (.insns | figure)]
	+ (if .variant == "stock" then ["", ""] else
		([stock_of($rows)] + [null])[0] as $stock
		| if $stock | not then ["?", "?"] else
		(.insns - $stock.insns) as $more
		| [($more | signed),
			if ($more | fabs) <= ([.spread, $stock.spread] | max) then "noise"
			else ($more * 100 / $stock.insns | signed) end] end end)
	+ [.spread, sum_of("vtime", "redirect", "gate") | figure])
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

# Where it goes: a table an operation, a column a row of above.
(map(select(.cpu == "nohz_full" and .depth == 0)) | group_by(.op)[]
	| . as $columns
	| [$columns[].symbols | to_entries[] | select(.value >= 0.5) | select(.key | part) | .key]
	| unique
	| if length > 0 then
		"",
		(["\($columns[0].op), nohz_full CPU, by symbol"] + [$columns[]
			| if .mechanism == "none" then .variant else "\(.variant)/\(.mechanism)" end]
		| @tsv),
		(map([part, .]) | sort | reverse[] | .[1] as $symbol
			| [$symbol] + [$columns[].symbols[$symbol] | if . then figure else "" end]
		| @tsv)
	else empty end)
