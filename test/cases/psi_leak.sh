#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Counts do not leak: the variant changes all through a memory-pressure load in
# limited cgroups (of which systemd once was left with counts that never came
# back to 0); then the load is killed, and in the emptied groups nothing is
# counted any more.
#
# A variant that changes under load wants this, see test/vm/run.sh:
# tcg: single
# append:
# timeout: 300
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh
# shellcheck source=test/programs/psi_lib.sh
. /lib/psi_lib.sh

changes=60
[ ! -e /cases/quick ] || changes=15

# No two of a kind in a row.
order()
{
	awk -v n="$1" 'BEGIN {
		srand(4)
		count = split("stock null exact exact", name)
		while (n > 0) {
			word = name[1 + int(rand() * count)]
			if (word == last)
				continue
			print last = word
			n--
		}
	}'
}

change()
{
	for v in $(order $changes); do
		set_variant "$v" psi || return 1
		[ "$(variant psi)" = "$v" ] || return 1
	done
}

load_psi
leak=mem,fork,move,duty,group
if block_device; then
	leak=$leak,cache,io
else
	diag "$no_device"
fi

start_load /tmp/load -k $leak
sleep 1
memory=$(total /proc/pressure/memory some)
begin=$(cut -d . -f 1 /proc/uptime)
ok "$changes changes under the load are taken" change
echo "# they took $(($(cut -d . -f 1 /proc/uptime) - begin)) s"
memory=$(($(total /proc/pressure/memory some) - memory))
set_variant exact psi >/dev/null || :
ok "every part of the load ran to its end" stop_load
sed 's/^/# /' /tmp/load
between "memory pressure all the while" $memory 500000 1000000000
between "tasks over memory.high" "$(done_of stalls /tmp/load)" 2 1000000

idle_is_idle "exact"
ok "stock again" set_variant stock psi
idle_is_idle "stock"
remove_tree

finish
