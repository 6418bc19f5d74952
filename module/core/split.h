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
 * leanacct_share - the part of @a that @b cycles of @c stand for
 * @a: nanoseconds, any value
 * @b: cycles, up to @c
 * @c: cycles, more than 0
 *
 * a * b / c by a 128-bit product, rounded down. The quotient fits since
 * @b <= @c; x86's DIV would fault otherwise.
 *
 * Return: nanoseconds, 0 to @a.
 */
static inline u64 leanacct_share(u64 a, u64 b, u64 c)
{
#ifdef __x86_64__
	u64 high;

	asm("mulq %[b]\n\tdivq %[c]" : "+&a"(a), "=&d"(high) : [b] "rm"(b), [c] "rm"(c) : "cc");
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
 * @total:  cycles of the epoch
 *
 * A TSC that was set back inside the epoch leaves figures that make no sense: a
 * kernel share that is negative or above the whole. Then none are the user's.
 *
 * Return: 0 to @total.
 */
static inline u64 leanacct_user_cycles(u64 kernel, u64 total)
{
	u64 user = total - kernel;

	return user <= total ? user : 0;
}

#endif
