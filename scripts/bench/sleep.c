// SPDX-License-Identifier: GPL-2.0-only
/*
 * cyclictest's loop: SCHED_FIFO 95, clock_nanosleep() to absolute times. An
 * iteration is one such sleep: into idle, the timer interrupt, and back. Where
 * cyclictest adds a millisecond to the time before, the time is set anew here,
 * some milliseconds ahead: in an emulated machine, which is slow and stands still
 * while its host does something else, it would else lie in the past.
 *
 * With kernel.timer_migration=1, a nohz_full CPU leaves the timer to a
 * housekeeping CPU. The sleeper, woken from there, then spins until the other
 * CPU is done with the timer: a wait, so the number of instructions varies, by
 * thousands. Set it to 0 before, as is usual for real-time work.
 */
#include <sys/syscall.h>
#include <time.h>

#include "bench.h"

#define PRIORITY 95
#define SETTLE_S 2
#define INTERVAL_NS 3000000
#define SECOND_NS 1000000000

static void start(void)
{
	struct timespec settle = { .tv_sec = SETTLE_S };

	/*
	 * The process came as an ordinary task, for which the scheduler's fair
	 * server (6.12 and later) has set a timer, up to a second ahead. While
	 * it is there, arming another takes longer.
	 */
	be_fifo(PRIORITY);
	nanosleep(&settle, NULL);
}

static void run(uint64_t iterations)
{
	struct timespec next;

	while (iterations--) {
		clock_gettime(CLOCK_MONOTONIC, &next);
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
	.what = "clock_nanosleep() to 3 ms ahead under SCHED_FIFO 95; a sleep",
	.iterations = 100,
	.start = start,
	.run = run,
};
