# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# What the cases share: TAP, the module's state, the kernel's log. Sourced:
#
#	. /cases/lib.sh
#	plan 3
#	load
#	ok   "leanacct is in"  grep -q '^leanacct ' /proc/modules
#	is   "nothing is redirected at load"  "$(variant)"  stock
#	like "status names the version"  "$(cat "$leanacct/status")"  '^version 1'
#
# The words before the values are the test's name. At exit, however it comes
# about, settings made with `setting` go back and the modules come out.

# shellcheck disable=SC2034 # for the cases
leanacct=/sys/kernel/debug/leanacct
leanacct_modules=/lib/leanacct
leanacct_klp=/sys/kernel/livepatch/leanacct_klp

tap_count=0
tap_failed=0
tap_planned=
tap_restore=
tap_said=/tmp/tap.$$		# what the command of `ok` says
exec 3>&1			# for bail, also from within `ok`

# --- TAP ---------------------------------------------------------------------

plan()
{
	tap_planned=$1
	echo "1..$1"
}

# The plan behind the tests, where their number is not known before.
finish()
{
	plan "$tap_count"
}

# Each line of a text as a comment.
diag()
{
	printf '%s\n' "$*" | sed 's/^/#   /'
}

pass()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1"
}

# fail NAME [WHY...]; false, so that a case can end on it.
fail()
{
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $1"
	shift
	[ $# -eq 0 ] || diag "$*"
	return 1
}

# ok NAME COMMAND...: the command succeeds; what it says is shown when not. It runs
# in this shell, so that `ok NAME setting FILE VALUE` and `ok NAME load` do work.
ok()
{
	tap_name=$1
	shift
	tap_rc=0
	"$@" >"$tap_said" 2>&1 || tap_rc=$?
	if [ $tap_rc -eq 0 ]; then
		pass "$tap_name"
	else
		fail "$tap_name" "status $tap_rc of: $*
$(cat "$tap_said")" || :
	fi
}

# is NAME GOT WANTED: equal strings.
is()
{
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" "got:    $2
wanted: $3" || :
	fi
}

# like NAME GOT PATTERN, unlike NAME GOT PATTERN: some line of GOT matches the
# extended regular expression, or none does.
like()
{
	if printf '%s\n' "$2" | grep -Eq -- "$3"; then
		pass "$1"
	else
		fail "$1" "got:    $2
wanted: /$3/" || :
	fi
}

unlike()
{
	if printf '%s\n' "$2" | grep -Eq -- "$3"; then
		fail "$1" "got:      $2
unwanted: /$3/" || :
	else
		pass "$1"
	fi
}

# between NAME NUMBER LOW HIGH: inclusive; fractions are fine.
between()
{
	if awk -v n="$2" -v low="$3" -v high="$4" \
		'BEGIN { exit !(n ~ /^-?[0-9.]+$/ && n + 0 >= low + 0 && n + 0 <= high + 0) }'
	then
		pass "$1"
	else
		fail "$1" "got $2, wanted $3 to $4" || :
	fi
}

# skip NAME REASON: one test that cannot be made here.
skip()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# The whole case cannot be run here. Before any test, in place of the plan.
skip_all()
{
	echo "1..0 # SKIP $*"
	exit 0
}

# The case cannot go on: a failure.
bail()
{
	echo "Bail out! $*" >&3
	exit 1
}

# --- module ------------------------------------------------------------------

# wait_for SECONDS COMMAND...: until the command succeeds; false when it never did.
wait_for()
{
	wait_tries=$(($1 * 10))
	shift
	while ! "$@" 2>/dev/null; do
		wait_tries=$((wait_tries - 1))
		[ "$wait_tries" -gt 0 ] || return 1
		usleep 100000
	done
}

loaded()
{
	grep -q "^$1 " /proc/modules
}

# load [PARAMETER=VALUE...]; the case ends where it fails.
load()
{
	[ -e "$leanacct_modules/leanacct.ko" ] ||
		bail "no leanacct.ko in the guest: test/vm/module.sh did not build it"
	load_said=$(insmod "$leanacct_modules/leanacct.ko" "$@" 2>&1) ||
		bail "insmod leanacct.ko $*: $load_said; $(dmesg | tail -n 1)"
}

unload()
{
	! loaded leanacct_klp || unload_klp || return 1
	! loaded leanacct || rmmod leanacct
}

klp_settled()
{
	[ "$(cat "$leanacct_klp/transition")" = 0 ]
}

# The livepatch takes over: in, and every task switched.
load_klp()
{
	[ -e "$leanacct_modules/leanacct_klp.ko" ] ||
		bail "no leanacct_klp.ko in the guest: test/vm/module.sh did not build it"
	load_said=$(insmod "$leanacct_modules/leanacct_klp.ko" 2>&1) ||
		bail "insmod leanacct_klp.ko: $load_said; $(dmesg | tail -n 1)"
	wait_for 15 klp_settled || bail "the livepatch transition does not end"
}

# Its directory goes when the last task has switched back; then, a little
# later, the reference on the module.
unload_klp()
{
	[ ! -e "$leanacct_klp/enabled" ] || echo 0 >"$leanacct_klp/enabled"
	wait_for 15 [ ! -e "$leanacct_klp" ] || return 1
	wait_for 5 rmmod leanacct_klp
}

# variant [GATE]: the one in use; the file reads `stock [exact] jiffy`.
variant()
{
	sed -n 's/.*\[\(.*\)\].*/\1/p' "$leanacct/${1:-vtime}/variant"
}

# mechanism: the one in use, jmp or call (or klp, with leanacct_klp in).
mechanism()
{
	sed -n 's/.*(\(.*\)).*/\1/p' "$leanacct/mechanism"
}

# set_variant VARIANT [GATE]: quiet and true, or the error's words and false.
set_variant()
{
	put "$leanacct/${2:-vtime}/variant" "$1"
}

# put FILE WORDS: write; on failure print the error alone ("Invalid argument").
# The shell in the subshell names file and line before it.
put()
{
	put_said=$( (echo "$2" >"$1") 2>&1) && return 0
	printf '%s\n' "$put_said" | sed -n '$s/.*: //p'
	return 1
}

# status_of [GATE]: its line of the status file.
status_of()
{
	awk -v gate="${1:-vtime}" '$1 == gate' "$leanacct/status"
}

# counter COLUMN [ROW] [GATE]: a figure, by its column's name in the header row
# and the first word of its row (a CPU number, or ALL).
counter()
{
	awk -v column="$1" -v row="${2:-ALL}" '
		/^#/ { next }
		!header { for (i = 1; i <= NF; i++) at[$i] = i; header = 1; next }
		$1 == row && column in at { print $at[column]; found = 1 }
		END { exit !found }
	' "$leanacct/${3:-vtime}/counters"
}

# --- settings and log --------------------------------------------------------

# setting FILE VALUE: as `put`, and back to what it was at exit.
setting()
{
	setting_old=$(cat "$1") || return 1
	tap_restore="$1 $setting_old
$tap_restore"
	put "$1" "$2"
}

# log_mark: the log is looked at from here on.
log_mark()
{
	log_marks=$((${log_marks:-0} + 1))
	log_marker="leanacct-guest: mark $$ $log_marks"
	echo "$log_marker" >/dev/kmsg
}

# log_since: the kernel's lines since the mark, without their time stamps.
log_since()
{
	dmesg | sed 's/^\(<[0-9]*>\)\{0,1\}\[ *[0-9.]*\] //' |
		awk -v marker="$log_marker" 'found; $0 == marker { found = 1 }'
}

# log_is NAME LINES [PATTERN]: exactly these lines of the ones that match
# (default: the modules' own) came since the mark.
log_is()
{
	is "$1" "$(log_since | grep -E "${3:-^(leanacct|leanacct_klp):}")" "$2"
}

# --- at exit -----------------------------------------------------------------

tap_exit()
{
	tap_rc=$?
	exec >&3
	trap - EXIT
	trap '' TERM INT
	printf '%s' "$tap_restore" | while read -r file value; do
		put "$file" "$value" || diag "cannot put $file back to $value"
	done
	unload || fail "the modules come out at the end of the case" \
		"$(grep '^leanacct' /proc/modules)" || :
	[ "$tap_failed" -eq 0 ] || [ "$tap_rc" -ne 0 ] || tap_rc=1
	exit "$tap_rc"
}
trap tap_exit EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
