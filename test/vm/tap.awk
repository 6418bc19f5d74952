# SPDX-License-Identifier: GPL-2.0-only
#
# Turn what one boot said on ttyS1 into TAP lines without numbers (number.awk
# gives them), each led by its case's name. A case that hung, died, gave no
# plan or another number of tests than planned gets a `not ok` of its own.
#
#	awk -v list=FILE -v console=FILE -f tap.awk RESULT
#
# list: the cases that should have run, `NAME SECONDS` a line.
# console: the path that a failure is to name.

BEGIN {
	while ((getline line < list) > 0) {
		split(line, word)
		order[++count] = word[1]
		seconds[word[1]] = word[2]
	}
}

{ sub(/\r$/, "") }

/^# case [^ ]+ begin$/ {
	current = $3
	begun[current] = 1
	planned = bailed = skipped = ""
	ran = failed = 0
	next
}

/^# case [^ ]+ end rc=[0-9]+$/ && $3 == current {
	rc = substr($5, 4) + 0
	if (rc == 143 || rc == 137)
		fail(current, "timed out after " seconds[current] " s")
	else if (bailed != "")
		fail(current, "bailed out: " bailed)
	else if (skipped != "" && ran == 0 && rc == 0)
		print "ok - " current " # SKIP " skipped
	else if (planned == "")
		fail(current, "no plan (exit status " rc ")")
	else if (planned != ran || ran == 0)
		fail(current, "planned " planned " tests, ran " ran " (exit status " rc ")")
	else if (rc != 0 && !failed)
		fail(current, "exit status " rc)
	current = ""
	next
}

/^# guest done$/ || /^$/ || /^TAP version / { next }

current == "" {	# init itself has something to say
	if (/^# /)
		print
	next
}

/^1\.\.[0-9]+/ {
	planned = substr($1, 4) + 0
	if (planned == 0 && match(tolower($0), /# *skip */)) {
		skipped = substr($0, RSTART + RLENGTH)
		if (skipped == "")
			skipped = "no reason given"
	}
	next
}

/^(not )?ok([ \t]|$)/ {
	ran++
	bad = /^not /
	sub(/^(not )?ok[ \t]*[0-9]*[ \t]*(- )?/, "")
	print (bad ? "not ok" : "ok") " - " current ": " $0
	failed += bad
	next
}

/^Bail out!/ {
	bailed = substr($0, 10)
	sub(/^ +/, "", bailed)
	if (bailed == "")
		bailed = "no reason given"
	next
}

{
	sub(/^# ?/, "")
	print "# " current ": " $0
}

END {
	if (current != "")
		fail(current, "the guest died or hung in this case")
	for (i = 1; i <= count; i++)
		if (!(order[i] in begun))
			fail(order[i], "not run, the guest ended before it")
}

function fail(name, why)
{
	print "not ok - " name ": " why
	print "# log: " console
}
