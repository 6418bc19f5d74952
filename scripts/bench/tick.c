// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spinning in user space while the clock ticks. What the kernel spends in that
 * time is the tick, and whatever else interrupts.
 *
 * CLOCK_MONOTONIC_COARSE changes with the tick of the CPU that keeps the time,
 * and the vDSO answers it without a system call. So on that CPU (0, as a rule)
 * an iteration is one tick, exactly. On a nohz_full CPU the tick is off while
 * one task runs: there an iteration is the time between two ticks elsewhere,
 * and the figure is what is left of interruptions.
 *
 * The spin itself is as long as the time between ticks and says nothing: of
 * the counted instructions, those of the kernel are the figure.
 */
#include <time.h>

#include "bench.h"

static void run(uint64_t iterations)
{
	struct timespec now, last;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &last);
	while (iterations) {
		clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
		if (now.tv_nsec == last.tv_nsec && now.tv_sec == last.tv_sec)
			continue;
		last = now;
		iterations--;
	}
}

const struct op op_tick = {
	.name = "tick",
	.what = "spinning in user space; a tick of the timekeeping CPU",
	.iterations = 50,
	.run = run,
};
