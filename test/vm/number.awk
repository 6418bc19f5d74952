# SPDX-License-Identifier: GPL-2.0-only
#
# Number the TAP lines of all boots of a run and print the plan behind them.
# Exit 1 when a test failed, or when the input does not end in the line
# `end of run` (then whatever made it died, and there is no plan either).

BEGIN { print "TAP version 13" }

/^ok - /	{ sub(/^ok/, "ok " ++count) }
/^not ok - /	{ sub(/^not ok/, "not ok " ++count); failed = 1 }

$0 == "end of run" {
	complete = 1
	next
}

{
	print
	fflush()
}

END {
	if (complete)
		print "1.." count + 0
	exit failed || !complete || !count
}
