#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A kernel without a nohz_full CPU: there is nothing to gate, and it says so.
# append:
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

plan 7

load
like "status says why" "$(status_of)" '^vtime stock - unfit no nohz_full CPU'
for v in null exact jiffy shadow; do
	is "$v is refused with ENODEV" "$(set_variant $v)" "No such device"
done
unload
log_mark
load vtime=exact
is "asked for at load: the module is in, in stock" "$(variant)" stock
like "and the log says why" "$(log_since)" '^leanacct: vtime: exact refused: no nohz_full CPU'
