/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Per-CPU operations of the fast paths, one instruction each.
 *
 * this_cpu_sub() makes a mov, a neg and an add of it, and a this_cpu_read()
 * that is compared costs a load more than comparing in memory. The caller runs
 * with interrupts off, so there is no migration to guard against, and the only
 * other writer is this CPU.
 */
#ifndef LEANACCT_PERCPU_H
#define LEANACCT_PERCPU_H

#include <linux/percpu.h>
#include <linux/types.h>

#ifdef CONFIG_X86_64

/* The variable's offset in the per-CPU area, as a plain memory operand. */
#define PERCPU_MEM(var) (*(u64 *)(__force unsigned long)&(var))

/* clang-format off */
#define cpu_add(var, val) \
	asm volatile("addq %[v], %%gs:%[m]" : [m] "+m" (PERCPU_MEM(var)) : [v] "r" ((u64)(val)) : "cc")

#define cpu_sub(var, val) \
	asm volatile("subq %[v], %%gs:%[m]" : [m] "+m" (PERCPU_MEM(var)) : [v] "r" ((u64)(val)) : "cc")

#define cpu_inc(var) \
	asm volatile("incq %%gs:%[m]" : [m] "+m" (PERCPU_MEM(var)) : : "cc")

#define cpu_differs(var, val) ({					\
	bool __ne;							\
	asm volatile("cmpq %[v], %%gs:%[m]"				\
		     : "=@ccne" (__ne)					\
		     : [m] "m" (PERCPU_MEM(var)), [v] "r" ((u64)(val)));\
	__ne;								\
})
/* Has a u32 in memory any of these bits? One instruction with its branch. */
#define mem_tests(mem, bits) ({						\
	bool __nz;							\
	asm volatile("testl %[b], %[m]"					\
		     : "=@ccnz" (__nz)					\
		     : [m] "m" (mem), [b] "r" ((u32)(bits)));		\
	__nz;								\
})
/* clang-format on */

#endif
#endif
