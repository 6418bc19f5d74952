// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a counter's lock costs in time, on this machine: a replay in user space of
 * a tree of percpu_counters to which all CPUs add at once, with a batch of old and
 * with a scaled one. For test/lab/batch.sh; the instruction counts of an emulator
 * say nothing of a lock that CPUs fight for.
 *
 *	counters BATCH SCALED DEPTH VALUE [ROUNDS]
 *
 * In turn, ROUNDS times (default 9), a quarter of a second each: a thread on each
 * CPU that this process may use adds VALUE to DEPTH counters, again and again. A
 * line: CPUs, the medians of updates a second with BATCH and with SCALED, and the
 * median of the ratios, pair by pair:
 *
 *	cpus 2 old 25671234 scaled 411098765 ratio 16.0
 *
 * Where all of a round's time is one CPU's, there is nobody to fight with, and what
 * is left is the price of a lock that is free.
 */
#define _GNU_SOURCE
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../programs/median.h"

#define MOST_DEPTH 16
#define MOST_ROUNDS 99
#define ROUND_US 250000

/* As the kernel's: lock and count share a line that all CPUs write. */
struct counter {
	_Alignas(64) atomic_flag lock;
	int64_t count;
};

struct cpu {
	_Alignas(64) int32_t held[MOST_DEPTH];
	uint64_t updates;
	int cpu;
	pthread_t thread;
};

static struct counter tree[MOST_DEPTH];
static struct cpu cpus[CPU_SETSIZE];
static atomic_int running;
static int nr_cpus, depth, value;
static int32_t batch;

static void add(struct counter *c, int32_t *held)
{
	int64_t count = (int64_t)*held + value;

	if (count < batch) {
		*held = count;
		return;
	}
	while (atomic_flag_test_and_set_explicit(&c->lock, memory_order_acquire))
		__builtin_ia32_pause();
	c->count += count;
	*held = 0;
	atomic_flag_clear_explicit(&c->lock, memory_order_release);
}

static void *work(void *arg)
{
	struct cpu *c = arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(c->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "cannot run on CPU %d", c->cpu);
	while (atomic_load_explicit(&running, memory_order_relaxed) == 0)
		sched_yield();
	while (atomic_load_explicit(&running, memory_order_relaxed) == 1) {
		for (int i = 0; i < depth; i++)
			add(&tree[i], &c->held[i]);
		c->updates += depth;
	}
	return NULL;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static double round_of(int32_t with)
{
	uint64_t updates = 0;
	double begin;

	batch = with;
	atomic_store(&running, 0);
	for (int i = 0; i < nr_cpus; i++) {
		cpus[i].updates = 0;
		if (pthread_create(&cpus[i].thread, NULL, work, &cpus[i]))
			errx(1, "cannot start a thread");
	}
	begin = seconds();
	atomic_store(&running, 1);
	usleep(ROUND_US);
	atomic_store(&running, 2);
	for (int i = 0; i < nr_cpus; i++) {
		pthread_join(cpus[i].thread, NULL);
		updates += cpus[i].updates;
	}
	return updates / (seconds() - begin);
}

static long number(const char *text, long most)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end || n < 1 || n > most)
		errx(129, "'%s': not a number from 1 to %ld", text, most);
	return n;
}

int main(int argc, char **argv)
{
	double old[MOST_ROUNDS], scaled[MOST_ROUNDS], ratio[MOST_ROUNDS];
	int32_t few, many;
	cpu_set_t set;
	int rounds;

	if (argc != 5 && argc != 6) {
		fputs("usage: counters BATCH SCALED DEPTH VALUE [ROUNDS]\n", stderr);
		return 129;
	}
	few = number(argv[1], INT32_MAX);
	many = number(argv[2], INT32_MAX);
	depth = number(argv[3], MOST_DEPTH);
	value = number(argv[4], INT32_MAX / 2);
	rounds = argc == 6 ? number(argv[5], MOST_ROUNDS) : 9;
	if (sched_getaffinity(0, sizeof(set), &set))
		err(1, "sched_getaffinity");
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			cpus[nr_cpus++].cpu = i;
	for (int i = 0; i < rounds; i++) {
		old[i] = round_of(few);
		scaled[i] = round_of(many);
		ratio[i] = scaled[i] / old[i];
	}
	printf("cpus %d old %.0f scaled %.0f ratio %.1f\n", nr_cpus, median(old, rounds),
	       median(scaled, rounds), median(ratio, rounds));
	return 0;
}
