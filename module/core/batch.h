/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The arithmetic of the gate batch, free of kernel calls: it is compiled into the
 * module, into the lab's and into test/unit/.
 */
#ifndef LEANACCT_BATCH_H
#define LEANACCT_BATCH_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
typedef int32_t s32;
typedef uint32_t u32;
typedef int64_t s64;
typedef uint64_t u64;
#endif

/**
 * leanacct_scaled_batch - a batch for values that are @factor times as large
 * @base:   for values of about 1, at least 1
 * @factor: at least 1
 * @most:   never more than that, at least @base
 *
 * In 64 bits: the product of the two does not fit into 32.
 * Idea: the cpuacct patch of 2010, which scales by the cputime of a jiffy.
 */
static inline s32 leanacct_scaled_batch(s32 base, u32 factor, s32 most)
{
	s64 batch = (s64)base * factor;

	return batch < most ? batch : most;
}

/**
 * leanacct_batch_error - by how much may a read without summing up be off?
 * @batch: each CPU holds back less than that
 * @cpus:  how many
 */
static inline u64 leanacct_batch_error(s32 batch, u32 cpus)
{
	return (u64)batch * cpus;
}

#endif
