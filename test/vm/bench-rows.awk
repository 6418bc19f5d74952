# SPDX-License-Identifier: GPL-2.0-only
#
# Put together what `make bench` has measured: one JSON object a line for each
# row of build/bench/RELEASE.json.
#
#	LC_ALL=C awk -v kernel=RELEASE -f bench-rows.awk SYMBOLS RESULT REGIONS
#
# SYMBOLS	`ADDRESS TYPE NAME`, of the kernel's text, in order of address
# RESULT	what the guest said (see bench-guest.sh)
# REGIONS	what the plugin counted (see insn.c)
#
# All figures are per operation. A row's insns is the median of its runs; its
# symbols and kinds are those of the very run that is the median, so the symbols
# add up to insns. (With an even number of runs: the lower of the middle two.)
# `waited` is what was not counted, rounds of waiting for another CPU.
#
# `parts` says whose the instructions are:
#	vtime, psi	of the kernel's accounting: its functions, and `clock<NAME`,
#			the clock reads that its function NAME makes
#	redirect	of the way to the gate
#	gate		of leanacct.ko, and the clock reads it makes
#
# Of the operation tick only the kernel's instructions count: its user space
# part is the waiting.
#
# Controls (arms that must come out as stock does) are no rows of their own.
# Stock rows carry what they gave: after_stock, after_unload.

FNR == 1 { file++ }

# --- SYMBOLS ---

# Of several names of one address, a global one is kept.
file == 1 {
	if (count && $1 == address[count]) {
		if (type[count] !~ /T/ && $2 ~ /T/) {
			type[count] = $2
			name[count] = $3
		}
		next
	}
	address[++count] = $1 ""
	type[count] = $2
	name[count] = $3
	next
}

# --- RESULT ---

file == 2 { sub(/\r$/, "") }
file == 2 && /^bench module-symbols/ { map++; in_map = 1; modules = 0; next }
file == 2 && /^bench end/ { in_map = 0; next }
file == 2 && in_map {
	maps[map, ++modules] = $1 ""
	map_name[map, modules] = ($4 ~ /^\[leanacct/ ? "leanacct:" : "") $3
	map_size[map] = modules
	next
}
file == 2 && /^bench arm / {
	id = $3
	arms++
	arm_map[id] = map
	for (i = 4; i < NF; i += 2)
		arm[id, $i] = $(i + 1)
	next
}
file == 2 && $1 == "run" && $3 == "iterations" { iterations[id] = $4; next }
file == 2 { next }

# --- REGIONS ---

$1 == "error:" {
	print "bench-rows: " $0 >"/dev/stderr"
	next
}

# A region that the guest said nothing of: a case that was killed, say.
$1 == "region" {
	id = $4
	known = id in iterations
	if (!known)
		next
	n = iterations[id]
	run = ++runs[id]
	waited[id, run] = $10
	user_counts = arm[id, "op"] != "tick"
	next
}
$1 == "end" || !known { next }
$1 == "user" && !user_counts { next }
{
	total[id, run] += $2
	symbol = $1 == "user" ? "user" : symbol_of($1, arm_map[id])
	if (!((id, run, symbol) in counted)) {
		listed[id, run] = listed[id, run] " " symbol
		counted[id, run, symbol] = 0
	}
	counted[id, run, symbol] += $2
	part = $4 != "" ? part_of($4, arm_map[id]) : part_of($1, arm_map[id])
	if (part) {
		if ($4 != "")
			symbol = "clock<" symbol_of($4, arm_map[id])
		if (!((id, run, part, symbol) in of_part)) {
			part_listed[id, run, part] = part_listed[id, run, part] " " symbol
			of_part[id, run, part, symbol] = 0
		}
		of_part[id, run, part, symbol] += $2
	}
	if ($3 != "-") {
		if ($3 ~ /r/) rdtsc[id, run] += $2
		if ($3 ~ /l/) locked[id, run] += $2
		if ($3 ~ /s/) serialising[id, run] += $2
	}
}

# Which part an address belongs to, if any.
function part_of(where, of_map,	symbol, part) {
	symbol = where == "user" ? "user" : symbol_of(where, of_map)
	if (!(symbol in known_part)) {
		if (symbol ~ /^(vtime_|get_vtime_delta$|account_(user|system)_time$)/)
			part = "vtime"
		else if (symbol ~ /^(psi_|record_times$|get_recent_times$|test_states$)/)
			part = "psi"
		else if (symbol ~ /^(leanacct:(leanacct_.*_trampoline$|__SCT__)|klp_ftrace_|ftrace_)/)
			part = "redirect"
		else
			part = symbol ~ /^leanacct:/ ? "gate" : ""
		known_part[symbol] = part
	}
	return known_part[symbol]
}

# The module area begins where the image of the kernel can be no more.
function symbol_of(where, of_map,	key) {
	key = where >= "ffffffffc0000000" ? of_map " " where : where
	if (!(key in known_symbol))
		known_symbol[key] = where >= "ffffffffc0000000" ? in_module(where, of_map) : in_kernel(where)
	return known_symbol[key]
}

function in_kernel(where,	low, high, middle) {
	low = 0
	high = count + 1
	while (high - low > 1) {
		middle = int((low + high) / 2)
		if (address[middle] "" <= where "")
			low = middle
		else
			high = middle
	}
	return low ? name[low] : "unknown"
}

# Few, and in no order.
function in_module(where, of_map,	i, best, best_name) {
	best = ""
	best_name = "unknown"
	for (i = 1; i <= map_size[of_map]; i++) {
		if (maps[of_map, i] "" <= where "" && maps[of_map, i] "" > best "") {
			best = maps[of_map, i]
			best_name = map_name[of_map, i]
		}
	}
	return best_name
}

# Sets median_run, and spread (per operation), of an arm.
function median(of,	i, j, k, order) {
	for (i = 1; i <= runs[of]; i++) {
		for (j = i; j > 1 && total[of, order[j - 1]] > total[of, i]; j--)
			order[j] = order[j - 1]
		order[j] = i
	}
	median_run = order[int((runs[of] + 1) / 2)]
	spread = (total[of, order[runs[of]]] - total[of, order[1]]) / iterations[of]
}

function row_key(of) {
	return arm[of, "cpu"] " " arm[of, "op"] " " arm[of, "depth"]
}

# The symbols in `list` as a JSON object, dearest first; figures[key, SYMBOL] has
# their counts. What would read 0.00 is left out.
function object(list, figures, key, n_ops,	i, j, k, names, n, text, value, separator) {
	n = split(list, names, " ")
	for (i = 2; i <= n; i++) {
		value = names[i]
		k = figures[key, value]
		for (j = i; j > 1 && figures[key, names[j - 1]] < k; j--)
			names[j] = names[j - 1]
		names[j] = value
	}
	for (i = 1; i <= n; i++) {
		value = figures[key, names[i]] / n_ops
		if (value < 0.005)
			break
		text = text sprintf("%s\"%s\":%.2f", separator, names[i], value)
		separator = ","
	}
	return "{" text "}"
}

function parts(of, run, n_ops,	i, n, names, text) {
	n = split("vtime psi redirect gate", names, " ")
	for (i = 1; i <= n; i++)
		text = text (i > 1 ? "," : "") "\"" names[i] "\":" \
			object(part_listed[of, run, names[i]], of_part, of SUBSEP run SUBSEP names[i], n_ops)
	return "{" text "}"
}

END {
	for (id = 1; id <= arms; id++) {
		if (!runs[id] || arm[id, "control"] == "-")
			continue
		median(id)
		control[row_key(id)] = control[row_key(id)] sprintf(",\"%s\":%.2f",
			arm[id, "control"], total[id, median_run] / iterations[id])
	}
	for (id = 1; id <= arms; id++) {
		if (arm[id, "control"] != "-")
			continue
		if (!runs[id]) {
			print "bench-rows: nothing counted for " row_key(id) " " \
				arm[id, "variant"] " " arm[id, "mechanism"] >"/dev/stderr"
			continue
		}
		median(id)
		n = iterations[id]
		printf "{\"kernel\":\"%s\",\"cpu\":\"%s\",\"op\":\"%s\",\"depth\":%d,", kernel,
			arm[id, "cpu"], arm[id, "op"], arm[id, "depth"]
		printf "\"gate\":\"%s\",\"variant\":\"%s\",\"mechanism\":\"%s\",",
			arm[id, "gate"], arm[id, "variant"], arm[id, "mechanism"]
		printf "\"insns\":%.2f,\"symbols\":%s,\"parts\":%s,", total[id, median_run] / n,
			object(listed[id, median_run], counted, id SUBSEP median_run, n),
			parts(id, median_run, n)
		printf "\"rdtsc\":%.2f,\"locked\":%.2f,\"serialising\":%.2f,",
			rdtsc[id, median_run] / n, locked[id, median_run] / n,
			serialising[id, median_run] / n
		printf "\"waited\":%.2f,\"runs\":%d,\"spread\":%.2f%s}\n", waited[id, median_run] / n,
			runs[id], spread,
			arm[id, "variant"] == "stock" ? control[row_key(id)] : ""
	}
}
