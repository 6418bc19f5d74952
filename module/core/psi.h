/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The arithmetic of the gate psi, free of kernel calls: it is compiled into the
 * module and into test/unit/.
 *
 * On each CPU a group (a cgroup, or the system) counts its tasks that run, wait
 * for I/O and stall for memory, and knows whether one of them is on the CPU.
 * Its state mask says which pressure states follow from that. As long as none
 * stalls for memory, it is a function of three small things:
 *
 *	how many run: none, one, more	whether any waits for I/O
 *	whether one of the group is on the CPU
 *
 *	NONIDLE   running or I/O		CPU_SOME  running > on CPU
 *	IO_SOME   I/O				CPU_FULL  running, none on CPU
 *	IO_FULL   I/O, none running		ONCPU	  on CPU
 *
 * The old mask holds the last two. So the new one comes from a table of
 * (old mask, running), which says where the counts must be looked at after all.
 */
#ifndef LEANACCT_PSI_H
#define LEANACCT_PSI_H

#ifdef __KERNEL__
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/psi_types.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
typedef int16_t s16;
typedef uint32_t u32;
#define BIT(nr) (1UL << (nr))
#define likely(x) (x)
#define unlikely(x) (x)
/* As the kernel has them without IRQ_TIME_ACCOUNTING. */
enum {
	PSI_IO_SOME,
	PSI_IO_FULL,
	PSI_MEM_SOME,
	PSI_MEM_FULL,
	PSI_CPU_SOME,
	PSI_CPU_FULL,
	PSI_NONIDLE,
	NR_PSI_STATES
};
#define PSI_ONCPU (1 << NR_PSI_STATES)
#endif

/* In the table, in place of a mask: the counts must be looked at. Only this is below 0. */
#define LEANACCT_PSI_ASK (-1)

/*
 * Of an old mask and how many run, 2 standing for more than one. Flat, and by an
 * index of 32 bits: neither needs to be made wider first.
 */
typedef s16 leanacct_psi_table[4 * 2 * PSI_ONCPU];

#define LEANACCT_PSI_INDEX(old, running) (4 * (u32)(old) + (running))

/**
 * leanacct_psi_mask - the state mask of a group without memory stalls
 * @running: its running tasks on this CPU
 * @iowait:  its tasks that wait for I/O
 * @oncpu:   whether one of its tasks is on the CPU
 */
static inline u32 leanacct_psi_mask(u32 running, u32 iowait, bool oncpu)
{
	u32 mask = oncpu ? PSI_ONCPU : 0;

	if (running || iowait)
		mask |= BIT(PSI_NONIDLE);
	if (running > oncpu)
		mask |= BIT(PSI_CPU_SOME);
	if (running && !oncpu)
		mask |= BIT(PSI_CPU_FULL);
	if (iowait)
		mask |= BIT(PSI_IO_SOME);
	if (iowait && !running)
		mask |= BIT(PSI_IO_FULL);
	return mask;
}

/**
 * leanacct_psi_is_told - does a mask tell all that the table wants to know?
 * @mask: the mask
 *
 * One without NONIDLE may be that of a group whose accounting was off until now:
 * it does not tell whether any task waits for I/O.
 */
static inline bool leanacct_psi_is_told(u32 mask)
{
	const u32 stalls = BIT(PSI_MEM_SOME) | BIT(PSI_MEM_FULL);

	return (mask & (stalls | BIT(PSI_NONIDLE))) == BIT(PSI_NONIDLE);
}

/**
 * leanacct_psi_table_init - fill the table
 * @table: which
 */
static inline void leanacct_psi_table_init(leanacct_psi_table table)
{
	u32 running, old;

	for (old = 0; old < 2 * PSI_ONCPU; old++) {
		for (running = 0; running < 3; running++) {
			table[LEANACCT_PSI_INDEX(old, running)] = LEANACCT_PSI_ASK;
			if (leanacct_psi_is_told(old))
				table[LEANACCT_PSI_INDEX(old, running)] = leanacct_psi_mask(
					running, old & BIT(PSI_IO_SOME), old & PSI_ONCPU);
		}
	}
}

/**
 * leanacct_psi_settle - let the states that end or begin have their time
 * @times: the group's sums, nanoseconds modulo 2^32
 * @changed: what changes of its mask
 * @mask:  its mask from now on
 * @delta: now - state_start, modulo 2^32
 *
 * A state that is on has lasted times[] + (now - state_start), which is how the
 * kernel reads it. One that ends gets the difference; one that begins gets it
 * off, so that it has lasted as long as before; the others stay as they are, and
 * so does state_start.
 */
static inline void leanacct_psi_settle(u32 *times, u32 changed, u32 mask, u32 delta)
{
	unsigned int state;

	for (changed &= PSI_ONCPU - 1; changed; changed &= changed - 1) {
		state = __builtin_ctz(changed);
		times[state] += mask & BIT(state) ? -delta : delta;
	}
}

/**
 * leanacct_psi_lasted - how long a state has lasted, as a reader finds it
 * @times:  the group's sums
 * @mask:   its mask
 * @since:  now - state_start, modulo 2^32
 * @state:  which
 */
static inline u32 leanacct_psi_lasted(const u32 *times, u32 mask, u32 since, unsigned int state)
{
	return times[state] + (mask & BIT(state) ? since : 0);
}

#endif
