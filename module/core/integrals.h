/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The arithmetic of the gate integrals, free of kernel calls: it is compiled into
 * the module and into test/unit/.
 *
 * A task's integrals say how much memory it has held for how long: pages times
 * time. The kernel adds to them when at least a tick of CPU time has come
 * together, in units of page-nanoseconds / 1024, which its readers turn into
 * Mbyte-microseconds. Before 4.6 they were in page-microseconds, and the time
 * came by way of jiffies and a timeval.
 *
 * All of these keep today's unit, whatever they calculate by, so that variants
 * may take turns on the same task and readers need not know.
 */
#ifndef LEANACCT_INTEGRALS_H
#define LEANACCT_INTEGRALS_H

#ifdef __KERNEL__
#include <linux/math64.h>
#include <linux/time64.h>
#include <linux/types.h>
#else
#include <stdint.h>
typedef uint32_t u32;
typedef uint64_t u64;
#define NSEC_PER_SEC 1000000000L
#define NSEC_PER_USEC 1000L
#define USEC_PER_SEC 1000000L

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

static inline u64 div_u64_rem(u64 dividend, u32 divisor, u32 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}
#endif

/**
 * leanacct_legacy_usecs - the way of 4.5: nanoseconds, jiffies, timeval, microseconds
 * @delta: CPU time since the last addition, nanoseconds
 * @tick:  nanoseconds of a jiffy
 *
 * Return: the whole jiffies of it, in microseconds.
 */
static inline u64 leanacct_legacy_usecs(u64 delta, u32 tick)
{
	u64 jiffies = div_u64(delta, tick);
	u32 rem;
	u64 sec = div_u64_rem(jiffies * tick, NSEC_PER_SEC, &rem);

	return sec * USEC_PER_SEC + rem / NSEC_PER_USEC;
}

/**
 * leanacct_legacy_integral - what @usecs with @pages add, in today's unit
 * @usecs: microseconds
 * @pages: pages held
 */
static inline u64 leanacct_legacy_integral(u64 usecs, u64 pages)
{
	return usecs * pages * NSEC_PER_USEC >> 10;
}

/**
 * leanacct_integral - what @delta with @pages adds: one multiplication, one shift
 * @delta: nanoseconds
 * @pages: pages held
 */
static inline u64 leanacct_integral(u64 delta, u64 pages)
{
	return delta * pages >> 10;
}

#endif
