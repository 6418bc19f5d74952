#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A kernel without VIRT_CPU_ACCOUNTING_GEN: the other gates are of use.
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

plan 6
load
diag "$(status_of)"
is "status has the gate, and why not" "$(status_of)" \
	"vtime stock - unfit this kernel lacks CONFIG_VIRT_CPU_ACCOUNTING_GEN"
is "no variant but stock" "$(cat "$leanacct/vtime/variant")" "[stock]"
is "another word is unknown" "$(set_variant exact)" "Invalid argument"
is "no function" "$(grep -vc '^#' "$leanacct/vtime/functions")" 0
echo exact >"$leanacct/psi/variant"
like "psi works" "$(status_of psi)" '^psi exact [a-z]* on'
echo stock >"$leanacct/psi/variant"
is "and goes back" "$(status_of psi)" "psi stock - off"
