#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Install what this machine lacks for the given groups of work. Says in one
# line what it installs; quiet, and done in no time, where nothing lacks.
set -eu

usage()
{
	cat <<'USAGE'
usage: packages.sh [GROUP...]

GROUP is one of (default: vm)
  vm     fetch a kernel, build the module and the guest, boot it in QEMU
  lint   sparse, shellcheck, clang-format
  unit   the unit tests

Runs as root, or takes sudo. Packages come from the mirror that this machine's
apt uses; its lists and sources stay as they are.
USAGE
}

# The packages of a group. libssl3 and libelf1 are for the kernel's own build
# helpers (sign-file, objtool), pahole for the module's BTF.
packages()
{
	case $1 in
	vm)	echo busybox-static cpio gcc libc6-dev libelf1 libssl3 make \
			mmdebstrap pahole jq xz-utils zstd ;;
	lint)	echo clang-format shellcheck sparse ;;
	unit)	echo gcc libc6-dev libcmocka-dev make ;;
	*)
		echo "packages.sh: unknown group '$1'" >&2
		usage >&2
		exit 129
		;;
	esac
}

# QEMU before 10 can run a kernel whose text is being patched into a hang.
qemu_wanted=10

qemu_lacks()
{
	version=$(qemu-system-x86_64 --version 2>/dev/null |
		sed -n 's/.*version \([0-9]*\).*/\1/p')
	[ "${version:-0}" -lt "$qemu_wanted" ]
}

case ${1-} in
-h | --help)	usage; exit 0 ;;
esac
[ $# -gt 0 ] || set -- vm

wanted=
want_qemu=
for group; do
	wanted="$wanted $(packages "$group")"
	[ "$group" != vm ] || want_qemu=1
done

# dpkg-query says nothing of packages it never heard of, and fails: awk finds
# what is not among the installed ones.
# shellcheck disable=SC2086 # lists
lacking=$({
	dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null || :
	printf 'wanted %s\n' $wanted
} | awk '
	$1 == "installed" { have[$2] = 1 }
	$1 == "wanted" && !have[$2]++ { printf " %s", $2 }')

qemu=
if [ -n "$want_qemu" ] && qemu_lacks; then
	qemu="qemu-system-x86"
fi
[ -n "$lacking$qemu" ] || exit 0
# shellcheck disable=SC2086,SC2116
all=$(echo $lacking $qemu)	# unquoted: single blanks

if ! command -v apt-get >/dev/null; then
	echo "packages.sh: no apt-get here; install by hand: $all" >&2
	exit 1
fi

apt_as=
if [ "$(id -u)" -ne 0 ]; then
	apt_as=sudo
	command -v sudo >/dev/null || {
		echo "packages.sh: neither root nor sudo; as root, install: $all" >&2
		exit 1
	}
fi

suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
suites="$suite $suite-updates $suite-security"
qemu_suite=$suite
if [ -n "$qemu" ] && [ "$suite" = bookworm ]; then
	qemu_suite=$suite-backports	# Debian 12 itself has 7.2
	suites="$suites $qemu_suite"
fi

from=
[ "$qemu_suite" = "$suite" ] || from=" (from $qemu_suite)"
echo "packages.sh: installing $all$from" >&2

# The lists serve this one installation; made by root, so removed by root.
LEANACCT_BUILD=$(mktemp -d)
trap '$apt_as rm -rf "$LEANACCT_BUILD"' EXIT

# shellcheck source=/dev/null
. "$(dirname "$0")/apt.sh"
# shellcheck disable=SC2086 # a list
apt_open host $suites
apt_refresh

# install SUITE PACKAGE...: from SUITE where several have it.
install()
{
	apt_private get -q -y --no-install-recommends -t "$@" \
		>"$LEANACCT_BUILD/log" 2>&1 </dev/null || {
		cat "$LEANACCT_BUILD/log" >&2
		echo "packages.sh: apt-get could not do this (its words are above):" \
			"-t $*" >&2
		exit 1
	}
}

# shellcheck disable=SC2086 # a list
[ -z "$lacking" ] || install "$suite" install $lacking
[ -n "$qemu" ] || exit 0
install "$qemu_suite" install "$qemu"
if qemu_lacks; then
	echo "packages.sh: the QEMU found first in PATH is older than" \
		"$qemu_wanted all the same: $(command -v qemu-system-x86_64)" >&2
	exit 1
fi
