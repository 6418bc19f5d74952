# SPDX-License-Identifier: GPL-2.0-only
#
# The totals of TAP files, and what failed or was skipped:
#
#	awk -f test/vm/summary.awk FILE...
#
# A failure is followed by the first comments behind it, which say why. The last line
# is `N passed, N failed, N skipped`. A file without a plan,
# with another number of tests than planned, or that bailed out counts as one
# failure. Exit 1 when anything failed or nothing ran.

FNR == 1 {
	close_file()
	file = FILENAME == "" ? "(stdin)" : FILENAME
	planned = ""
	ran = 0
}

{ sub(/\r$/, "") }

/^#/ && why > 0 {
	print "  " $0
	why--
	next
}

{ why = 0 }

/^1\.\.[0-9]+/ {
	planned = substr($1, 4) + 0
	if (planned == 0 && match(tolower($0), /# *skip */))
		skip(substr($0, RSTART + RLENGTH), file)
}

/^ok([ \t]|$)/ {
	ran++
	if (match(tolower($0), /# *skip */)) {
		reason = substr($0, RSTART + RLENGTH)
		skip(reason, name(substr($0, 1, RSTART - 1)))
	} else {
		passed++
	}
}

/^not ok([ \t]|$)/ {
	ran++
	fail(name($0))
	why = 8
}

/^Bail out!/ { fail(file ": " $0) }

END {
	close_file()
	for (i = 1; i < ARGC; i++)
		if (ARGV[i] !~ /^[a-z_]+=/ && !(ARGV[i] in seen))
			fail(ARGV[i] ": empty, so no plan")
	print passed + 0 " passed, " failed + 0 " failed, " skipped + 0 " skipped"
	exit failed || !(passed + skipped)
}

function name(line)
{
	sub(/^(not )?ok[ \t]*[0-9]*[ \t]*(- )?/, "", line)
	sub(/[ \t]+$/, "", line)
	return stream() ": " line
}

function stream(of)
{
	of = file
	sub(/^.*\//, "", of)
	sub(/\.tap$/, "", of)
	return of
}

function skip(reason, what)
{
	skipped++
	print "skipped: " what (reason != "" ? ": " reason : "")
}

function fail(what)
{
	failed++
	print "failed: " what
}

function close_file()
{
	if (file == "")
		return
	seen[file] = 1
	if (planned == "")
		fail(file ": no plan")
	else if (planned != ran)
		fail(file ": planned " planned " tests, ran " ran)
	file = ""
}
