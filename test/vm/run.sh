#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Boot a Debian kernel with the module in QEMU (TCG, so no KVM is needed), run
# cases in it, and print TAP 13. Cases that ask for the same boot share one.
#
# A case is a POSIX sh script that runs in the guest and prints TAP of its own
# (test/cases/lib.sh helps). Its header may say
#	# append: WORDS		the words of this boot instead of nohz_full=1 and
#				its company (none: an ordinary boot)
#	# tcg: single		one thread for all CPUs: for cases that patch text under
#				load. With a thread per CPU, QEMU 10.0.2 can go on to
#				run a breakpoint that is no longer there (Oops: int3),
#				some time in a thousand changes, without our module too
#	# cpus: 2		it looks at times, and wants two CPUs of this machine
#				for itself (default 1: another VM may run beside)
#	# timeout: SECONDS	how long it may take (default 60)
#
# For every boot N, DIR has boot-N.log (the kernel's console), boot-N.result
# (what the cases said, as they said it) and boot-N.cmdline.
set -eu

usage()
{
	cat <<'USAGE'
usage: run.sh KERNEL [OPTION...] [CASE...]

KERNEL as kernel.sh knows it. CASE is the name of a file in test/cases/ without
its .sh, or a path (anything with a slash); all of test/cases/ by default.

  --append WORDS   put WORDS behind the kernel command line of every boot
  --qemu-arg ARG   hand ARG to QEMU (once a word: --qemu-arg -plugin --qemu-arg FILE)
  --out DIR        keep logs and results in DIR (default: below build/vm/, kept
                   only when something failed)
  --quick          let the long cases do less (they look for /cases/quick)
  --cpus 1|2       only the cases that want so many CPUs of this machine
  --no-module      do not build the module first; take what is there

environment:
  QEMU=COMMAND     take this QEMU, not the qemu-system-x86_64 of the PATH

Exit status: 0 all passed, 1 something failed, 129 usage.

examples:
  run.sh 6.12 boot
  prove -e 'test/vm/run.sh 6.12' test/cases/*.sh
  run.sh 6.12 --qemu-arg -plugin --qemu-arg build/insn.so --out build/bench ./guest.sh
USAGE
}

nohz='nohz_full=1 rcu_nocbs=1 isolcpus=domain,1'
base='console=ttyS0 quiet mitigations=off nokaslr panic=-1 oops=panic panic_on_warn=1 tsc=reliable'
case_seconds=60
boot_seconds=120	# from power-on to power-off, beside the cases

# What no log of a good run has. ("stall" as a word: RCU's, not "installed".)
bad_lines='BUG:|WARNING:|Oops|Call Trace|Kernel panic|\] psi:|INFO: task|(^|[^a-z])stall|lockup|LOCKUP|possible recursive|circular locking|general protection|unreferenced object'

die()
{
	echo "run.sh: $*" >&2
	exit 1
}

top=$(cd "$(dirname "$0")/../.." && pwd)
: "${LEANACCT_BUILD:=$top/build}"
export LEANACCT_BUILD
: "${QEMU:=qemu-system-x86_64}"

# The extra QEMU arguments are kept one a line: run.sh has no other list.
append='' qemu_args='' out='' module=1 quick='' cpus='' kernel='' cases=''
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	--append | --qemu-arg | --out | --cpus)
		if [ $# -lt 2 ]; then
			echo "run.sh: $1 wants a value" >&2
			usage >&2
			exit 129
		fi
		case $1 in
		--append)	append="$append $2" ;;
		--qemu-arg)	qemu_args="$qemu_args$2
" ;;
		--out)		out=$2 ;;
		--cpus)		cpus=$2 ;;
		esac
		shift
		;;
	--no-module)	module= ;;
	--quick)	quick=1 ;;
	-*)
		echo "run.sh: unknown option '$1'" >&2
		usage >&2
		exit 129
		;;
	*)
		if [ -z "$kernel" ]; then
			kernel=$1
		else
			cases="$cases$1
"
		fi
		;;
	esac
	shift
done
if [ -z "$kernel" ]; then
	usage >&2
	exit 129
fi
if [ -z "$cases" ]; then
	cases=$(find "$top/test/cases" -name '*.sh' ! -name lib.sh | LC_ALL=C sort)
fi

work=$(mktemp -d)
qemu_pid=''

# Also when a signal or an error ends the run in the middle.
# shellcheck disable=SC2317 # the trap calls it
clean_up()
{
	status=$?
	if [ -n "$qemu_pid" ]; then
		kill "$qemu_pid" 2>/dev/null || :
	fi
	exec 3>&-
	wait
	rm -rf "$work"
	exit "$status"
}
trap clean_up EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

# `NAME SECONDS PATH APPEND...` a line, for every case.
echo "$cases" | while read -r name; do
	case $name in
	'')	continue ;;
	*/*)	path=$name ;;
	*)	path=$top/test/cases/$name.sh ;;
	esac
	[ -f "$path" ] || die "no such case: $path"
	[ "${path##*/}" != lib.sh ] || die "$path: a case cannot be called lib.sh, the library is"
	wanted=1
	! grep -q '^# cpus: 2' "$path" || wanted=2
	[ "${cpus:-$wanted}" = $wanted ] || continue
	words=$nohz
	if grep -q '^# append:' "$path"; then
		words=$(sed -n 's/^# append:[ 	]*//p' "$path" | head -n 1)
	fi
	thread=multi
	! grep -q '^# tcg: single' "$path" || thread=single
	seconds=$(sed -n 's/^# timeout: *\([0-9]*\).*/\1/p' "$path" | head -n 1)
	echo "$(basename "$path" .sh) ${seconds:-$case_seconds} $path $thread $words"
done >"$work/cases"
again=$(cut -d ' ' -f 1 "$work/cases" | sort | uniq -d)
[ -z "$again" ] || die "two cases of one name: $again"
cut -d ' ' -f 4- "$work/cases" | awk '!seen[$0]++' >"$work/boots"

release=$(sh "$top/test/vm/kernel.sh" "$kernel")

# QEMU 7.2 keeps a stale translation of the breakpoint through which 6.1 patches
# its text, and hangs when the other CPU runs there meanwhile.
qemu_version=$("$QEMU" --version 2>/dev/null |
	sed -n 's/.*version \([0-9][0-9.]*\).*/\1/p')
[ -n "$qemu_version" ] ||
	die "$QEMU does not run here: test/vm/packages.sh installs it"
case $release in
6.1.*)	[ "${qemu_version%%.*}" -ge 10 ] ||
		die "QEMU $qemu_version hangs Linux 6.1 when text is patched under load;" \
			"10 is needed: test/vm/packages.sh installs it, QEMU= names another" ;;
esac

[ -z "$module" ] || sh "$top/test/vm/module.sh" "$kernel" >/dev/null
initramfs=$(sh "$top/test/vm/guest.sh" "$release")

keep=$out
if [ -z "$out" ]; then
	mkdir -p "$LEANACCT_BUILD/vm"
	out=$(mktemp -d "$LEANACCT_BUILD/vm/$release-XXXXXX")
fi
mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -f "$out"/boot-*

# boot N THREAD WORDS: run the cases that want these, print their TAP lines.
boot()
{
	number=$1
	thread=${2%% *}
	words=${2#"$thread"}
	words=${words# }
	wanted=$2
	log=$out/boot-$number.log
	result=$out/boot-$number.result
	list=$work/root/cases.list

	rm -rf "$work/root"
	mkdir -p "$work/root/cases"
	cp "$top/test/cases/lib.sh" "$work/root/cases/"
	[ -z "$quick" ] || : >"$work/root/cases/quick"
	while read -r name seconds path rest; do
		[ "$rest" = "$wanted" ] || continue
		cp "$path" "$work/root/cases/$name.sh"
		echo "$name $seconds"
	done <"$work/cases" >"$list"
	limit=$(awk -v s="$boot_seconds" '{ s += $2 + 10 } END { print s }' "$list")
	{
		cat "$initramfs"
		(cd "$work/root" && find . | cpio -o -H newc -R 0:0 --quiet)
	} >"$work/initrd"

	cmdline="$base $words$append"
	echo "$cmdline" >"$out/boot-$number.cmdline"
	: >"$log"
	: >"$result"
	echo "# boot $number: $release, ${words:-no nohz_full}: $(
		awk '{ printf "%s%s", (NR > 1 ? ", " : ""), $1 }' "$list")"

	set -- -accel "tcg,thread=$thread" -cpu max -smp 2 -m 1G -no-reboot \
		-nodefaults -no-user-config -display none \
		-serial "file:$log" -serial "file:$result" \
		-kernel "$LEANACCT_BUILD/kernels/$release/vmlinuz" \
		-initrd "$work/initrd" -append "$cmdline"
	while read -r arg; do
		[ -z "$arg" ] || set -- "$@" "$arg"
	done <"$work/qemu-args"

	start=$(date +%s)
	timeout --foreground -k 5 "$limit" "$QEMU" "$@" \
		</dev/null >&2 3>&- &
	qemu_pid=$!
	rc=0
	wait "$qemu_pid" || rc=$?
	qemu_pid=''
	took=$(($(date +%s) - start))

	awk -v list="$list" -v console="$log" -f "$top/test/vm/tap.awk" "$result"
	verdict "$number" "$rc"
	echo "# boot $number took $took s"
}

# What one boot as a whole is judged by: it came to its end, and its log.
verdict()
{
	bad=$(grep -nE "$bad_lines" "$log" | head -n 5 || :)
	if [ "$2" -eq 124 ] || [ "$2" -eq 137 ]; then
		why="the guest hung; ended after $limit s"
	elif [ "$2" -ne 0 ]; then
		why="QEMU ended with status $2"
	elif ! grep -q '^# guest done' "$result" ||
		! grep -q 'leanacct-guest: done' "$log"; then
		why="the guest ended before its cases did"
	elif [ -n "$bad" ]; then
		why="the kernel log has what it must not"
	else
		echo "ok - boot $1: ran to its end, kernel log clean"
		return 0
	fi
	echo "not ok - boot $1: $why"
	[ -z "$bad" ] || echo "$bad" | tr -d '\r' | sed 's/^/# /'
	echo "# log: $log"
}

printf '%s' "$qemu_args" >"$work/qemu-args"

# The boots write to a pipe, not in a pipeline: so an error here ends the run
# (number.awk then prints no plan), and a signal reaches the trap at once.
mkfifo "$work/tap"
awk -f "$top/test/vm/number.awk" <"$work/tap" &
number_pid=$!
exec 3>"$work/tap"
echo "# QEMU $qemu_version" >&3
number=0
while read -r words; do
	number=$((number + 1))
	boot "$number" "$words" >&3
done <"$work/boots"
echo "end of run" >&3
exec 3>&-
rc=0
wait "$number_pid" || rc=1

[ -n "$keep" ] || [ $rc -ne 0 ] || rm -rf "$out"
exit $rc
