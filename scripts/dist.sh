#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Make the release tarball build/dist/leanacct-VERSION.tar.gz and print its path.
# It unpacks to the very directory that DKMS looks for in /usr/src.
set -eu

usage()
{
	cat <<'USAGE'
usage: dist.sh [--worktree | COMMIT]

What is in COMMIT (default: HEAD), or with --worktree what is in the working
tree now, ignored files left out; that goes below build/dist/worktree/.
USAGE
}

die()
{
	echo "dist.sh: $*" >&2
	exit 1
}

case ${1-} in
-h | --help)		usage; exit 0 ;;
--worktree)		;;
-*)			usage >&2; exit 129 ;;
esac
if [ $# -gt 1 ]; then
	usage >&2
	exit 129
fi

top=$(cd "$(dirname "$0")/.." && pwd)
: "${LEANACCT_BUILD:=$top/build}"
cd "$top"
git rev-parse --verify -q HEAD >/dev/null ||
	die "$top is no git checkout: a release is made from one"

tree=${1:-HEAD}
apart=
if [ "$tree" = --worktree ]; then
	apart=/worktree
	# An index of its own, so git's stays as it is.
	GIT_INDEX_FILE=$(mktemp -u)
	export GIT_INDEX_FILE
	git read-tree HEAD
	git add --all
	tree=$(git write-tree)
	rm -f "$GIT_INDEX_FILE"
	unset GIT_INDEX_FILE
elif [ "$tree" = HEAD ] && [ -n "$(git status --porcelain)" ]; then
	echo "dist.sh: the working tree has changes that are not in HEAD," \
		"nor in the tarball" >&2
fi

version=$(git show "$tree:dkms.conf" | sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p')
[ -n "$version" ] || die "no PACKAGE_VERSION in dkms.conf of $tree"

name=leanacct-$version
out=$LEANACCT_BUILD/dist$apart
mkdir -p "$out"
git archive --format=tar --prefix="$name/" "$tree" | gzip -n >"$out/$name.new"
mv "$out/$name.new" "$out/$name.tar.gz"
echo "$out/$name.tar.gz"
