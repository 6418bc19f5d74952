#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A function that has no fentry site (see run.sh).
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

plan 3
load
diag "$(status_of)"
like "status names the function and why" "$(status_of)" \
	'^vtime stock - unfit native_sched_clock: no fentry site'
is "it is refused" "$(set_variant exact)" "Operation not supported"
is "nothing is redirected" "$(grep -c leanacct /sys/kernel/tracing/enabled_functions)" 0
