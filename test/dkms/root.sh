#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run a command in a Debian root of which nothing stays: in a layer on top of
# build/roots/dkms-RELEASE, which mmdebstrap makes once (it has dkms and a
# compiler). DIR is /mnt there, to bring things in and out; what apt downloads
# is kept in build/apt/dkms-RELEASE. The mounts are in a namespace of their own.
set -eu

if [ $# -lt 3 ]; then
	echo "usage: root.sh RELEASE DIR COMMAND [WORD...]   (bookworm or trixie)" >&2
	exit 129
fi
debian=$1
dir=$2

top=$(cd "$(dirname "$0")/../.." && pwd)
: "${LEANACCT_BUILD:=$top/build}"
base=$LEANACCT_BUILD/roots/dkms-$debian
layer=$base.layer

case $debian in
bookworm)	# the .deb is built and checked in this one, too
	suites='bookworm bookworm-security'
	include=dkms,build-essential,openssl,kmod,xz-utils,debhelper,dh-dkms,lintian
	;;
trixie)
	suites='trixie trixie-security trixie-backports'
	include=dkms,gcc-14,libc6-dev,openssl,kmod,xz-utils
	;;
*)
	echo "root.sh: unknown release '$debian': bookworm or trixie" >&2
	exit 129
	;;
esac

if [ "$(id -u)" -ne 0 ]; then
	rc=0
	sudo env LEANACCT_BUILD="$LEANACCT_BUILD" sh "$0" "$@" || rc=$?
	sudo chown -R "$(id -u):$(id -g)" "$dir"
	exit $rc
fi
shift 2

# shellcheck source=test/vm/apt.sh
. "$top/test/vm/apt.sh"
mkdir -p "$LEANACCT_BUILD/roots"
exec 8>"$base.lock"
flock 8
# shellcheck disable=SC2086 # a list
apt_open "dkms-$debian" $suites
if [ ! -d "$base" ]; then
	echo "root.sh: making a $debian root with mmdebstrap" >&2
	rm -rf "$base.new"
	mmdebstrap --quiet --variant=apt --skip=cleanup/apt --include="$include" \
		"$debian" "$base.new" "$apt_dir/sources.list" >&2
	mv "$base.new" "$base"
fi

rm -rf "$layer"
mkdir -p "$layer/upper" "$layer/work" "$layer/root"
trap 'rm -rf "$layer"' EXIT

# In a container, the layer may be more than its file system can do: then a copy.
# shellcheck disable=SC2016 # for the inner shell
unshare --mount sh -eu -c '
	base=$1 layer=$2 dir=$3 apt=$4
	shift 4
	root=$layer/root
	mount -t overlay overlay "$root" 2>/dev/null \
		-o "lowerdir=$base,upperdir=$layer/upper,workdir=$layer/work" ||
		cp -a "$base/." "$root"
	mount -t proc proc "$root/proc"
	mount --bind "$dir" "$root/mnt"
	mount --bind "$apt/lists" "$root/var/lib/apt/lists"
	mount --bind "$apt/cache/archives" "$root/var/cache/apt/archives"
	cp /etc/resolv.conf "$root/etc/"
	exec chroot "$root" env -i LC_ALL=C DEBIAN_FRONTEND=noninteractive \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"
' root.sh "$base" "$layer" "$dir" "$apt_dir" "$@"
