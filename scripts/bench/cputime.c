// SPDX-License-Identifier: GPL-2.0-only
/* A thread reading its own CPU time, which no vDSO can answer. */
#include <sys/syscall.h>
#include <time.h>

#include "bench.h"

static void run(uint64_t iterations)
{
	struct timespec now;

	while (iterations--)
		raw_syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&now, 0, 0);
}

const struct op op_cputime = {
	.name = "cputime",
	.what = "clock_gettime(CLOCK_THREAD_CPUTIME_ID); a call",
	.iterations = 10000,
	.run = run,
};
