/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the loads share: the TSC, pinning, and a thread's times as the kernel
 * holds them.
 *
 * getrusage(), times() and /proc scale utime and stime to sum_exec_runtime
 * (cputime_adjust() in kernel/sched/cputime.c), which would hide every lost
 * nanosecond. The CPU clocks of a thread do not:
 *
 *	CPUCLOCK_VIRT	utime			by task_cputime()
 *	CPUCLOCK_PROF	utime + stime		by task_cputime()
 *	CPUCLOCK_SCHED	sum_exec_runtime	up to now
 *
 * A thread that reads its own times on a nohz_full CPU is in the kernel while
 * it does, and then the kernel does not show the user time that has not yet
 * come to a tick (vtime->utime < TICK_NSEC). settle() gets that out of the way.
 */
#ifndef CPUTIME_H
#define CPUTIME_H

#include <err.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define CPUCLOCK_PROF 0
#define CPUCLOCK_VIRT 1
#define CPUCLOCK_SCHED 2

/* The clock id of a thread of this process; see clock_getcpuclockid(3). */
static inline clockid_t thread_clock(pid_t tid, int which)
{
	return (clockid_t)((~(unsigned int)tid << 3) | 4 | which);
}

static inline int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	if (clock_gettime(id, &t))
		err(1, "clock_gettime(%d)", id);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static inline int64_t jiffy_ns(void)
{
	struct timespec t;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &t))
		err(1, "clock_getres(CLOCK_MONOTONIC_COARSE)");
	return t.tv_nsec;
}

/* The TSC's rate against the clock that the kernel derives from it. */
static inline double tsc_per_ns(void)
{
	int64_t ns = clock_ns(CLOCK_MONOTONIC_RAW), end = ns + 50000000, now;
	uint64_t tsc = __rdtsc();

	do {
		now = clock_ns(CLOCK_MONOTONIC_RAW);
	} while (now < end);
	return (double)(__rdtsc() - tsc) / (now - ns);
}

/* PAUSE: an emulator that runs all CPUs in one thread goes on to the next one. */
static inline void spin_until(uint64_t tsc)
{
	while ((int64_t)(__rdtsc() - tsc) < 0)
		_mm_pause();
}

/*
 * Spin in user mode for so long that the kernel hands on what it holds of the
 * user time when the spin ends: more than a tick. An interrupt in its last part
 * leaves the stretch behind it unshown; settled_gap() is for those who mind, and
 * @step is for it: where ticks interrupt, not always at the same place.
 */
static inline void settle(double per_ns, int step)
{
	spin_until(__rdtsc() + (uint64_t)((1.25 + 0.15 * step) * jiffy_ns() * per_ns));
}

static inline void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "cannot run on CPU %d", cpu);
}

/**
 * struct times - a thread's times, in ns
 * @utime:	as held by the kernel, not scaled
 * @sum:	utime + stime, likewise
 * @exec:	sum_exec_runtime when @sum was read: the middle of a reading before
 *		and one after it
 * @window:	how far these two were apart
 */
struct times {
	int64_t utime, sum, exec, window;
};

static inline struct times read_times_once(pid_t tid)
{
	struct times t;
	int64_t after;

	t.utime = clock_ns(thread_clock(tid, CPUCLOCK_VIRT));
	t.exec = clock_ns(thread_clock(tid, CPUCLOCK_SCHED));
	t.sum = clock_ns(thread_clock(tid, CPUCLOCK_PROF));
	after = clock_ns(thread_clock(tid, CPUCLOCK_SCHED));
	t.window = after - t.exec;
	t.exec += t.window / 2;
	return t;
}

/* The reading with the narrowest window of a few: others were interrupted. */
static inline struct times read_times(pid_t tid)
{
	struct times best = read_times_once(tid);

	for (int i = 0; i < 15; i++) {
		struct times t = read_times_once(tid);

		if (t.window < best.window)
			best = t;
	}
	return best;
}

/*
 * utime + stime - sum_exec_runtime of the calling thread. What the kernel holds
 * back can only lower the sum, so the highest of a few is the truest. The last
 * reading is left in @t.
 */
static inline int64_t settled_gap(struct times *t, double per_ns)
{
	int64_t gap = INT64_MIN;

	for (int i = 0; i < 4; i++) {
		settle(per_ns, i);
		*t = read_times(0);
		if (t->sum - t->exec > gap)
			gap = t->sum - t->exec;
	}
	return gap;
}

/* A whole number of an argument, or the end. */
static inline long number(const char *text, const char *what, long min, long max)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end || n < min || n > max)
		errx(129, "%s '%s': not a number from %ld to %ld", what, text, min, max);
	return n;
}

#endif
