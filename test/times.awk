# SPDX-License-Identifier: GPL-2.0-only
#
# How long the streams of run.sh took, a line a kernel (or what else they are
# about, the word before the last dash of their name), from their last lines
# `# NAME took N s`:
#
#	awk -v all=SECONDS -f times.awk FILE...

/^# [^ ]+ took [0-9]+ s$/ {
	what = part = $2
	if (!sub(/-[a-z]+$/, "", what))
		part = ""
	sub(/^.*-/, "", part)
	if (!(what in line))
		order[++count] = what
	line[what] = line[what] (part == "" ? "" : " " part) " " $4 " s,"
}

END {
	for (i = 1; i <= count; i++)
		print "# " order[i] ":" substr(line[order[i]], 1, length(line[order[i]]) - 1)
	print "# all took " all " s"
}
