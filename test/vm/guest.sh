#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Build the initramfs of the guest for one kernel release and print its path.
# It is the same for every boot; what differs (the cases) comes in a second
# archive that run.sh puts behind it.
#
#	/init			test/vm/init
#	/bin/			busybox, leanacct, leanacct-bench, test/programs/*
#	/lib/psi_lib.sh		test/programs/psi_lib.sh
#	/lib/drivers/		a block device, see drivers.sh
#	/lib/leanacct/		leanacct.ko leanacct_klp.ko and the tests' own, where they
#				are built
set -eu

usage()
{
	echo "usage: guest.sh RELEASE   (as kernel.sh prints it)"
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
programs=$LEANACCT_BUILD/programs
modules=$LEANACCT_BUILD/modules/$release
out=$LEANACCT_BUILD/guest
mkdir -p "$out" "$programs"

# Several runs may stand here at once, also of other build directories that share
# the programs with this one: one builds.
exec 9>"$programs/.lock"
flock 9
root=$out/root
rm -rf "$root"
mkdir -p "$root/bin" "$root/cases" "$root/dev" "$root/lib/leanacct" \
	"$root/proc" "$root/sys" "$root/tmp"

# compile NAME DIR SOURCE...: a static helper, unless it is newer than all the
# sources and headers in DIR.
compile()
{
	target=$programs/$1
	dir=$2
	shift 2
	if [ ! -e "$target" ] ||
		[ -n "$(find "$dir" -name '*.[ch]' -newer "$target")" ]; then
		"${CC:-cc}" -O2 -Wall -Werror -static -pthread -o "$target" "$@" >&2
	fi
	cp "$target" "$root/bin/"
}

for source in "$top"/test/programs/*.c; do
	[ ! -e "$source" ] || compile "$(basename "$source" .c)" \
		"$top/test/programs" "$source"
done
for source in "$top"/scripts/bench/*.c; do
	[ ! -e "$source" ] || {
		compile leanacct-bench "$top/scripts/bench" "$top"/scripts/bench/*.c
		break
	}
done

cp /bin/busybox "$root/bin/"
ln -s busybox "$root/bin/sh"
cp "$top/test/vm/init" "$root/init"
[ ! -e "$top/scripts/leanacct" ] || cp "$top/scripts/leanacct" "$root/bin/"
for ko in leanacct.ko leanacct_klp.ko leanacct_hold.ko leanacct_tree.ko; do
	[ ! -e "$modules/$ko" ] || cp "$modules/$ko" "$root/lib/leanacct/"
done

cp "$top/test/programs/psi_lib.sh" "$root/lib/"
# What needs it is skipped where it cannot be had.
if drivers=$(sh "$top/test/vm/drivers.sh" "$release"); then
	mkdir "$root/lib/drivers"
	cp "$drivers"/*.ko "$root/lib/drivers/"
fi

# Not compressed: it is small, and unpacking costs the guest more than reading.
(cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet) >"$out/$release.new"
mv "$out/$release.new" "$out/$release.cpio"
echo "$out/$release.cpio"
