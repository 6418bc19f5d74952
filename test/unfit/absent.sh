#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A function that this kernel does not have (see run.sh).
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

plan 4
load
diag "$(status_of)"
like "status names the function and why" "$(status_of)" \
	'^vtime stock - unfit no_such_function.isra.0: not in this kernel under this name'
log_mark
is "it is refused" "$(set_variant exact)" "Operation not supported"
like "with the same reason in the log" "$(log_since)" \
	'exact refused: no_such_function.isra.0: not in this kernel under this name'
like "functions has it" "$(cat "$leanacct/vtime/functions")" '^no_such_function.isra.0 unfit '
