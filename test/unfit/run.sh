#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Unfit kernels are refused, and the reason is named: by Kbuild, and at load.
# TAP on stdout. (A kernel without nohz_full CPUs: test/cases/nohz_off.sh; ftrace
# switched off: test/cases/redirect.sh; dkms.conf: test/dkms/run.sh.)
set -eu

if [ $# -ne 1 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
	echo "usage: run.sh KERNEL   (as test/vm/kernel.sh knows it)" >&2
	exit 129
fi
kernel=$1
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
: "${LEANACCT_BUILD:=$top/build}"
export LEANACCT_BUILD
work=$LEANACCT_BUILD/unfit
rm -rf "$work"
mkdir -p "$work/src"
count=0

release=$(sh "$top/test/vm/kernel.sh" "$kernel")
cp -R "$top/Kbuild" "$top/dkms.conf" "$top/module" "$work/src"

# refused NAME SENTENCE MAKE-WORD...: Kbuild ends with that sentence. The words
# stand for a kernel that was configured so, or is of that version.
refused()
{
	count=$((count + 1))
	name=$1
	sentence=$2
	shift 2
	if make -C "$LEANACCT_BUILD/kernels/$release/headers" M="$work/src" "$@" modules \
		>"$work/log" 2>&1; then
		echo "not ok $count - Kbuild, $name: built"
	elif grep -q "leanacct: .*$sentence" "$work/log"; then
		echo "ok $count - Kbuild, $name: $(sed -n 's/.*leanacct: //p' "$work/log" | head -n 1)"
	else
		echo "not ok $count - Kbuild, $name: failed for another reason"
		sed 's/^/# /' "$work/log"
	fi
}

refused "before 6.1" "Linux 6.1 or later is needed" VERSION=5 PATCHLEVEL=10
refused "6.0" "Linux 6.1 or later is needed" VERSION=6 PATCHLEVEL=0
refused "no way to redirect" "neither CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS nor CONFIG_LIVEPATCH" \
	CONFIG_LIVEPATCH= CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS=
refused "nothing to gate" "neither CONFIG_VIRT_CPU_ACCOUNTING_GEN nor CONFIG_PSI" \
	CONFIG_VIRT_CPU_ACCOUNTING_GEN= CONFIG_PSI=
refused "no kprobes" "lacks CONFIG_KPROBES" CONFIG_KPROBES=
refused "no inline static calls" "lacks CONFIG_HAVE_STATIC_CALL_INLINE" CONFIG_HAVE_STATIC_CALL_INLINE=

count=$((count + 1))
if make -C "$LEANACCT_BUILD/kernels/$release/headers" M="$work/src" clean >"$work/log" 2>&1; then
	echo "ok $count - Kbuild: make clean asks for no option"
else
	echo "not ok $count - Kbuild: make clean asks for no option"
	sed 's/^/# /' "$work/log"
fi

# load NAME [MAKE-WORD...]: the module from $work/src, built with these words, is
# loaded in the VM, and the case NAME is run there.
load()
{
	count=$((count + 1))
	name=$1
	shift
	rm -rf "$work/build"
	mkdir -p "$work/build" "$LEANACCT_BUILD/roots"
	ln -s ../../kernels ../../roots "$work/build/"
	export LEANACCT_SOURCE="$work/src"
	if LEANACCT_BUILD=$work/build sh "$top/test/vm/module.sh" "$kernel" "$@" >"$work/log" 2>&1 &&
		LEANACCT_BUILD=$work/build sh "$top/test/vm/run.sh" "$kernel" --no-module \
			--out "$work/out" "$here/$name.sh" >>"$work/log" 2>&1; then
		echo "ok $count - load, $name: $(sed -n 's/^# [a-z_]*: //p' "$work/log" | head -n 1)"
	else
		echo "not ok $count - load, $name"
		sed 's/^/# /' "$work/log"
	fi
}

sources()
{
	rm -rf "$work/src"
	mkdir -p "$work/src/test"
	cp -R "$top/Kbuild" "$top/dkms.conf" "$top/module" "$work/src"
	cp -R "$top/test/module" "$work/src/test/"
}

# ask_for FUNCTION: the module asks for it in place of vtime_guest_exit.
ask_for()
{
	sources
	sed -i "s/\.name = #func,/.name = __builtin_strcmp(#func, \"vtime_guest_exit\") ? #func : \"$1\",/" \
		"$work/src/module/redirect.h"
}

ask_for no_such_function.isra.0
load absent
ask_for native_sched_clock
load no_fentry
ask_for type_show
load duplicate
sources
load no_vtime CONFIG_VIRT_CPU_ACCOUNTING_GEN=

echo "1..$count"
