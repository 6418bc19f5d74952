#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Take the modules of a block device that completes by timer (null_blk, and
# configfs, which it needs) out of Debian's package of a kernel release that
# kernel.sh has fetched, and print the directory they are in:
# build/kernels/RELEASE/drivers. Cases need it for tasks in iowait and for page
# cache that has to be read again.
#
# Since 7.0 modules have a package of their own (linux-modules-RELEASE), which
# is fetched here, once; the others are what kernel.sh got.
set -eu

usage()
{
	echo "usage: drivers.sh RELEASE   (as kernel.sh prints it)"
}

case ${1-} in
-h | --help)	usage; exit 0 ;;
esac
if [ $# -ne 1 ]; then
	usage >&2
	exit 129
fi
release=$1

top=$(cd "$(dirname "$0")/../.." && pwd)
: "${LEANACCT_BUILD:=$top/build}"
export LEANACCT_BUILD
kernels=$LEANACCT_BUILD/kernels
dir=$kernels/$release/drivers

here()
{
	[ -e "$dir/null_blk.ko" ] || return 1
	echo "$dir"
}

! here || exit 0
exec 8>"$kernels/.lock"		# of the apt state, too: kernel.sh
flock 8
! here || exit 0		# another run got it while this one waited

# Debian renamed it once.
package=linux-image-$release-unsigned
[ -e "$kernels/$release/usr/src/linux-headers-$release" ] ||
	{ echo "drivers.sh: $release is not here: test/vm/kernel.sh fetches it" >&2; exit 1; }
case $release in
[1-6].*) ;;
*)	package=linux-modules-$release ;;
esac

# The apt state that knows it is the one of the series whose newest this is.
series=$(grep -lxF "$release" "$kernels"/*.newest | head -n 1)
if [ -z "$series" ]; then
	echo "drivers.sh: $release is the newest of no series: kernel.sh fetches that" >&2
	exit 1
fi
series=$(basename "$series" .newest)
suites=$(sh "$top/test/vm/kernel.sh" --from "$series")
# shellcheck source=test/vm/apt.sh
. "$top/test/vm/apt.sh"
# shellcheck disable=SC2086 # a list
apt_open "kernel-$series" ${suites#* }
deb=$(find "$(apt_archives)" -maxdepth 1 -name "${package}_*.deb" | head -n 1)
if [ -z "$deb" ]; then
	echo "drivers.sh: fetching $package" >&2
	(cd "$(apt_archives)/partial" && apt_private get -qq download "$package" >&2 &&
		mv "${package}_"*.deb ..) || {
		echo "drivers.sh: cannot fetch $package (see above)" >&2
		exit 1
	}
	deb=$(find "$(apt_archives)" -maxdepth 1 -name "${package}_*.deb" | head -n 1)
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$work" --wildcards \
	'*/fs/configfs/configfs.ko*' '*/block/null_blk/null_blk.ko*'
find "$work" -name '*.ko.xz' -exec xz -d {} +
rm -rf "$dir"
mkdir "$dir"
# null_blk last: it tells that all is there.
for name in configfs null_blk; do
	find "$work" -name "$name.ko" -exec mv {} "$dir/" \;
	if [ ! -e "$dir/$name.ko" ]; then
		echo "drivers.sh: $package has no $name.ko" >&2
		exit 1
	fi
done
echo "$dir"
