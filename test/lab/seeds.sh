#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Published measurements of accounting overhead, made again on a kernel of today:
# one page, Markdown on stdout.
#
#	sh test/lab/seeds.sh 6.12 >docs/lab.md
set -eu

# What there is: a script of this name here each.
all='nohz_full batch'

usage()
{
	cat <<USAGE
usage: seeds.sh KERNEL [SEED...]   SEED: one of $all; all by default
USAGE
}

case ${1-} in
-h | --help)	usage; exit 0 ;;
'' | -*)	usage >&2; exit 129 ;;
esac
kernel=$1
shift
# shellcheck disable=SC2086 # words
[ $# -gt 0 ] || set -- $all
here=$(cd "$(dirname "$0")" && pwd)
for seed; do
	case " $all " in
	*" $seed "*)	;;
	*)
		echo "seeds.sh: no seed '$seed'; there are: $all" >&2
		exit 129
		;;
	esac
done

cat <<'EOT'
# The lab: published results, made again

Made by `make seeds`. What these publications cured is in mainline today in some
form, so a kernel of today no longer shows the problem. The lab puts it back, side
by side with its cure.
EOT
for seed; do
	echo
	sh "$here/$seed.sh" "$kernel"
done
