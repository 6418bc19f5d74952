/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The arithmetic of vtime's `exact` variant, free of kernel calls: it is
 * compiled into the module and into test/unit/.
 *
 * An epoch is a stretch of one task's time on one CPU over which the kernel
 * has not been asked to account. It is measured twice:
 *
 *	in nanoseconds of sched_clock(), from vtime->starttime	(how much)
 *	in TSC cycles, split at each transition			(whose)
 *
 * One wrapping accumulator holds the cycles spent in the kernel: the TSC is
 * added when the task leaves the kernel, subtracted when it enters it. While
 * the task is in the kernel the accumulator lacks one addition, which is made
 * good by the reader.
 *
 *	TSC	1000	1300	1400	2000		user in 1000..1300 and
 *		  |user	  |sys	  |user	  |		1400..2000: 900 cycles
 *	kernel	  0	 -1300	 +100	 +100		kernel: 100 cycles
 *
 * If sched_clock() says that 500 ns went by from 1000 to 2000, then
 * 500 * 900 / 1000 = 450 ns are the user's and the other 50 ns the kernel's:
 * nothing is rounded away, since one share is what the other leaves.
 */
#ifndef LEANACCT_SPLIT_H
#define LEANACCT_SPLIT_H

#ifdef __KERNEL__
#include <linux/math64.h>
#include <linux/types.h>
#else
#include <stdint.h>
typedef uint64_t u64;
typedef int64_t s64;
#endif

/**
 * struct leanacct_epoch - the cycles of an open epoch
 * @kernel: cycles in the kernel, modulo 2^64; lacks the present TSC while the
 *	    task is in the kernel
 * @start:  TSC at which the epoch began
 */
struct leanacct_epoch {
	u64 kernel;
	u64 start;
};

/**
 * leanacct_epoch_open - begin an epoch
 * @e:		the epoch
 * @tsc:	the TSC now
 * @in_kernel:	whether the task is in the kernel from here on
 */
static inline void leanacct_epoch_open(struct leanacct_epoch *e, u64 tsc, int in_kernel)
{
	e->start = tsc;
	e->kernel = in_kernel ? -tsc : 0;
}

/**
 * leanacct_epoch_cycles - how long the epoch has been
 * @e:	 the epoch
 * @tsc: the TSC now
 *
 * Return: cycles; 0 if the TSC went back.
 */
static inline u64 leanacct_epoch_cycles(const struct leanacct_epoch *e, u64 tsc)
{
	s64 cycles = tsc - e->start;

	return cycles > 0 ? cycles : 0;
}

/**
 * leanacct_mul_div - a * b / c, rounded down, by a 128-bit product
 * @a: any value
 * @b: any value up to @c
 * @c: more than 0
 *
 * The quotient fits since @b <= @c; x86's DIV would fault otherwise.
 */
static inline u64 leanacct_mul_div(u64 a, u64 b, u64 c)
{
#ifdef __x86_64__
	u64 high;

	asm("mulq %[b]\n\tdivq %[c]" : "+a"(a), "=&d"(high) : [b] "rm"(b), [c] "rm"(c) : "cc");
	return a;
#elif defined(__KERNEL__)
	return mul_u64_u64_div_u64(a, b, c);
#else
	return (unsigned __int128)a * b / c;
#endif
}

/**
 * leanacct_user_cycles - the cycles of an epoch that were not the kernel's
 * @kernel: cycles in the kernel, complete
 * @total:  cycles of the epoch, see leanacct_epoch_cycles()
 *
 * A TSC that was set back inside the epoch leaves a kernel share that is
 * negative or above the whole; it counts as nothing or as all.
 *
 * Return: 0 to @total.
 */
static inline u64 leanacct_user_cycles(u64 kernel, u64 total)
{
	if ((s64)kernel < 0)
		return total;
	return kernel < total ? total - kernel : 0;
}

/**
 * leanacct_share - the part of @elapsed that @part cycles of @total stand for
 * @elapsed: nanoseconds
 * @part:    cycles, up to @total
 * @total:   cycles
 *
 * Return: nanoseconds, 0 to @elapsed; 0 where @total is 0.
 */
static inline u64 leanacct_share(u64 elapsed, u64 part, u64 total)
{
	if (!total)
		return 0;
	return leanacct_mul_div(elapsed, part, total);
}

#endif
