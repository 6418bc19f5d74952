// SPDX-License-Identifier: GPL-2.0-only
/*
 * cyclictest's loop: SCHED_FIFO 95, clock_nanosleep() to absolute times a
 * millisecond apart. An iteration is one such sleep: into idle, the timer
 * interrupt, and back.
 *
 * On a nohz_full CPU the timer is taken to a housekeeping CPU when the CPU goes
 * idle. The sleeper, woken from there, then spins in hrtimer_cancel() until the
 * timer's callback is over on the other CPU: a wait, so the number of
 * instructions varies, by thousands. On a housekeeping CPU it does not.
 */
#include <sys/syscall.h>
#include <time.h>

#include "bench.h"

#define PRIORITY 95
#define INTERVAL_NS 1000000
#define SECOND_NS 1000000000

static void start(void)
{
	be_fifo(PRIORITY);
}

static void run(uint64_t iterations)
{
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	while (iterations--) {
		next.tv_nsec += INTERVAL_NS;
		if (next.tv_nsec >= SECOND_NS) {
			next.tv_nsec -= SECOND_NS;
			next.tv_sec++;
		}
		raw_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, (long)&next, 0);
	}
}

const struct op op_sleep = {
	.name = "sleep",
	.what = "clock_nanosleep() every millisecond under SCHED_FIFO 95; a sleep",
	.iterations = 200,
	.start = start,
	.run = run,
};
