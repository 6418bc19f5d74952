#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Build the Debian package leanacct-dkms from the release tarball, check it with
# lintian, and print its path: leanacct-dkms_VERSION_all.deb beside the tarball.
#
# This happens in a Debian 12 root (test/dkms/root.sh), so nothing needs to be
# installed here and the package is the same wherever it is built.
set -eu

case ${1-} in
-h | --help)
	echo "usage: deb.sh [--worktree | COMMIT]   (as dist.sh)"
	exit 0
	;;
esac

top=$(cd "$(dirname "$0")/.." && pwd)
: "${LEANACCT_BUILD:=$top/build}"
export LEANACCT_BUILD
tarball=$(sh "$top/scripts/dist.sh" "$@")

work=$LEANACCT_BUILD/deb
rm -rf "$work"
mkdir -p "$work"
tar -C "$work" -xzf "$tarball"
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$work"/*/dkms.conf)
deb=leanacct-dkms_${version}_all.deb

# Errors of lintian fail the build; its warnings are shown.
if ! sh "$top/test/dkms/root.sh" bookworm "$work" sh -eu -c '
	cd /mnt/leanacct-*
	dpkg-buildpackage -us -uc -b
	lintian --fail-on error --allow-root ../*.changes
' >"$work/log" 2>&1; then
	cat "$work/log" >&2
	echo "deb.sh: the build or lintian failed (above; also in $work/log)" >&2
	exit 1
fi
if [ ! -f "$work/$deb" ]; then
	echo "deb.sh: dkms.conf says version $version, debian/changelog another" >&2
	exit 1
fi
grep '^W: ' "$work/log" >&2 || :
mv "$work/$deb" "$(dirname "$tarball")/"
echo "$(dirname "$tarball")/$deb"
