#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest that all other cases stand on: it booted as asked.
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

plan 6

is "two CPUs are online" "$(cat /sys/devices/system/cpu/online)" 0-1
is "CPU 1 is nohz_full" "$(cat /sys/devices/system/cpu/nohz_full)" 1
is "the clocksource is the TSC" \
	"$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)" tsc
ok "debugfs is mounted" grep -q ' /sys/kernel/debug debugfs ' /proc/mounts

for ko in leanacct.ko leanacct_klp.ko; do
	if [ -e "/lib/leanacct/$ko" ]; then
		is "$ko is for this kernel" "$(
			strings "/lib/leanacct/$ko" |
				sed -n 's/^vermagic=\([^ ]*\).*/\1/p')" "$(uname -r)"
	else
		skip "$ko is for this kernel" "it was not built (run.sh --no-module)"
	fi
done
