#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Build leanacct.ko and leanacct_klp.ko for the newest kernel of a series (see
# kernel.sh) and print the directory they are in: build/modules/RELEASE.
#
# The build works on a copy (build/modules/RELEASE/src), so the checkout stays
# clean, and always from scratch: a warning in a file that was not compiled
# again would go unseen. Nothing is done when the sources are those of the
# last good build. Any warning (compiler, objtool, modpost) is a failure.
set -eu

usage()
{
	cat <<'USAGE'
usage: module.sh KERNEL [MAKE-WORD...]

MAKE-WORD goes to make as it is, for example W=1.

environment:
  LEANACCT_SOURCE=DIR  build what is in DIR (Kbuild, module/) instead
USAGE
}

case ${1-} in
-h | --help)	usage; exit 0 ;;
esac
if [ $# -lt 1 ]; then
	usage >&2
	exit 129
fi
kernel=$1
shift

top=$(cd "$(dirname "$0")/../.." && pwd)
: "${LEANACCT_BUILD:=$top/build}"
: "${LEANACCT_SOURCE:=$top}"
export LEANACCT_BUILD

if [ ! -f "$LEANACCT_SOURCE/Kbuild" ]; then
	echo "module.sh: no Kbuild in $LEANACCT_SOURCE" >&2
	exit 1
fi

release=$(sh "$top/test/vm/kernel.sh" "$kernel")
headers=$LEANACCT_BUILD/kernels/$release/headers
out=$LEANACCT_BUILD/modules/$release
src=$out/src
log=$out/build.log
mkdir -p "$out"

exec 9>"$out/.lock"
flock 9

# What the result depends on, in one line.
stamp=$({
	cd "$LEANACCT_SOURCE"
	echo "$release $*"
	find Kbuild dkms.conf module test/module -type f | LC_ALL=C sort | xargs cat | cksum
	find Kbuild dkms.conf module test/module -type f | LC_ALL=C sort
} | cksum)
if [ "$(cat "$out/.stamp" 2>/dev/null)" = "$stamp" ]; then
	echo "$out"
	exit 0
fi

rm -rf "$src" "$out/.stamp" "$out"/*.ko
mkdir "$src"
cp -R "$LEANACCT_SOURCE/Kbuild" "$LEANACCT_SOURCE/dkms.conf" \
	"$LEANACCT_SOURCE/module" "$src/"
cp -R "$LEANACCT_SOURCE/test/module" "$src/test"

echo "module.sh: building for $release" >&2
rc=0

# A kernel of Debian 13 is built with the tools of Debian 13.
in_root=
case $release in
*+deb13*)	in_root="sh $top/test/vm/root.sh trixie" ;;
esac
for dir in "$src" "$src/test"; do
	# shellcheck disable=SC2086 # words, or nothing
	$in_root make -C "$headers" M="$dir" -j"$(nproc)" "$@" modules || rc=$?
done >"$log" 2>&1
if [ $rc -ne 0 ]; then
	cat "$log" >&2
	echo "module.sh: the build failed (above; also in $log)" >&2
	exit 1
fi
if grep -qiE 'warning|objtool:' "$log"; then
	grep -iE -A 6 'warning|objtool:' "$log" >&2
	echo "module.sh: the build warned (above; all of it is in $log)" >&2
	exit 1
fi

for ko in leanacct.ko leanacct_klp.ko test/leanacct_hold.ko test/leanacct_tree.ko; do
	if [ ! -f "$src/$ko" ]; then
		echo "module.sh: the build made no $ko (see $log)" >&2
		exit 1
	fi
	cp "$src/$ko" "$out/"
done
echo "$stamp" >"$out/.stamp"
echo "$out"
