#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run one stream of tests, a row of the table in run.sh; show its TAP and keep it
# in build/test/NAME.tap. One that needs all CPUs (2) runs alone and shows as it
# goes; another is shown whole, at its end, so that two do not mix.
set -eu

if [ $# -lt 3 ]; then
	echo "usage: stream.sh CPUS NAME COMMAND...   (LEANACCT_BUILD is set)" >&2
	exit 129
fi
cpus=$1
name=$2
shift 2
out=${LEANACCT_BUILD:?stream.sh: LEANACCT_BUILD is not set}/test

# Not in a variable: what the command exits with is for its TAP to tell (one that
# dies leaves no plan, and that is a failure).
stream()
{
	start=$(date +%s)
	echo "# --- $name"
	"$@" 2>&1 || :
	echo "# $name took $(($(date +%s) - start)) s"
}

if [ "$cpus" -gt 1 ]; then
	stream "$@" | tee "$out/$name.tap"
else
	stream "$@" >"$out/$name.tap"
	flock "$out/table" cat "$out/$name.tap"
fi
