#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# In the guest of test/lab/batch.sh, on all of its CPUs at once: two threads that
# yield to each other on each, every switch added to a tree of percpu_counters,
# with the batch of old and with the scaled one. A line each for batch.sh:
#
#	# figures: old cpus 64 batch 128 switches 64512 updates 193536 locks ...
#
# append: nohz_full=1 rcu_nocbs=1
# timeout: 500
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

tree=/sys/module/leanacct_tree/parameters
cpus=$(grep -c '^processor' /proc/cpuinfo)
last=$((cpus - 1))
times=1000

# figure NAME: of the last figures
figure()
{
	echo "$figures" | sed -n "s/.*$1 \([-0-9]*\).*/\1/p"
}

# everywhere MODE: the load on all CPUs, and its figures.
everywhere()
{
	put $tree/mode "$1" || bail "leanacct_tree: $1: no such mode"
	for cpu in $(seq 0 $last); do
		leanacct-bench switch -c "$cpu" -n $times -r 1 >/dev/null 2>&1 &
	done
	wait
	put $tree/mode off
	figures=$(cat $tree/figures)
	echo "# figures: $1 $figures"
}

insmod "$leanacct_modules/leanacct_tree.ko" || bail "no leanacct_tree.ko"
own=$(cat $tree/kernel_batch)
is "the kernel's batch is twice the CPUs, at least 32" "$own" \
	$((2 * cpus > 32 ? 2 * cpus : 32))

everywhere old
between "old: each CPU switched" "$(figure switches)" $((cpus * times)) 1000000000
between "old: nearly each update takes the lock" \
	"$(($(figure locks) * 1000 / $(figure updates)))" 990 1000
everywhere scaled
between "scaled: each CPU switched" "$(figure switches)" $((cpus * times)) 1000000000
between "scaled: at most 40 of 1000 updates take the lock" \
	"$(($(figure locks) * 1000 / $(figure updates)))" 0 40

# The gate, where hotplug does change the kernel's value.
load batch=scaled
is "the gate scales it" "$(cat $tree/kernel_batch)" $((own * 8))
if [ "$cpus" -gt 16 ]; then
	ok "the last CPU goes" put "/sys/devices/system/cpu/cpu$last/online" 0
	ok "the value follows" wait_for 10 grep -qx $(((own - 2) * 8)) $tree/kernel_batch
	like "and status" "$(status_of batch)" "\\($((own - 2)) times 8\\): a read .* on $last CPUs"
	ok "it comes" put "/sys/devices/system/cpu/cpu$last/online" 1
	ok "the value follows" wait_for 10 grep -qx $((own * 8)) $tree/kernel_batch
	ok "goes again" put "/sys/devices/system/cpu/cpu$last/online" 0
	ok "stock" set_variant stock batch
	is "the kernel's value for the CPUs that are left" "$(cat $tree/kernel_batch)" $((own - 2))
	ok "it comes" put "/sys/devices/system/cpu/cpu$last/online" 1
	is "and for all" "$(cat $tree/kernel_batch)" "$own"
fi
ok "out" unload
ok "the counters' module too" rmmod leanacct_tree
finish
