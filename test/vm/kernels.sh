#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The kernels that this project is built and tested for, what each offers, and
# what was measured on it (build/bench/*.json, of bench.sh). Markdown on stdout:
#
#	sh test/vm/kernels.sh >docs/kernels.md
set -eu

usage()
{
	cat <<'USAGE'
usage: kernels.sh [--fetch] [--list]

  --fetch   fetch the kernels that are not here yet; else they are left out
  --list    the words for KERNEL alone, one a line
USAGE
}

kernels='6.1 6.1-cloud 6.1-rt 6.12 6.12-cloud 6.12-rt
6.12-trixie 6.12-trixie-cloud 6.12-trixie-rt 7 7-cloud 7-rt'

top=$(cd "$(dirname "$0")/../.." && pwd)
: "${LEANACCT_BUILD:=$top/build}"
export LEANACCT_BUILD

fetch=
while [ $# -gt 0 ]; do
	case $1 in
	--fetch)	fetch=1 ;;
	--list)		echo "$kernels" | tr ' ' '\n'; exit 0 ;;
	-h | --help)	usage; exit 0 ;;
	*)
		echo "kernels.sh: unknown option '$1'" >&2
		usage >&2
		exit 129
		;;
	esac
	shift
done

# release KERNEL: its newest release, or nothing if it was not fetched.
release()
{
	if [ -n "$fetch" ]; then
		sh "$top/test/vm/kernel.sh" "$1"
	else
		cat "$LEANACCT_BUILD/kernels/$1.newest" 2>/dev/null || :
	fi
}

# has OPTION, of the config file $config
has()
{
	grep -q "^CONFIG_$1=y" "$config"
}

# offers: what the config file lets one expect: mechanisms and the gate vtime.
offers()
{
	mechanisms=
	! has DYNAMIC_FTRACE_WITH_JMP || mechanisms="jmp, "
	! has DYNAMIC_FTRACE_WITH_DIRECT_CALLS || mechanisms="${mechanisms}call, "
	! has LIVEPATCH || mechanisms="${mechanisms}klp, "
	vtime=yes
	has VIRT_CPU_ACCOUNTING_GEN || vtime="no: lacks CONFIG_VIRT_CPU_ACCOUNTING_GEN"
	has NO_HZ_FULL || vtime="no: lacks CONFIG_NO_HZ_FULL"
	preemption=dynamic
	! has PREEMPT_RT || preemption=RT
	hz=$(sed -n 's/^CONFIG_HZ=//p' "$config")
	echo "| ${mechanisms%, } | $vtime | $preemption, $hz Hz |"
}

cat <<'EOT'
# Kernels

Made by `sh test/vm/kernels.sh`. `KERNEL=` takes the word in the first column;
the newest release behind it is looked up through Debian's meta packages.

| `KERNEL` | release | mechanisms | gate `vtime` | preemption |
|---|---|---|---|---|
EOT
for kernel in $kernels; do
	release=$(release "$kernel")
	if [ -z "$release" ]; then
		echo "| $kernel | (not fetched: kernels.sh --fetch) | | | |"
		continue
	fi
	config=$LEANACCT_BUILD/kernels/$release/config
	echo "| $kernel | $release $(offers)"
done

cat <<'EOT'

`auto` takes the first mechanism of the list. Kernels before 6.1 are refused: by
dkms.conf, by Kbuild with a sentence, and (without `nohz_full`, livepatch or
ftrace where they need it) at load with a line in the log and in `status`.

## Instructions per invalid system call, nohz_full CPU

`make bench KERNEL=... OPS=syscall`; the saving in percent of stock. `null` is
the redirect alone.

| `KERNEL` | stock | mechanism | null | exact | jiffy |
|---|---|---|---|---|---|
EOT
for kernel in $kernels; do
	release=$(release "$kernel")
	json=$LEANACCT_BUILD/bench/$release.json
	if [ -z "$release" ] || [ ! -s "$json" ]; then
		continue
	fi
	jq -r --arg kernel "$kernel" '
		def one: . * 10 | round / 10 | tostring | if test("[.]") then . else . + ".0" end;
		map(select(.op == "syscall" and .cpu == "nohz_full"))
		| (.[] | select(.variant == "stock") | .insns) as $stock
		| ("jmp", "call", "klp") as $mechanism
		| map(select(.mechanism == $mechanism)) as $rows
		| select($rows | length > 0)
		| def cell($variant): $rows[] | select(.variant == $variant) | .insns
			| "\(one) (\(if . > $stock then "+" else "" end)\((. - $stock) * 100 / $stock | one) %)";
		"| \($kernel) | \($stock | one) | \($mechanism) | \(cell("null")) | \(cell("exact")) | \(cell("jiffy")) |"
	' "$json"
done

cat <<'EOT'

## A timer wake-up, as cyclictest makes it

`make bench KERNEL=... OPS=sleep`: `clock_nanosleep` of a SCHED_FIFO 95 task on
the nohz_full CPU, instructions per cycle; the median of the runs, and their
spread.

| `KERNEL` | stock | exact | mechanism |
|---|---|---|---|
EOT
for kernel in $kernels; do
	release=$(release "$kernel")
	json=$LEANACCT_BUILD/bench/$release.json
	if [ -z "$release" ] || [ ! -s "$json" ]; then
		continue
	fi
	jq -r --arg kernel "$kernel" '
		map(select(.op == "sleep" and .cpu == "nohz_full" and .mechanism != "klp"))
		| (.[] | select(.variant == "stock")) as $stock
		| .[] | select(.variant == "exact")
		| "| \($kernel) | \($stock.insns | round) (spread \($stock.spread | round)) | \(.insns | round) (spread \(.spread | round)) | \(.mechanism) |"
	' "$json"
done
