#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What must be clean before a change goes in: the module under W=1 and sparse
# (any warning fails, also from objtool and modpost), the scripts under
# ShellCheck, the C files under clang-format; checkpatch where a
# kernel source is at hand (CHECKPATCH=FILE names it). TAP on stdout.
set -eu

if [ $# -ne 1 ]; then
	echo "usage: lint.sh KERNEL   (as test/vm/kernel.sh knows it)" >&2
	exit 129
fi
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"

check()
{
	what=$1
	shift
	if "$@"; then
		echo "ok - $what"
	else
		echo "not ok - $what"
	fi
}

c_files=$(git ls-files '*.c' '*.h')
scripts=$(git ls-files '*.sh' scripts/leanacct test/vm/init .ci/run)

# shellcheck disable=SC2317 # called through check
format()
{
	# shellcheck disable=SC2086 # a list of names without blanks
	clang-format --dry-run -Werror --style=file $c_files
}

# shellcheck disable=SC2317
sparse()
{
	# Beside the build that is tested, for the same kernel.
	mkdir -p build/lint build/kernels build/roots
	ln -sfn ../kernels ../roots build/lint
	LEANACCT_BUILD=$top/build/lint sh test/vm/module.sh "$1" W=1 C=2 CF=-Wsparse-error
}

# shellcheck disable=SC2086 # lists, too
{
	check "shellcheck" shellcheck -x $scripts
	check "clang-format" format
	check "W=1 and sparse" sparse "$1"
	if [ -n "${CHECKPATCH-}" ]; then
		check "checkpatch" "$CHECKPATCH" --no-tree --terse --strict -f $c_files
	else
		echo "# checkpatch: not run (CHECKPATCH=FILE names it)"
	fi
	echo "end of run"
} | awk -f test/vm/number.awk
