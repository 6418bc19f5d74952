// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gate integrals: a task's memory integrals (CONFIG_TASK_XACCT), which taskstats
 * reports as coremem and virtmem.
 *
 * This one is for the lab. What the first three patches of the nohz_full series
 * of 2016 changed has been in mainline since 4.6, so there is nothing to gain
 * here on any kernel that this module runs on; its variants bring back what was
 * there before, for the published comparison (docs/lab.md).
 *
 * legacy	4.5: with interrupts off, the time since the last addition goes
 *		through jiffies and a timeval to microseconds: two divisions (by
 *		constants) more than anybody needs, at each accounting of CPU time
 * nodiv	patch 1: nanoseconds, nothing below a tick
 * lean		patches 1 to 3: interrupts are left alone too
 *
 * The fields stay in today's unit (core/integrals.h). Where 4.5 threw away what
 * was not a whole jiffy, legacy leaves it for the next time: else it would read
 * less than the others, and variants could not take turns.
 *
 * Context: both functions are called by the task itself, or for one that cannot
 * run; acct_account_cputime() with interrupts off. Nothing is held back.
 */
#define pr_fmt(fmt) "leanacct: " fmt

#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/cputime.h>
#include <linux/static_call.h>
#include <linux/tsacct_kern.h>

#include "core/integrals.h"
#include "functions.h"
#include "gate.h"
#include "percpu.h"
#include "symbols.h"
#include "targets.h"

/* clang-format off */
#define INTEGRALS_COUNTERS(X)						\
	X(calls)		/* accountings of CPU time seen */	\
	X(additions)		/* of them, those that added something */

enum integrals_counter {
#define COUNTER_ENUM(name) INTEGRALS_##name,
	INTEGRALS_COUNTERS(COUNTER_ENUM)
	NR_INTEGRALS_COUNTERS
};
/* clang-format on */

struct integrals_cpu {
	u64 counter[NR_INTEGRALS_COUNTERS];
};

static DEFINE_PER_CPU_ALIGNED(struct integrals_cpu, integrals_cpu);

#define count(name) cpu_inc(integrals_cpu.counter[INTEGRALS_##name])

/* clang-format off */
#define DEFINE_FUNC(func) LEANACCT_DEFINE_FUNC(func);
INTEGRALS_FUNCTIONS(DEFINE_FUNC)

DEFINE_STATIC_CALL_NULL(leanacct_task_cputime, task_cputime);

#define PROTOTYPE(fn)							\
	__noendbr void fn(struct task_struct *tsk);			\
	void LEANACCT_TRAMPOLINE_NAME(fn)(void);
INTEGRALS_TARGETS(PROTOTYPE)
/* clang-format on */

/* null: the redirect alone. */

__replacement void leanacct_integrals_null_update(struct task_struct *tsk)
{
	leanacct_body(acct_update_integrals)(tsk);
}

__replacement void leanacct_integrals_null_account(struct task_struct *tsk)
{
	leanacct_body(acct_account_cputime)(tsk);
}

static __always_inline void add_legacy(struct task_struct *tsk, u64 utime, u64 stime)
{
	unsigned long flags;
	u64 usecs;

	count(calls);
	if (unlikely(!tsk->mm))
		return;
	local_irq_save(flags);
	usecs = leanacct_legacy_usecs(utime + stime - tsk->acct_timexpd, TICK_NSEC);
	if (usecs) {
		tsk->acct_timexpd += usecs * NSEC_PER_USEC;
		tsk->acct_rss_mem1 += leanacct_legacy_integral(usecs, get_mm_rss(tsk->mm));
		tsk->acct_vm_mem1 += leanacct_legacy_integral(usecs, tsk->mm->total_vm);
		count(additions);
	}
	local_irq_restore(flags);
}

static __always_inline void add_lean(struct task_struct *tsk, u64 utime, u64 stime)
{
	u64 time = utime + stime, delta = time - tsk->acct_timexpd;

	count(calls);
	if (unlikely(!tsk->mm) || delta < TICK_NSEC)
		return;
	tsk->acct_timexpd = time;
	tsk->acct_rss_mem1 += leanacct_integral(delta, get_mm_rss(tsk->mm));
	tsk->acct_vm_mem1 += leanacct_integral(delta, tsk->mm->total_vm);
	count(additions);
}

static __always_inline void add_nodiv(struct task_struct *tsk, u64 utime, u64 stime)
{
	unsigned long flags;

	local_irq_save(flags);
	add_lean(tsk, utime, stime);
	local_irq_restore(flags);
}

/* clang-format off */
#define VARIANT(name)							\
	__replacement void leanacct_integrals_##name##_update(struct task_struct *tsk) \
	{								\
		unsigned long flags;					\
		u64 utime, stime;					\
									\
		local_irq_save(flags);					\
		static_call(leanacct_task_cputime)(tsk, &utime, &stime); \
		add_##name(tsk, utime, stime);				\
		local_irq_restore(flags);				\
	}								\
									\
	__replacement void leanacct_integrals_##name##_account(struct task_struct *tsk) \
	{								\
		add_##name(tsk, tsk->utime, tsk->stime);		\
	}

VARIANT(legacy)
VARIANT(nodiv)
VARIANT(lean)

/* The gate */

#define TARGET(func) { .fn = func, .trampoline = LEANACCT_TRAMPOLINE_NAME(func) }

/* In the order of INTEGRALS_FUNCTIONS. */
#define TARGETS(name)							\
	static const struct leanacct_target name##_targets[] = {	\
		TARGET(leanacct_integrals_##name##_update),		\
		TARGET(leanacct_integrals_##name##_account),		\
	};

TARGETS(null)
TARGETS(legacy)
TARGETS(nodiv)
TARGETS(lean)

static const struct leanacct_variant variants[] = {
	{ .name = "stock" },
	{ .name = "null", .targets = null_targets },
	{ .name = "legacy", .targets = legacy_targets },
	{ .name = "nodiv", .targets = nodiv_targets },
	{ .name = "lean", .targets = lean_targets },
	{}
};

static struct leanacct_func funcs[] = {
#define FUNC(func) LEANACCT_FUNC(func),
	INTEGRALS_FUNCTIONS(FUNC)
};

static const struct leanacct_counter counters[] = {
#define COUNTER(name_) { .name = #name_ },
	INTEGRALS_COUNTERS(COUNTER)
	{}
};
/* clang-format on */

static u64 *integrals_counter(int cpu)
{
	return per_cpu(integrals_cpu, cpu).counter;
}

static const char *integrals_init(void)
{
	unsigned long cputime = leanacct_symbol("task_cputime");

	if (!cputime)
		return "task_cputime is not in this kernel";
	static_call_update(leanacct_task_cputime, (void *)cputime);
	return NULL;
}

static int integrals_fit(const char **reason)
{
	return 0;
}

struct leanacct_gate leanacct_integrals = {
	.name = "integrals",
	.variants = variants,
	.native = "in mainline since 4.6; its variants are for the lab",
	.funcs = funcs,
	.nr_funcs = ARRAY_SIZE(funcs),
	.init = integrals_init,
	.fit = integrals_fit,
	.counters = counters,
	.counter = integrals_counter,
};
