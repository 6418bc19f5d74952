#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Gate batch: percpu_counter_batch is scaled, within its bound; stays so across CPU
# hotplug; and is the kernel's own again in stock, with nothing held back that this
# does not allow for. (No isolcpus=: with it Debian's 6.12 lets no CPU go offline.)
# leanacct_tree.ko shows the variable, and has a counter.
#
# tcg: single
# append:
# timeout: 120
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

tree=/sys/module/leanacct_tree/parameters
factor=/sys/module/leanacct/parameters/batch_factor
cpu1=/sys/devices/system/cpu/cpu1/online

kernel_batch()
{
	cat $tree/kernel_batch
}

batch_is()
{
	[ "$(kernel_batch)" = "$1" ]
}

# figure NAME: of the counter; held is what CPUs hold back of its sum.
figure()
{
	sed -n "s/.*$1 \([-0-9]*\).*/\1/p" $tree/figures
}

# hold N: CPU 1 adds N.
hold()
{
	taskset 2 sh -c "echo $1 >$tree/add"
}

insmod "$leanacct_modules/leanacct_tree.ko" depth=1 || bail "no leanacct_tree.ko"
# As the kernel makes it of so few CPUs.
own=$(kernel_batch)
is "the kernel's own value" "$own" 32
load
is "off at load" "$(status_of batch)" "batch stock - off"
is "its variants" "$(cat "$leanacct/batch/variant")" "[stock] scaled"
is "another gate's word is refused" "$(set_variant exact batch)" "Invalid argument"
is "nothing has changed" "$(kernel_batch)" "$own"

log_mark
ok "scaled is taken" set_variant scaled batch
is "status says by how much a read may be off" "$(status_of batch)" \
	"batch scaled - on batch 256 (32 times 8): a read may be off by 512 on 2 CPUs"
log_is "and the log one line" "leanacct: batch: scaled by -"
is "the kernel has it" "$(kernel_batch)" 256
is "nothing is redirected" "$(grep -c leanacct /sys/kernel/tracing/enabled_functions)" 0

for bad in '' 0 -1 x 1.5 2147483648 99999999999999999999; do
	log_mark
	is "batch_factor refuses '$bad'" "$(put $factor "$bad")" "Invalid argument"
	log_is "one line in the log says why" \
		"leanacct: parameter batch_factor: a number from 1 to 2147483647"
done
is "nothing has changed" "$(cat $factor) $(kernel_batch)" "8 256"
ok "a factor is taken at once" put $factor 16
is "and the kernel has it" "$(kernel_batch)" 512
ok "the largest is taken" put $factor 2147483647
is "but bounded" "$(kernel_batch)" $((2147483647 / 4 / 2))
like "which status says" "$(status_of batch)" 'times 2147483647, bounded\): a read may be off by 536870910 on'

# What CPU 1 holds back fits the batch that is set, or is given up.
put $factor 1000
hold 12345
is "a CPU holds back what the batch allows" "$(figure sum) $(figure held)" "12345 12345"
ok "a lower factor" put $factor 100
is "brings counters up to date" "$(figure sum) $(figure held)" "12345 0"
hold 3000
is "a CPU holds back again" "$(figure sum) $(figure held)" "15345 3000"

# Out and in: the kernel makes its value anew each time.
put $factor 8
scaled=$(counter scaled ALL batch)
hold 50
ok "CPU 1 goes" setting $cpu1 0
ok "the value is scaled again" wait_for 10 batch_is 256
is "nothing is lost" "$(figure sum)" 15395
like "status counts the CPUs" "$(status_of batch)" 'off by 256 on 1 CPUs'
ok "CPU 1 comes" put $cpu1 1
ok "the value is scaled again" wait_for 10 batch_is 256
between "the gate did that" "$(counter scaled ALL batch)" $((scaled + 2)) $((scaled + 10))

ok "with CPU 1 gone" put $cpu1 0
ok "stock is taken" set_variant stock batch
is "the kernel's own value is back" "$(kernel_batch)" 32
ok "CPU 1 comes" put $cpu1 1
usleep 500000
is "and it stays" "$(kernel_batch)" 32
is "status" "$(status_of batch)" "batch stock - off"

put $factor 1000
set_variant scaled batch
hold 20000
is "a CPU holds back" "$(figure held)" 20000
ok "stock is taken" set_variant stock batch
is "and nothing is held back" "$(figure sum) $(figure held)" "35395 0"
between "each CPU brought them up to date" "$(counter synced 1 batch)" 10 10000000

put "$leanacct/revert_after_s" 2
ok "scaled, to be kept or not" set_variant scaled batch
is "is on" "$(kernel_batch)" 32000
like "status says both" "$(status_of batch)" 'on 2 CPUs; back to stock in [0-9]+ s unless kept$'
ok "goes back by itself" wait_for 8 batch_is 32
put "$leanacct/revert_after_s" 0

# Livepatch is not its business.
put $factor 8
set_variant scaled batch
load_klp
is "on beside a livepatch" "$(kernel_batch) $(status_of batch | cut -d ' ' -f 1-4)" \
	"256 batch scaled - on"
ok "which goes" unload_klp
is "and leaves it on" "$(kernel_batch)" 256

hold 200
ok "unload while on" unload
is "leaves the kernel's own value" "$(kernel_batch)" 32
is "and nothing held back" "$(figure sum) $(figure held)" "35595 0"
load batch=scaled batch_factor=4
is "parameters at load" "$(kernel_batch)" 128
ok "out" unload
ok "the counter's module too" rmmod leanacct_tree
finish
