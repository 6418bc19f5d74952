// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the raw times of a busy thread over and over, and see whether they go
 * back or away from sum_exec_runtime.
 *
 *	readers own CPU SECONDS
 *		the thread reads its own, between short stretches of user time
 *	readers remote CPU SECONDS READER_CPU
 *		it is busy with system calls and user time on CPU; another thread
 *		reads its times from READER_CPU
 *
 * At the end, a line each:
 *
 *	tick_ns=4000000
 *	reads=81234			readings made
 *	tight=80011			of them, not interrupted: these are judged
 *	utime_back_ns=0			the longest step back of utime
 *	sum_back_ns=0			and of utime + stime
 *	gap_min_ns=-3991234		utime + stime - sum_exec_runtime, against what it was
 *	gap_max_ns=2312		at first: least and most
 *
 * The kernel shows of what it holds, below a tick per state, only what belongs
 * to the state that the thread is in; so a gap down to minus one tick, and for
 * a remote reader a step back of as much, is the kernel's own.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cputime.h"

/* Wider apart than this, the two readings around a sum tell nothing. */
#define TIGHT_NS 100000

struct seen {
	struct times last;
	int64_t base; /* a gap that counts as none */
	int64_t utime_back, sum_back, gap_min, gap_max;
	long reads, tight;
};

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void look(struct seen *s, pid_t tid)
{
	struct times t = read_times_once(tid);

	if (s->reads++) {
		s->utime_back = most(s->utime_back, s->last.utime - t.utime);
		s->sum_back = most(s->sum_back, s->last.sum - t.sum);
	}
	s->last = t;
	if (t.window <= TIGHT_NS) {
		int64_t gap = t.sum - t.exec - s->base;

		if (!s->tight++)
			s->gap_min = s->gap_max = gap;
		s->gap_min = least(s->gap_min, gap);
		s->gap_max = most(s->gap_max, gap);
	}
}

static void read_own(struct seen *s, double per_ns, long seconds)
{
	int64_t end = clock_ns(CLOCK_MONOTONIC_RAW) + seconds * 1000000000;
	uint64_t step = 0;
	struct times t;

	s->base = settled_gap(&t, per_ns);
	while (clock_ns(CLOCK_MONOTONIC_RAW) < end) {
		look(s, 0);
		/* 0 to 50 us, in no rhythm with the tick */
		step = (step + 7919) % 50000;
		spin_until(__rdtsc() + step * per_ns);
	}
}

struct busy {
	int cpu;
	atomic_int tid;
	atomic_bool stop;
};

/* A few microseconds in each state, the proportion drifting. */
static void *be_busy(void *arg)
{
	struct busy *b = arg;
	unsigned int n = 0;

	pin(b->cpu);
	b->tid = syscall(SYS_gettid);
	while (!b->stop) {
		for (unsigned int i = 0; i < n % 64; i++)
			syscall(SYS_getppid);
		spin_until(__rdtsc() + (n % 97) * 1000);
		n++;
	}
	return NULL;
}

static void read_remote(struct seen *s, long cpu, long seconds, long reader_cpu)
{
	struct busy b = { .cpu = cpu };
	struct times t;
	pthread_t thread;
	int64_t end;

	if (pthread_create(&thread, NULL, be_busy, &b))
		errx(1, "cannot create a thread");
	pin(reader_cpu);
	while (!b.tid)
		usleep(1000);
	usleep(20000);
	t = read_times(b.tid);
	s->base = t.sum - t.exec;
	end = clock_ns(CLOCK_MONOTONIC_RAW) + seconds * 1000000000;
	while (clock_ns(CLOCK_MONOTONIC_RAW) < end)
		look(s, b.tid);
	b.stop = true;
	pthread_join(thread, NULL);
}

static int usage(void)
{
	fputs("usage: readers own CPU SECONDS\n"
	      "       readers remote CPU SECONDS READER_CPU\n",
	      stderr);
	return 129;
}

int main(int argc, char **argv)
{
	struct seen s = { 0 };
	long cpu, seconds;

	if (!(argc == 4 && !strcmp(argv[1], "own")) && !(argc == 5 && !strcmp(argv[1], "remote")))
		return usage();
	cpu = number(argv[2], "CPU", 0, CPU_SETSIZE - 1);
	seconds = number(argv[3], "SECONDS", 1, 3600);
	if (argc == 4) {
		pin(cpu);
		read_own(&s, tsc_per_ns(), seconds);
	} else {
		read_remote(&s, cpu, seconds, number(argv[4], "READER_CPU", 0, CPU_SETSIZE - 1));
	}
	printf("tick_ns=%" PRId64 "\n", jiffy_ns());
	printf("reads=%ld\n", s.reads);
	printf("tight=%ld\n", s.tight);
	printf("utime_back_ns=%" PRId64 "\n", s.utime_back);
	printf("sum_back_ns=%" PRId64 "\n", s.sum_back);
	printf("gap_min_ns=%" PRId64 "\n", s.gap_min);
	printf("gap_max_ns=%" PRId64 "\n", s.gap_max);
	return 0;
}
