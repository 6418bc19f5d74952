#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The cpuacct patch of 2010: a tree of percpu_counters to which every context switch
# adds, with the batch of old and with the scaled one, on 64 CPUs of a VM (which
# counts lock acquisitions) and on the CPUs of this machine (which has time).
# Markdown on stdout.
set -eu

if [ $# -ne 1 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
	echo "usage: batch.sh KERNEL   (as test/vm/kernel.sh knows it)" >&2
	exit 129
fi
top=$(cd "$(dirname "$0")/../.." && pwd)
: "${LEANACCT_BUILD:=$top/build}"
export LEANACCT_BUILD
out=$LEANACCT_BUILD/lab
mkdir -p "$out"

# What POWER would have added at a switch of 5 us, in ns.
value=5000

release=$(sh "$top/test/vm/kernel.sh" "$1")
# First, while the machine is idle.
cc -O2 -Wall -pthread -o "$out/counters" "$top/test/lab/counters.c"
native=$("$out/counters" 128 512000000 3 $value)
echo "batch.sh: 64 vCPUs, some minutes" >&2
sh "$top/test/vm/run.sh" "$1" --qemu-arg -smp --qemu-arg 64 --qemu-arg -m --qemu-arg 2G \
	"$top/test/lab/batch_guest.sh" >"$out/batch.tap" || {
	cat "$out/batch.tap" >&2
	exit 1
}

# guest MODE NAME: a figure of the guest's.
guest()
{
	sed -n "s/.*figures: $1 .*$2 \([0-9]*\).*/\1/p" "$out/batch.tap"
}

# host NAME: one of this machine's.
host()
{
	echo "$native" | sed -n "s/.*$1 \([0-9.]*\).*/\1/p"
}

# per_thousand MODE
per_thousand()
{
	awk -v locks="$(guest "$1" locks)" -v updates="$(guest "$1" updates)" \
		'BEGIN { printf "%.1f", locks * 1000 / updates }'
}

million()
{
	awk -v n="$1" 'BEGIN { printf "%.1f million", n / 1e6 }'
}

cat <<EOT
## cpuacct's batch on 64 CPUs (2010)

Published: context switches a second, 64 threads on a 64-thread POWER machine, one
benchmark on each. Ours: every context switch on $(guest old cpus) CPUs of a VM, Debian $release,
adds the time since the last one to three percpu_counters, one below the other; how
many of a thousand such updates took a counter's lock. And the same updates replayed
in user space on this machine ($(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1), $(host cpus) CPUs), values of $value ns:
updates a second, medians of 9 rounds of each in turn.

| | published, switches/s | batch | locks per 1000 updates | replay, updates/s |
|---|--:|--:|--:|--:|
| cpuacct, batch of old | 61,720 | $(guest old batch) | $(per_thousand old) | $(million "$(host old)") |
| cpuacct, batch scaled by a jiffy | 16,663,217 | $(guest scaled batch) | $(per_thousand scaled) | $(million "$(host scaled)") |
| ratio | 270 | | | $(host ratio) |
| without cpuacct | 16,906,698 | | | |

What is different: the scale is ours, the shape is theirs. cpuacct keeps no
percpu_counter any longer, so a module of ours (\`test/module/leanacct_tree.c\`) puts
the tree back. The VM's CPUs take turns on a few real ones, so the time between
switches, and with it what is added, is longer than on a real machine, and locks are
more frequent. The replay is on $(host cpus) CPUs, not 64: the lock is fought for by
so many fewer.
EOT
