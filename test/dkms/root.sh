#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run a command in a Debian root of which nothing stays: in a layer on top of
# build/roots/dkms-SUITE, which mmdebstrap makes once (it has dkms and a
# compiler). DIR is /mnt there, to bring things in and out; what apt downloads
# is kept in build/apt/dkms-SUITE. The mounts are in a namespace of their own.
set -eu

if [ $# -lt 3 ]; then
	echo "usage: root.sh SUITE DIR COMMAND [WORD...]   (bookworm or trixie)" >&2
	exit 129
fi
suite=$1
dir=$2
shift 2

top=$(cd "$(dirname "$0")/../.." && pwd)
: "${LEANACCT_BUILD:=$top/build}"
base=$LEANACCT_BUILD/roots/dkms-$suite

case $suite in
bookworm)	# the package is built and checked here, too
	suites='bookworm bookworm-security'
	include=dkms,gcc-12,libc6-dev,openssl,kmod,xz-utils,debhelper,dh-dkms,lintian
	;;
trixie)
	suites='trixie trixie-security trixie-backports'
	include=dkms,gcc-14,libc6-dev,openssl,kmod,xz-utils
	;;
*)
	echo "root.sh: unknown suite '$suite': bookworm or trixie" >&2
	exit 129
	;;
esac

if [ "$(id -u)" -ne 0 ]; then
	exec sudo env LEANACCT_BUILD="$LEANACCT_BUILD" sh "$0" "$suite" "$dir" "$@"
fi

# shellcheck source=/dev/null
. "$top/test/vm/apt.sh"
# shellcheck disable=SC2086 # a list
apt_open "dkms-$suite" $suites
mkdir -p "$LEANACCT_BUILD/roots"
exec 8>"$LEANACCT_BUILD/roots/.lock-dkms-$suite"
flock 8
if [ ! -d "$base" ]; then
	echo "root.sh: making a $suite root with mmdebstrap" >&2
	rm -rf "$base.new"
	mmdebstrap --quiet --variant=apt --skip=cleanup/apt --include="$include" \
		"$suite" "$base.new" "$apt_dir/sources.list" >&2
	mv "$base.new" "$base"
fi

layer=$LEANACCT_BUILD/roots/dkms-$suite.layer
rm -rf "$layer"
mkdir -p "$layer/upper" "$layer/work" "$layer/root"
trap 'rm -rf "$layer"' EXIT

# shellcheck disable=SC2016 # for the inner shell
unshare --mount sh -eu -c '
	base=$1 layer=$2 dir=$3 apt=$4
	shift 4
	root=$layer/root
	mount -t overlay overlay "$root" \
		-o "lowerdir=$base,upperdir=$layer/upper,workdir=$layer/work"
	mount -t proc proc "$root/proc"
	mount --bind "$dir" "$root/mnt"
	mount --bind "$apt/lists" "$root/var/lib/apt/lists"
	mount --bind "$apt/cache/archives" "$root/var/cache/apt/archives"
	cp /etc/resolv.conf "$root/etc/"
	exec chroot "$root" env -i LC_ALL=C DEBIAN_FRONTEND=noninteractive \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"
' root.sh "$base" "$layer" "$dir" "$apt_dir" "$@"
