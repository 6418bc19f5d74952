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
usage: kernel.sh [--from] KERNEL

KERNEL is one of:
  6.1 6.1-rt 6.1-cloud                          Debian 12
  6.12 6.12-rt 6.12-cloud                       Debian 12, security
  6.12-trixie 6.12-trixie-rt 6.12-trixie-cloud  Debian 13
  7 7-rt 7-cloud                                Debian 13, backports

  --from   print where it is looked for, and fetch nothing: the meta package,
           then the suites

environment:
  KERNEL_REFRESH=1   ask the mirror for the newest version now
  LEANACCT_BUILD=DIR keep everything below DIR instead of build/
USAGE
}

from=
case ${1-} in
-h | --help)	usage; exit 0 ;;
--from)		from=1; shift ;;
esac
if [ $# -ne 1 ]; then
	usage >&2
	exit 129
fi
kernel=$1

# One row a series: the meta packages that always depend on the newest image are
# PREFIX-amd64, PREFIX-rt-amd64, PREFIX-cloud-amd64; the suites that they live in.
flavour=
case $kernel in
*-rt)		flavour=rt- ;;
*-cloud)	flavour=cloud- ;;
esac
case ${kernel%-"${flavour%-}"} in
6.1)		meta=linux-image suites='bookworm bookworm-security' ;;
6.12)		meta=linux-image-6.12 suites=bookworm-security ;;
6.12-trixie)	meta=linux-image suites='trixie trixie-security' ;;
7)		meta=linux-image suites=trixie-backports ;;
*)
	echo "kernel.sh: unknown kernel '$kernel'" >&2
	usage >&2
	exit 129
	;;
esac
meta=$meta-${flavour}amd64

if [ -n "$from" ]; then
	echo "$meta $suites"
	exit 0
fi

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

# Unpack one file: of package $1, path $2, into $dir under the name $3. It stands
# early in the package; tar stops there, and the complaint of the decompressor
# about that is not for us.
unpack_file()
{
	from=$(fetch "$1") || return 1
	dpkg-deb --fsys-tarfile "$from" 2>/dev/null | tar -x --occurrence=1 -O "./$2" >"$dir/$3"
	[ -s "$dir/$3" ] || {
		say "package $1 has no $2"
		return 1
	}
}

# Unpack what is needed of release $1 into the directory $2.
unpack()
{
	release=$1
	dir=$2

	mkdir -p "$dir"
	if [ -n "$(field "linux-image-$release-unsigned" Version)" ]; then
		unpack_file "linux-image-$release-unsigned" "boot/vmlinuz-$release" vmlinuz
		unpack_file "linux-image-$release-unsigned" "boot/config-$release" config
	else
		# Since 7.0 the parts have packages of their own.
		modules=usr/lib/modules/$release
		unpack_file "linux-binary-unsigned-$release" "$modules/vmlinuz.unsigned" vmlinuz
		unpack_file "linux-base-$release" "$modules/config" config
	fi

	# The headers of this flavour name the other two packages they need.
	headers=linux-headers-$release
	for package in "$headers" $(field "$headers" Depends |
		grep -o 'linux-headers-[^ ,]*-common[^ ,]*\|linux-kbuild-[^ ,]*'); do
		dpkg-deb -x "$(fetch "$package")" "$dir"
	done
	ln -s "usr/src/$headers" "$dir/headers"

	# Their Makefile names itself (since 7.0) and the common one by their place
	# in /usr/src: the only thing that asks for an installed package. Make that
	# its own place and a neighbour.
	# shellcheck disable=SC2016 # for make
	here='$(dir $(realpath $(lastword $(MAKEFILE_LIST))))'
	sed -i -e "s,^include /usr/src/,include $here../," \
		-e "s,^KBUILD_OUTPUT=.*,KBUILD_OUTPUT := $here," "$dir/headers/Makefile"
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
echo "$release" >"$newest.new"	# others read it without the lock
mv "$newest.new" "$newest"
echo "$release"
