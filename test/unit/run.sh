#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Build the unit tests (test/unit/*.c, one program each) under ASan and UBSan
# and run them: TAP on stdout. What is built goes to build/unit/.
#
# Real output, the end of it:
#	ok 16 - split -O2: transitions_wrap
#	1..16
set -eu

usage()
{
	cat <<'USAGE'
usage: run.sh [NAME...]    NAME: test/unit/NAME.c; all by default

Each program is built at -O2, as the module is, and at -O0.
SEED=N in the environment gives other random values than the fixed ones.
USAGE
}

case ${1-} in
-h | --help)	usage; exit 0 ;;
-*)		usage >&2; exit 129 ;;
esac

here=$(cd "$(dirname "$0")" && pwd)
: "${LEANACCT_BUILD:=$here/../../build}"
out=$LEANACCT_BUILD/unit
mkdir -p "$out"

if ! echo '#include <cmocka.h>' | ${CC:-cc} -E -include stdarg.h -include stddef.h \
	-include setjmp.h -include stdint.h -o /dev/null - 2>/dev/null; then
	echo "run.sh: no cmocka.h; install libcmocka-dev" >&2
	exit 1
fi

if [ $# -eq 0 ]; then
	for source in "$here"/*.c; do
		set -- "$@" "$(basename "$source" .c)"
	done
fi

# One TAP stream of all programs. One that dies is a failure of its own.
for name in "$@"; do
	if [ ! -f "$here/$name.c" ]; then
		echo "run.sh: no such test: $here/$name.c" >&2
		exit 129
	fi
	for level in 0 2; do
		${CC:-cc} -std=gnu11 -g "-O$level" -Wall -Wextra -Werror \
			-fsanitize=address,undefined -fno-sanitize-recover=all \
			-o "$out/$name-O$level" "$here/$name.c" -lcmocka
	done
done
{
	for name in "$@"; do
		for level in 0 2; do
			rc=0
			CMOCKA_MESSAGE_OUTPUT=TAP "$out/$name-O$level" >"$out/tap" || rc=$?
			sed -n "s/^\(not \)\{0,1\}ok [0-9]* - /\1ok - $name -O$level: /p; s/^#/#/p" "$out/tap"
			[ $rc -eq 0 ] || grep -q '^not ok' "$out/tap" ||
				echo "not ok - $name -O$level: exit status $rc"
		done
	done
	echo "end of run"
} | awk -f "$here/../vm/number.awk"
