#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Booted with psi=0, there is nothing to gate: the gate says so and refuses.
#
# append: psi=0
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

load
[ -d "$leanacct/psi" ] || skip_all "no gate psi in this module"
plan 4
like "status: unfit, and why" "$(status_of psi)" '^psi stock - unfit .*(psi=0|PSI|psi_disabled)'
is "exact is refused" "$(set_variant exact psi)" "No such device"
is "the variant stays" "$(variant psi)" stock
like "the log says why" "$(dmesg | grep '^.*leanacct:.*psi')" 'psi=0|PSI|psi_disabled'
