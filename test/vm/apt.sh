# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Sourced, not run. A private apt state under build/apt, so that fetching a
# kernel leaves the host's package lists, sources and settings as they are.
#
#	. test/vm/apt.sh
#	apt_open NAME SUITE...	write the sources of NAME (one state a name)
#	apt_refresh		read the package lists of that state again
#	apt_private get ...	apt-get with it; likewise `apt_private cache ...`
#	apt_archives		print the directory of its downloads
#
# The mirrors are the ones that this machine's own apt uses.

apt_root=${LEANACCT_BUILD:?apt.sh: LEANACCT_BUILD is not set}/apt
apt_keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# The address of the mirror for suites whose name matches the pattern $1.
# --no-release-info lists the targets that were never downloaded too (a fresh
# image has no lists yet).
apt_mirror()
{
	# shellcheck disable=SC2016 # $(REPO_URI) is for apt
	apt-get indextargets --no-release-info \
		--format '$(RELEASE) $(REPO_URI) $(COMPONENT)' |
		awk -v pattern="^($1)\$" '
			$1 ~ pattern && $3 == "main" { print $2; exit }'
}

apt_open()
{
	apt_dir=$apt_root/$1
	shift
	mkdir -p "$apt_dir/lists/partial" "$apt_dir/cache/archives/partial"
	: >"$apt_dir/sources.new"
	for suite; do
		case $suite in
		*-security)	pattern='[a-z]+(-security|/updates)' ;;
		*)		pattern="$suite|[a-z]+" ;;
		esac
		mirror=$(apt_mirror "$pattern")
		if [ -z "$mirror" ]; then
			echo "apt.sh: this machine's apt names no mirror for $suite:" \
				"add one in /etc/apt/sources.list.d" >&2
			return 1
		fi
		echo "deb [signed-by=$apt_keyring] $mirror $suite main" \
			>>"$apt_dir/sources.new"
	done
	mv "$apt_dir/sources.new" "$apt_dir/sources.list"
}

# apt_private get|cache WORDS...
# The sandbox user could not write below a private directory; signatures and
# hashes are checked all the same.
apt_private()
{
	apt_tool=apt-$1
	shift
	${apt_as-} env DEBIAN_FRONTEND=noninteractive "$apt_tool" \
		-o Dir::Etc::SourceList="$apt_dir/sources.list" \
		-o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$apt_dir/lists" \
		-o Dir::Cache="$apt_dir/cache" \
		-o Dir::Cache::Archives=archives \
		-o APT::Sandbox::User=root \
		-o Acquire::Retries=3 \
		-o Acquire::Languages=none \
		-o Dpkg::Use-Pty=0 \
		"$@"
}

apt_refresh()
{
	apt_private get -qq -o APT::Update::Error-Mode=any update >&2
}

# Where `apt_private get` leaves and finds downloads.
apt_archives()
{
	echo "$apt_dir/cache/archives"
}
