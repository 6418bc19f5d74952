#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run a command in a minimal Debian root that has what the kernels of a suite
# are built with: their headers bring helpers that need that suite's C library,
# and a module wants the compiler of its kernel.
#
# The root is made once, with mmdebstrap, in build/roots/SUITE. The build
# directory is there at the same path (and its kernels, where they are a link to
# another's), and /proc (objtool reads it); the mounts are in a namespace of their
# own and go with the command.
set -eu

if [ $# -lt 2 ]; then
	echo "usage: root.sh SUITE COMMAND [WORD...]   (trixie)" >&2
	exit 129
fi
suite=$1
shift

top=$(cd "$(dirname "$0")/../.." && pwd)
: "${LEANACCT_BUILD:=$top/build}"
root=$LEANACCT_BUILD/roots/$suite

if [ "$(id -u)" -ne 0 ]; then
	exec sudo env LEANACCT_BUILD="$LEANACCT_BUILD" sh "$0" "$suite" "$@"
fi

mkdir -p "$LEANACCT_BUILD/roots"
exec 8>"$LEANACCT_BUILD/roots/.lock"
flock 8
if [ ! -d "$root" ]; then
	# shellcheck source=/dev/null
	. "$top/test/vm/apt.sh"
	echo "root.sh: making a $suite root with mmdebstrap" >&2
	mirror=$(apt_mirror "$suite|[a-z]+")
	rm -rf "$root.new"
	mmdebstrap --quiet --variant=apt --skip=cleanup/apt \
		--include=gcc-14,make,libelf1t64,libssl3t64,pahole \
		"$suite" "$root.new" "$mirror" >&2
	mv "$root.new" "$root"
fi
exec 8>&-

# shellcheck disable=SC2016 # for the inner shell
exec unshare --mount sh -eu -c '
	root=$1
	build=$2
	shift 2
	mount -t proc proc "$root/proc"
	for dir in "$build" "$(realpath "$build/kernels")"; do
		mkdir -p "$root$dir"
		mount --bind "$dir" "$root$dir"
	done
	exec chroot "$root" "$@"
' root.sh "$root" "$LEANACCT_BUILD" "$@"
