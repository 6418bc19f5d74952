#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/leanacct: what it says and how it ends, and what root alone may do.
# shellcheck source=test/cases/lib.sh
. /cases/lib.sh

# run WORDS...: what it said, then "rc=N".
run()
{
	said=$(leanacct "$@" 2>&1)
	echo "$said
rc=$?"
}

# run_as_user WORDS...: the same without root.
run_as_user()
{
	said=$(su user -c "$*" 2>&1)
	echo "$said
rc=$?"
}

mkdir -p /etc
grep -q '^user:' /etc/passwd 2>/dev/null || echo 'user:x:1000:1000::/:/bin/sh' >>/etc/passwd

like "without the module: the way out" "$(run status)" 'the module is not loaded: modprobe leanacct'
like "with exit status 1" "$(run status)" '^rc=1$'
like "no words: usage" "$(run)" '^usage: '
like "with exit status 129" "$(run)" '^rc=129$'
like "a wrong command: 129" "$(run bogus)" '^rc=129$'
like "set without a variant: 129" "$(run set vtime)" '^rc=129$'
like "help: 0" "$(run help)" '^rc=0$'
like "not root: said" "$(run_as_user leanacct status)" 'must be root'
like "not root: 1" "$(run_as_user leanacct set vtime exact)" '^rc=1$'

load
is "status is the file" "$(leanacct status)" "$(cat "$leanacct/status")"
is "set shows before and after" "$(leanacct set vtime exact)" \
"before: vtime stock - off
after:  vtime exact $(mechanism) on"
like "an unknown gate is named, and those that there are" "$(run set bogus exact)" \
	"no gate 'bogus'; there are: vtime"
like "a wrong variant: the kernel's own words" "$(run set vtime bogus)" \
	'vtime: bogus refused: .*no variant of that name; there are: '
like "with exit status 1" "$(run set vtime bogus)" '^rc=1$'
is "and nothing changed" "$(variant)" exact

umount /sys/kernel/debug
like "debugfs not mounted: the way out" "$(run status)" 'debugfs is not mounted: mount -t debugfs'
ok "mount it again" mount -t debugfs debugfs /sys/kernel/debug

for file in status mechanism vtime/variant vtime/counters vtime/functions; do
	like "a user cannot read $file" "$(run_as_user cat "$leanacct/$file")" 'ermission denied'
done
like "nor read the parameter" \
	"$(run_as_user cat /sys/module/leanacct/parameters/vtime)" 'ermission denied'

# A module for another kernel, by its vermagic (the version itself counts only
# where symbol versions do not).
cp "$leanacct_modules/leanacct_klp.ko" other.ko
at=$(strings -t d other.ko | awk '$2 ~ /^vermagic=/ { print $1 + index($0, " SMP ") - index($0, "vermagic=") + 1 }')
printf XMP | dd of=other.ko bs=1 seek="$at" conv=notrunc 2>/dev/null
log_mark
like "a module built for another kernel is refused" "$(insmod other.ko 2>&1)" \
	'nvalid module format|xec format'
like "the log names both" "$(log_since)" 'version magic .* XMP .* should be .* SMP '
rm other.ko

finish
