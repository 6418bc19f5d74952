#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Memory integrals, as taskstats reports them to a real client: memory held, times
# CPU time, in Mbyte-microseconds, whatever the variant, and while it changes. The
# figures are behind by up to a tick at either end.
#
# timeout: 150
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

mb=48
ms=1000
[ ! -e /cases/quick ] || ms=300
tick_us=4000

# held FILE NAME: what taskstats says of the run in FILE is what it held.
held()
{
	for kind in core virt; do
		set -- "$1" "$2" "$(awk -v kind=$kind -v tick=$tick_us '{
			for (i = 1; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] }
			mb = v[(kind == "core" ? "rss" : "vm") "_kb"] / 1024
			wanted = mb * v["cpu_us"]
			printf "%d %d %d", v[kind "_mb_us"], wanted - mb * 2 * tick - 0.01 * wanted,
				wanted + mb * 2 * tick + 0.01 * wanted }' "$1")"
		# shellcheck disable=SC2086 # three numbers
		between "$2: $kind" $3
	done
}

# run NAME CPU
run()
{
	integrals $mb $ms "$2" >/tmp/run || bail "integrals ended with status $?"
	echo "# $1, CPU $2: $(cat /tmp/run)"
	held /tmp/run "$1, CPU $2"
}

load
like "no kernel needs it: status says so" "$(status_of integrals)" \
	'^integrals stock - native in mainline since 4.6'
is "its variants" "$(cat "$leanacct/integrals/variant")" "[stock] null legacy nodiv lean"
for v in stock null legacy nodiv lean; do
	set_variant $v integrals >/dev/null || bail "cannot set $v: $(dmesg | tail -n 1)"
	[ $v = stock ] || is "$v is on" "$(status_of integrals | cut -d ' ' -f 2,4)" "$v on"
	run $v 1
	run $v 0
done
between "lean was there for it" "$(counter additions ALL integrals)" 50 1000000

# As in 4.5: each transition accounts to the end.
set_variant legacy integrals
set_variant legacy
put "$leanacct/reset_counters" 1
run "legacy, with vtime's" 1
between "each system call accounts" "$(counter calls 1 integrals)" 20000 1000000000
set_variant stock

# The variant changes all the time: nothing is counted twice, nothing is lost.
integrals $mb $((ms * 4)) 0 >/tmp/toggled &
load_pid=$!
changes=0
while kill -0 $load_pid 2>/dev/null; do
	for v in legacy nodiv lean null; do
		set_variant $v integrals
		changes=$((changes + 1))
	done
done
wait $load_pid || bail "integrals ended with status $?"
echo "# $changes changes: $(cat /tmp/toggled)"
between "the variant changed meanwhile" $changes 8 100000
held /tmp/toggled "toggled"
set_variant stock integrals
is "native again" "$(status_of integrals | cut -d ' ' -f 2-4)" "stock - native"

finish
