#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Under lockdown (which cannot be lifted again, so this boot is this case's)
# debugfs can be read where it is 0444, and the parameter is the control.
# append: nohz_full=1 rcu_nocbs=1 isolcpus=domain,1 leanacct_case=lockdown
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

lockdown=/sys/kernel/security/lockdown
[ -e $lockdown ] || skip_all "this kernel has no lockdown"

load
ok "integrity" put $lockdown integrity
like "status can be read" "$(cat "$leanacct/status")" '^vtime stock - off$'
is "variant cannot be written" "$(set_variant exact)" "Operation not permitted"
like "leanacct set goes by the parameter" "$(leanacct set vtime exact 2>&1)" \
	'^after:  vtime exact (jmp|call) on$'
like "and back" "$(leanacct set vtime stock 2>&1)" '^after:  vtime stock - off$'

finish
