#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Fetch the newest Debian kernel of a series, unpack it under build/kernels/
# and print its release (the only thing on stdout).
#
# build/kernels/RELEASE/ then has
#	vmlinuz config	the kernel and its configuration
#	headers		make -C build/kernels/RELEASE/headers M=... modules
#
# Nothing is installed, and the host's apt state stays as it is (apt.sh).
# "Newest" is asked of the mirror once a day.
set -eu

usage()
{
	cat <<'USAGE'
usage: kernel.sh KERNEL

KERNEL is one of: 6.12

environment:
  KERNEL_REFRESH=1   ask the mirror for the newest version now
  LEANACCT_BUILD=DIR keep everything below DIR instead of build/
USAGE
}

case ${1-} in
-h | --help)	usage; exit 0 ;;
esac
if [ $# -ne 1 ]; then
	usage >&2
	exit 129
fi
kernel=$1

# One row a kernel: the meta package that always depends on the newest image,
# and the suites it lives in. The package that holds the files is the unsigned
# one of the same version.
case $kernel in
6.12)	meta=linux-image-6.12-amd64 suites=bookworm-security ;;
*)
	echo "kernel.sh: unknown kernel '$kernel'" >&2
	usage >&2
	exit 129
	;;
esac

top=$(cd "$(dirname "$0")/../.." && pwd)
: "${LEANACCT_BUILD:=$top/build}"
kernels=$LEANACCT_BUILD/kernels
newest=$kernels/$kernel.newest	# holds a release; its age is the age of the answer

say()
{
	echo "kernel.sh: $*" >&2
}

# Known for less than a day, and unpacked?
fresh()
{
	[ -z "${KERNEL_REFRESH-}" ] &&
		[ -n "$(find "$newest" -mtime -1 2>/dev/null)" ] &&
		[ -e "$kernels/$(cat "$newest")/headers/Makefile" ]
}

# Print the field $2 of package $1 in its newest version.
field()
{
	apt_private cache --no-all-versions show "$1" 2>/dev/null |
		sed -n "s/^$2: //p" | head -n 1
}

# The release that the meta package points at, from the mirror.
resolve()
{
	apt_refresh || return 1
	resolved=$(field "$meta" Depends |
		sed -n 's/.*linux-image-\([^ ,]*\).*/\1/p')
	[ -n "$resolved" ] || {
		say "the mirror's $suites has no package $meta"
		return 1
	}
	echo "$resolved"
}

# Download the package $1 in its newest version (which apt checks against the
# signed list), unless it is here, and print the path of its file.
fetch()
{
	version=$(field "$1" Version)
	[ -n "$version" ] || {
		say "the mirror has no package $1"
		return 1
	}
	arch=$(field "$1" Architecture)
	deb=$(apt_archives)/${1}_${version}_$arch.deb
	if [ ! -e "$deb" ]; then
		size=$(field "$1" Size)
		say "fetching $1 $version ($(((size + 524288) / 1048576)) MB)"
		(
			cd "$(apt_archives)/partial"
			apt_private get -qq download "$1=$version" >&2
			mv "./${1}_"*.deb "$deb"
		) || return 1
	fi
	echo "$deb"
}

# Unpack what is needed of release $1 into the directory $2.
unpack()
{
	release=$1
	dir=$2
	image=$(fetch "linux-image-$release-unsigned")

	# The two files stand first in the package; tar stops there, and the
	# complaint of the decompressor about that is not for us.
	mkdir -p "$dir"
	dpkg-deb --fsys-tarfile "$image" 2>/dev/null |
		tar -x --occurrence=1 -C "$dir" --strip-components=2 \
			"./boot/vmlinuz-$release" "./boot/config-$release"
	mv "$dir/vmlinuz-$release" "$dir/vmlinuz"
	mv "$dir/config-$release" "$dir/config"

	# The headers of this flavour name the other two packages they need.
	headers=linux-headers-$release
	for package in "$headers" $(field "$headers" Depends |
		grep -o 'linux-headers-[^ ,]*-common\|linux-kbuild-[^ ,]*'); do
		dpkg-deb -x "$(fetch "$package")" "$dir"
	done
	ln -s "usr/src/$headers" "$dir/headers"

	# Their Makefile includes the common one from /usr/src: the only thing
	# that asks for an installed package. Make that a neighbour.
	# shellcheck disable=SC2016 # for make
	sed -i 's,^include /usr/src/,include $(dir $(realpath $(lastword $(MAKEFILE_LIST))))../,' \
		"$dir/headers/Makefile"
	if grep -q '/usr/src/' "$dir/headers/Makefile"; then
		say "$dir/headers/Makefile still needs /usr/src: a new layout," \
			"mend unpack() in kernel.sh"
		return 1
	fi
}

if fresh; then
	cat "$newest"
	exit 0
fi

mkdir -p "$kernels"
exec 9>"$kernels/.lock"
flock 9
if fresh; then			# another run got it while this one waited
	cat "$newest"
	exit 0
fi

# shellcheck source=/dev/null
. "$top/test/vm/apt.sh"
# shellcheck disable=SC2086 # a list
apt_open "kernel-$kernel" $suites
if ! release=$(resolve); then
	release=$(cat "$newest" 2>/dev/null || :)
	if [ -z "$release" ] || [ ! -d "$kernels/$release" ]; then
		say "cannot find the newest $kernel kernel (see above): is the mirror reachable?"
		exit 1
	fi
	say "cannot ask for the newest $kernel kernel (see above): taking $release, which is here"
	echo "$release"
	exit 0
fi

if [ ! -e "$kernels/$release/headers/Makefile" ]; then
	rm -rf "$kernels/.new" "${kernels:?}/$release"
	unpack "$release" "$kernels/.new"
	mv "$kernels/.new" "$kernels/$release"
	say "unpacked $release below $kernels"
fi
echo "$release" >"$newest"
echo "$release"
