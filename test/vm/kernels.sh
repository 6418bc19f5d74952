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

  --fetch   fetch the kernels that are not here yet; else their rows say so
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

# known KERNEL: is its newest release known, and its config file here? (A --fetch
# that failed has said why.)
known()
{
	if [ -n "$fetch" ]; then
		release=$(sh "$top/test/vm/kernel.sh" "$1") || return 1
	else
		release=$(cat "$LEANACCT_BUILD/kernels/$1.newest" 2>/dev/null) || return 1
	fi
	config=$LEANACCT_BUILD/kernels/$release/config
	[ -e "$config" ]
}

# has OPTION, of the config file $config
has()
{
	grep -q "^CONFIG_$1=y" "$config"
}

# offer NAME OPTION...: NAME goes to $offered, or to $lacking with what it lacks.
offer()
{
	offer=$1
	shift
	for option; do
		has "$option" || {
			lacking="$lacking; $offer: CONFIG_$option"
			return 0
		}
	done
	offered="$offered, $offer"
}

# The cells that the config file fills: what it lets one expect.
cells()
{
	offered='' lacking=''
	offer jmp DYNAMIC_FTRACE_WITH_JMP
	offer call DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	offer klp LIVEPATCH
	mechanisms=${offered#, }

	offered=
	offer vtime VIRT_CPU_ACCOUNTING_GEN NO_HZ_FULL
	offer psi PSI
	[ -n "$mechanisms" ] || offered='' lacking="$lacking; gates: a mechanism"
	gates=${offered#, }

	psi=yes
	! has PSI_DEFAULT_DISABLED || psi='with psi=1'
	has PSI || psi=no
	preemption=fixed
	! has PREEMPT_DYNAMIC || preemption=dynamic
	! has PREEMPT_RT || preemption=RT
	hz=$(sed -n 's/^CONFIG_HZ=//p' "$config")
	lacking=${lacking#; }
	echo "| ${mechanisms:-none} | ${gates:-none} | ${lacking:--} | $psi | $preemption, $hz Hz |"
}

# measured FILTER: for each kernel, what the jq filter makes of its rows.
measured()
{
	for kernel in $kernels; do
		known "$kernel" || continue
		json=$LEANACCT_BUILD/bench/$release.json
		[ ! -s "$json" ] || jq -r --arg kernel "$kernel" "$1" "$json"
	done
}

cat <<'EOT'
# Kernels

Made by `sh test/vm/kernels.sh`. `KERNEL=` takes the word in the first column;
the newest release behind it is looked up through Debian's meta packages.

| `KERNEL` | release | meta package, suites | mechanisms | gates | not, for lack of | PSI | preemption |
|---|---|---|---|---|---|---|---|
EOT
for kernel in $kernels; do
	from=$(sh "$top/test/vm/kernel.sh" --from "$kernel")
	from="${from%% *}, ${from#* }"
	if known "$kernel"; then
		echo "| $kernel | $release | $from $(cells)"
	else
		echo "| $kernel | (not fetched: kernels.sh --fetch) | $from | | | | | |"
	fi
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
# shellcheck disable=SC2016 # jq's
measured '
	def one: . * 10 | round / 10 | tostring | if test("[.]") then . else . + ".0" end;
	map(select(.op == "syscall" and .cpu == "nohz_full" and (.gate == "vtime" or .gate == "none")))
	| (.[] | select(.variant == "stock") | .insns) as $stock
	| ("jmp", "call", "klp") as $mechanism
	| map(select(.mechanism == $mechanism)) as $rows
	| select($rows | length > 0)
	| def cell($variant): $rows[] | select(.variant == $variant) | .insns
		| "\(one) (\(if . > $stock then "+" else "" end)\((. - $stock) * 100 / $stock | one) %)";
	"| \($kernel) | \($stock | one) | \($mechanism) | \(cell("null")) | \(cell("exact")) | \(cell("jiffy")) |"
'

cat <<'EOT'

## A timer wake-up, as cyclictest makes it

`make bench KERNEL=... OPS=sleep`: `clock_nanosleep` of a SCHED_FIFO 95 task on
the nohz_full CPU, instructions per cycle: the median of the runs, and their
spread. Accounting: what vtime, PSI, redirects and gates take of it, by symbol.
The timer stays on the task's CPU (`kernel.timer_migration=0`).

| `KERNEL` | gate | stock | exact | mechanism | accounting, stock | exact |
|---|---|---|---|---|---|---|
EOT
# shellcheck disable=SC2016 # jq's
measured '
	def accounting: [.parts[]?[]?] | add // 0 | round;
	def cell: "\(.insns | round) (spread \(.spread | round))";
	map(select(.op == "sleep" and .cpu == "nohz_full" and .depth == 0 and .mechanism != "klp"))
	| (.[] | select(.variant == "stock")) as $stock
	| .[] | select(.variant == "exact" and .parts)
	| "| \($kernel) | \(.gate) | \($stock | cell) | \(cell) | \(.mechanism) | \($stock | accounting) | \(accounting) |"
'

cat <<'EOT'

PSI: [psi.md](psi.md).
EOT
