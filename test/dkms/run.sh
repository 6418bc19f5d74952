#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# DKMS, really: in a Debian 12 and a Debian 13 root, with two kernels each,
# install from the release tarball and from the .deb, remove, sign (inside.sh has
# it); then load what DKMS built in the VM. TAP on stdout.
set -eu

if [ "${1-}" = -h ] || [ "${1-}" = --help ]; then
	cat <<'USAGE'
usage: run.sh [SUITE...]   (bookworm or trixie; default: both)

Takes the working tree as it is. Needs root or sudo.
USAGE
	exit 0
fi
[ $# -gt 0 ] || set -- bookworm trixie

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
: "${LEANACCT_BUILD:=$top/build}"
export LEANACCT_BUILD
work=$LEANACCT_BUILD/dkms

# What this needs of the machine.
as=
[ "$(id -u)" -eq 0 ] || as=sudo
if ! $as unshare --mount true 2>/dev/null; then
	echo "1..0 # SKIP no mount namespace can be made here: root or sudo is needed"
	exit 0
fi

# The headers packages, as a user names them, and the kernels that they are for,
# as kernel.sh names them. The first kernel is there when the module comes.
suite()
{
	case $1 in
	bookworm)	first=linux-headers-6.12-amd64 second=linux-headers-amd64
			kernels='6.12 6.1' ;;
	trixie)		first=linux-headers-amd64 second=linux-headers-amd64/trixie-backports
			kernels='6.12-trixie 7' ;;
	*)
		echo "run.sh: unknown suite '$1': bookworm or trixie" >&2
		exit 129
		;;
	esac
}

# loads KERNEL: the modules that DKMS built for it, in its VM.
loads()
{
	release=$(sh "$top/test/vm/kernel.sh" "$1")
	[ -d "$work/modules/$release" ] ||
		release=$(KERNEL_REFRESH=1 sh "$top/test/vm/kernel.sh" "$1")
	name="$release: what DKMS built loads in the VM"
	if [ ! -s "$work/modules/$release/leanacct.ko" ]; then
		echo "not ok - $name: nothing was built for it"
		return
	fi
	rm -rf "$work/vm"
	mkdir -p "$work/vm" "$LEANACCT_BUILD/programs"
	ln -s ../modules ../../kernels ../../programs "$work/vm/"
	if LEANACCT_BUILD=$work/vm sh "$top/test/vm/run.sh" "$1" --no-module \
		boot interface >"$work/vm.log" 2>&1; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		sed 's/^/# /' "$work/vm.log"
	fi
}

all()
{
	rm -rf "$work"
	mkdir -p "$work"
	tarball=$(sh "$top/scripts/dist.sh" --worktree)
	version=${tarball##*/leanacct-}
	version=${version%.tar.gz}
	echo "ok - make dist: leanacct-$version.tar.gz"
	if ! deb=$(sh "$top/scripts/deb.sh" --worktree 2>"$work/log"); then
		echo "not ok - make deb, lintian without errors"
		sed 's/^/# /' "$work/log"
		return
	fi
	echo "ok - make deb, lintian without errors: $(basename "$deb")"
	cp "$tarball" "$work/"
	cp "$deb" "$work/leanacct-dkms.deb"
	cp "$here/inside.sh" "$work/"

	for suite; do
		suite "$suite"
		rm -rf "$work/modules"
		sh "$here/root.sh" "$suite" "$work" sh /mnt/inside.sh "$version" \
			"$first" "$second" >"$work/$suite.out" 2>&1 || {
			echo "not ok - $suite: inside.sh ended early"
			tail -n 20 "$work/$suite.out" | sed 's/^/# /'
		}
		sed -n "s/^\(not \)\{0,1\}ok - /&$suite: /p; /^#/p" "$work/$suite.out"
		for kernel in $kernels; do
			loads "$kernel"
		done
	done
}

for suite; do
	suite "$suite"
done
{
	all "$@"
	echo "end of run"
} | awk -f "$top/test/vm/number.awk"
