#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A function whose name others have too (see run.sh).
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

plan 2
load
diag "$(status_of)"
is "status names the function and why" "$(status_of)" \
	"vtime stock - unfit type_show: more than one symbol of this name"
is "it is refused" "$(set_variant exact)" "Operation not supported"
