/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LEANACCT_BENCH_H
#define LEANACCT_BENCH_H

#include <stdint.h>

/**
 * struct op - one operation that is measured; one file each
 * @name:	its sub-command
 * @what:	what is done, and what one iteration is; for the usage text
 * @iterations:	a run's length unless -n says otherwise: about a tenth of a
 *		second in an emulated machine
 * @start:	make ready (helper threads, processes), on the measured CPU;
 *		may be NULL
 * @run:	do it so many times. This is what is measured
 * @stop:	the reverse of start, may be NULL
 */
struct op {
	const char *name;
	const char *what;
	uint64_t iterations;
	void (*start)(void);
	void (*run)(uint64_t iterations);
	void (*stop)(void);
};

extern const struct op op_syscall, op_switch, op_wake, op_wakehog, op_cputime, op_tick, op_sleep;

/* Print what failed, with errno's reason, and exit 1. */
void die(const char *what) __attribute__((noreturn));

/* Put the calling thread under SCHED_FIFO, or die saying what it takes. */
void be_fifo(int priority);

/* A system call with nothing around it. Returns what the kernel returned. */
static inline long raw_syscall(long number, long a, long b, long c, long d)
{
	register long r10 asm("r10") = d;
	long ret;

	asm volatile("syscall"
		     : "=a"(ret)
		     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
		     : "rcx", "r11", "memory");
	return ret;
}

#endif
