// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two threads of one process under SCHED_FIFO 98 on one CPU, yielding to each
 * other: each sched_yield() is one context switch.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "bench.h"

#define PRIORITY 98

static pthread_t partner;
static atomic_bool stopping;

static void *yield_until_stopped(void *unused)
{
	(void)unused;
	while (!atomic_load_explicit(&stopping, memory_order_relaxed))
		raw_syscall(SYS_sched_yield, 0, 0, 0, 0);
	return NULL;
}

/* The partner inherits CPU, policy and priority. */
static void start(void)
{
	be_fifo(PRIORITY);
	atomic_store(&stopping, 0);
	if (pthread_create(&partner, NULL, yield_until_stopped, NULL))
		die("cannot create a thread");
}

/*
 * One yield here is two switches: there and, by the partner's yield, back. (An
 * odd number makes one more.)
 */
static void run(uint64_t iterations)
{
	uint64_t i;

	for (i = 0; i < iterations; i += 2)
		raw_syscall(SYS_sched_yield, 0, 0, 0, 0);
}

static void stop(void)
{
	atomic_store(&stopping, 1);
	pthread_join(partner, NULL);
}

const struct op op_switch = {
	.name = "switch",
	.what = "two threads yielding under SCHED_FIFO 98; a context switch",
	.iterations = 6000,
	.start = start,
	.run = run,
	.stop = stop,
};
