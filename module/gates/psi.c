// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gate psi: the pressure-stall accounting of every context switch and wake-up
 * (CONFIG_PSI).
 *
 * The kernel's model. Each group, a cgroup or the system, has for each CPU the
 * counts of its tasks by state, a mask of the pressure states that follow from
 * them, how long each state has lasted (times[]), and when the mask was last
 * looked at (state_start). A task that wakes, sleeps, or goes on or off the CPU
 * changes the counts of its cgroup and of all those above; at each level the
 * kernel walks the change bit by bit, derives the mask anew, and adds the time
 * since state_start to every state that was on. A reader takes times[], plus
 * now - state_start for the states that are on.
 *
 * exact. The same levels, the same counts and masks, but:
 * - A change is one addition to one count; the mask comes from a table
 *   (core/psi.h).
 * - A reader takes times[] + now - state_start for a state that is on. So one
 *   that goes on needs no write, one that ends gets now - state_start added, one
 *   that begins gets it subtracted, and state_start stays. The clock is read when
 *   the first mask changes, if any does.
 * - A switch between two tasks of one cgroup that both go on running changes
 *   nothing but their own flags.
 * Whatever is not plain goes to the kernel's own code. A level: its accounting
 * is off, it has memory stalls, a trigger waits for its new state, its averages
 * must be started, a count would go below zero. A whole call: the task stalls
 * for memory, the averaging worker may be going to sleep, the task's flags are
 * not what they must be (the kernel says so in the log).
 *
 * Example, one level: RUNNING 1, ONCPU|NONIDLE since 1000. A second task wakes
 * at 1500: RUNNING 2; by the table [ONCPU|NONIDLE, 2] the mask is now
 * ONCPU|NONIDLE|CPU_SOME. CPU_SOME begins: times[CPU_SOME] -= 500. A third wakes
 * at 1700: RUNNING 3, the mask stays, nothing else is written. A reader at 2000
 * finds times[NONIDLE] + 1000 and times[CPU_SOME] + 1000, 500 more than before
 * 1500; had the kernel cut both at 1500 and 1700, it would have found the same.
 *
 * Why the table may rely on the old mask. The mask of a group whose accounting
 * is on, and that has NONIDLE, is that of its counts: every change of a count
 * sets it anew. While accounting is off the first change leaves only ONCPU, and
 * when it comes on again the mask may lag until the kernel has been at that CPU;
 * so a mask without NONIDLE is not relied on, but the counts are asked. Another
 * task of the group being on the CPU is told by ONCPU in the same way, whether
 * accounting is on or off.
 *
 * Context and races. Both functions are called with interrupts off and the rq
 * lock of the CPU that the task is on, which need not be this one (a remote
 * wake-up). The lock keeps other writers away: they all take it. Readers are
 * kept right by the kernel's seqcount, which is odd from before the clock is
 * read to after the last write. The clock must be read inside: a reader that
 * began before would have seen a later time than the one that is written, and
 * would next time find less than before. Before 6.2 each group has a seqcount
 * of its own: those of all levels are opened, then the clock is read, and each
 * is closed when its level is done; the kernel's own code for a level reads the
 * clock by itself there.
 *
 * Nothing is held back, so kernel and gate may take turns on the same group, and
 * no flush is needed when the variant changes. No printk from here: the console
 * may need the rq lock.
 *
 * shadow. The kernel's own code runs; the gate works out beforehand what it
 * would have written at each level and compares afterwards, in the same call.
 *
 * The idea is this project's own.
 */
#define pr_fmt(fmt) "leanacct: " fmt

#include <linux/cgroup.h>
#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/psi.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/seqlock.h>
#include <linux/static_call.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "core/psi.h"
#include "functions.h"
#include "gate.h"
#include "percpu.h"
#include "symbols.h"
#include "targets.h"

/* clang-format off */
#define PSI_COUNTERS(X)							\
	X(fast)			/* calls handled here */		\
	X(flags_only)		/* of them, only flags changed */	\
	X(mask_kept)		/* levels handled here: the mask stayed */ \
	X(mask_changed)		/*	and those where it did not */	\
	X(slow_memstall)	/* levels left to the kernel: stalls */ \
	X(slow_disabled)	/*	accounting is off */		\
	X(slow_trigger)		/*	a trigger waits for the state */ \
	X(slow_averaging)	/*	averages must be started */	\
	X(slow_underflow)	/*	a count would go below zero */	\
	X(call_memstall)	/* calls left to the kernel: the task stalls */ \
	X(call_worker)		/*	a worker goes to sleep */	\
	X(call_inconsistent)	/*	flags that must not be */	\
	X(shadow_levels)	/* levels that shadow compared */	\
	X(shadow_skipped)	/* not: too deep, or switched off meanwhile */ \
	X(diff_counts)		/* differences: counts */		\
	X(diff_mask)		/*	mask */				\
	X(diff_times)		/*	times[] or state_start */	\
	X(diff_flags)		/*	the flags of a task */

enum psi_counter {
#define COUNTER_ENUM(name) PSI_##name,
	PSI_COUNTERS(COUNTER_ENUM)
	NR_PSI_COUNTERS
};
/* clang-format on */

/* Levels of one call that shadow compares, at most. */
#define SHADOW_LEVELS 24

/**
 * struct psi_expected - what a level must look like after the kernel's code
 * @group:	the level
 * @gc:		its figures of this CPU
 * @before:	what it looked like before
 * @counts:	what tasks[] must be
 * @mask:	what state_mask must be
 * @untouched:	nothing may change
 */
struct psi_expected {
	const struct psi_group *group;
	struct psi_group_cpu *gc;
	struct {
		u32 mask;
		u32 times[NR_PSI_STATES];
		u64 start;
	} before;
	u32 counts[NR_PSI_TASK_COUNTS];
	u32 mask;
	bool untouched;
};

/**
 * struct psi_cpu - what the gate keeps of a CPU; its own alone
 * @counter:  see PSI_COUNTERS
 * @levels:   shadow: how many are expected
 * @expected: shadow: what
 */
struct psi_cpu {
	u64 counter[NR_PSI_COUNTERS];
	unsigned int levels;
	struct psi_expected expected[SHADOW_LEVELS];
};

static DEFINE_PER_CPU_ALIGNED(struct psi_cpu, psi_cpu);

#define count(name) cpu_inc(psi_cpu.counter[PSI_##name])

static leanacct_psi_table mask_table __ro_after_init;
static struct psi_group *system_group __ro_after_init;
static unsigned long cpu_seq __ro_after_init; /* per-CPU, if groups have none of their own */

/* clang-format off */
#define DEFINE_FUNC(func) LEANACCT_DEFINE_FUNC(func);
PSI_FUNCTIONS(DEFINE_FUNC)

DEFINE_STATIC_CALL_NULL(leanacct_psi_group_change, compat_psi_group_change);

#define CHANGE_PROTOTYPE(fn)						\
	__noendbr void fn(struct task_struct *task, int clear, int set); \
	void LEANACCT_TRAMPOLINE_NAME(fn)(void);
#define SWITCH_PROTOTYPE(fn)						\
	__noendbr void fn(struct task_struct *prev, struct task_struct *next, bool sleep); \
	void LEANACCT_TRAMPOLINE_NAME(fn)(void);
PSI_CHANGE_TARGETS(CHANGE_PROTOTYPE)
PSI_SWITCH_TARGETS(SWITCH_PROTOTYPE)
/* clang-format on */

/* null: the redirect alone. */

__replacement void leanacct_psi_null_change(struct task_struct *task, int clear, int set)
{
	leanacct_body(psi_task_change)(task, clear, set);
}

__replacement void leanacct_psi_null_switch(struct task_struct *prev, struct task_struct *next,
					    bool sleep)
{
	leanacct_body(psi_task_switch)(prev, next, sleep);
}

/* exact and shadow */

/**
 * struct psi_walk - one call
 * @offset: of the CPU's per-CPU area
 * @cpu:    the CPU
 */
struct psi_walk {
	unsigned long offset;
	int cpu;
};

/**
 * struct psi_step - what a call does to each level of a stretch
 * @clear:   as the kernel is told it
 * @set:     likewise
 * @running: what is added to RUNNING
 * @iowait:  what is added to IOWAIT
 * @oncpu:   what becomes of ONCPU
 *
 * Handed on by value, all inline: what is constant stays so, and the rest stays
 * in registers.
 */
struct psi_step {
	int clear;
	int set;
	int running;
	int iowait;
	enum {
		ONCPU_KEEP,
		ONCPU_SET,
		ONCPU_CLEAR
	} oncpu;
};

static __always_inline struct psi_group *psi_group_of(const struct task_struct *task)
{
	/* NULL in the root cgroup, and in all if cgroups have no PSI. */
	return compat_task_cgroup_psi(task) ?: system_group;
}

static __always_inline struct psi_group_cpu *level_of(struct psi_walk w,
						      const struct psi_group *group)
{
	return (void *)((__force unsigned long)group->pcpu + w.offset);
}

static __always_inline struct psi_walk walk_begin(const struct task_struct *task, const bool shadow)
{
	struct psi_walk w = { .cpu = task_cpu(task) };

	w.offset = per_cpu_offset(w.cpu);
	if (!COMPAT_PSI_GROUP_SEQ && !shadow)
		raw_write_seqcount_begin((seqcount_t *)(cpu_seq + w.offset));
	return w;
}

static __always_inline void walk_end(struct psi_walk w, const bool shadow)
{
	if (!COMPAT_PSI_GROUP_SEQ && !shadow)
		raw_write_seqcount_end((seqcount_t *)(cpu_seq + w.offset));
	count(fast);
}

/* Plain loads, as the kernel's own: each is one instruction with its test. */
static __always_inline bool averages_started(const struct psi_group *group)
{
	return *work_data_bits(&group->avgs_work.work) & WORK_STRUCT_PENDING;
}

enum level_fate {
	LEVEL_LEFT,  /* to the kernel's own code */
	LEVEL_KEEPS, /* its mask stays */
	LEVEL_HAS,   /* a mask that may be another */
};

/*
 * What becomes of a level by @step, which makes @running of the count. @mask is
 * set for LEVEL_HAS.
 */
static __always_inline enum level_fate level_mask(const struct psi_group *group,
						  const struct psi_group_cpu *gc,
						  struct psi_step step, u32 running, int *mask)
{
	u32 iowait, old = gc->state_mask;

	if (unlikely(!group->enabled || !averages_started(group)))
		return LEVEL_LEFT;
	if (unlikely(step.running <= 0 && (s32)running < 0))
		return LEVEL_LEFT;
	if (step.oncpu == ONCPU_CLEAR)
		old &= ~PSI_ONCPU;
	else if (step.oncpu == ONCPU_SET)
		old |= PSI_ONCPU;

	if (step.iowait) {
		*mask = LEANACCT_PSI_ASK;
	} else if (step.oncpu == ONCPU_KEEP && running > (step.running < 0 ? 1 : 2)) {
		/* More than one before and after. */
		if (likely(leanacct_psi_is_told(old) &&
			   !mem_tests(group->compat_rtpoll_states, old)))
			return LEVEL_KEEPS;
		*mask = LEANACCT_PSI_ASK;
	} else {
		*mask = mask_table[LEANACCT_PSI_INDEX(old, min(running, 2U))];
	}
	if (unlikely(*mask < 0)) {
		iowait = gc->tasks[NR_IOWAIT] + step.iowait;
		if (gc->tasks[NR_MEMSTALL] || (s32)iowait < 0)
			return LEVEL_LEFT;
		*mask = leanacct_psi_mask(running, iowait, old & PSI_ONCPU);
	}
	return unlikely(mem_tests(group->compat_rtpoll_states, *mask)) ? LEVEL_LEFT : LEVEL_HAS;
}

/* Why level_mask() left a level to the kernel's own code. */
static __always_inline void count_slow(const struct psi_group *group,
				       const struct psi_group_cpu *gc, int clear)
{
	if (!group->enabled)
		count(slow_disabled);
	else if (gc->tasks[NR_MEMSTALL])
		count(slow_memstall);
	else if (!averages_started(group))
		count(slow_averaging);
	else if (((clear & TSK_RUNNING) && !gc->tasks[NR_RUNNING]) ||
		 ((clear & TSK_IOWAIT) && !gc->tasks[NR_IOWAIT]))
		count(slow_underflow);
	else
		count(slow_trigger);
}

/*
 * Hand a level to the kernel's own code. Its seqcount is odd.
 * Return: the clock, if it had to be read.
 */
static noinline notrace u64 level_slow(struct psi_group *group, struct psi_group_cpu *gc, int cpu,
				       int clear, int set, u64 now)
{
	count_slow(group, gc, clear);
	if (COMPAT_PSI_GROUP_SEQ)
		raw_write_seqcount_end(compat_psi_seq(gc));
	else if (!now)
		now = cpu_clock(cpu);
	static_call(leanacct_psi_group_change)
		COMPAT_PSI_GROUP_CHANGE_ARGS(group, cpu, clear, set, now);
	return now;
}

/* CPU_SOME begins or ends: with a task more it can only begin, with one less only end. */
static __always_inline void level_some(struct psi_group_cpu *gc, u64 now, bool begins)
{
	u32 delta = now - gc->state_start;

	OPTIMIZER_HIDE_VAR(delta); /* or the additions are spread out */
	if (begins)
		gc->times[PSI_CPU_SOME] -= delta;
	else
		gc->times[PSI_CPU_SOME] += delta;
}

/* Any other change of the mask; out of line, to keep the loops short. */
static noinline notrace void level_settle(struct psi_group_cpu *gc, u64 now, u32 changed, u32 mask)
{
	leanacct_psi_settle(gc->times, changed, mask, now - gc->state_start);
	gc->state_mask = mask;
	count(mask_changed);
}

/* @now: the clock, 0 if it has not been read. Return: the same, afterwards. */
static __always_inline u64 level_exact(struct psi_walk w, struct psi_group *group,
				       struct psi_step step, u64 now)
{
	struct psi_group_cpu *gc = level_of(w, group);
	u32 running = gc->tasks[NR_RUNNING] + step.running;
	enum level_fate fate;
	u32 changed;
	int mask;

	fate = level_mask(group, gc, step, running, &mask);
	if (unlikely(fate == LEVEL_LEFT))
		return level_slow(group, gc, w.cpu, step.clear, step.set, now);
	changed = fate == LEVEL_KEEPS ? 0 : gc->state_mask ^ mask;
	gc->tasks[NR_RUNNING] = running;
	if (step.iowait)
		gc->tasks[NR_IOWAIT] += step.iowait;
	if (likely(changed == BIT(PSI_CPU_SOME))) {
		now = now ?: cpu_clock(w.cpu);
		level_some(gc, now, step.running ? step.running > 0 : mask & BIT(PSI_CPU_SOME));
		gc->state_mask = mask;
		count(mask_changed);
	} else if (changed) {
		now = now ?: cpu_clock(w.cpu);
		level_settle(gc, now, changed, mask);
	} else {
		count(mask_kept);
	}
	if (COMPAT_PSI_GROUP_SEQ)
		raw_write_seqcount_end(compat_psi_seq(gc));
	return now;
}

/*
 * What is to be found at a level after the kernel's code; see shadow_compare().
 * @untouched: nothing may have changed
 */
static noinline notrace void expect(struct psi_walk w, const struct psi_group *group,
				    struct psi_step step, bool untouched)
{
	struct psi_cpu *c = this_cpu_ptr(&psi_cpu);
	struct psi_group_cpu *gc = level_of(w, group);
	struct psi_expected *e = &c->expected[c->levels];
	int mask = gc->state_mask;

	if (c->levels == SHADOW_LEVELS) {
		count(shadow_skipped);
		return;
	}
	memcpy(e->counts, gc->tasks, sizeof(e->counts));
	if (!untouched) {
		e->counts[NR_RUNNING] += step.running;
		e->counts[NR_IOWAIT] += step.iowait;
		if (level_mask(group, gc, step, e->counts[NR_RUNNING], &mask) == LEVEL_LEFT) {
			count_slow(group, gc, step.clear);
			return;
		}
		if (mask == gc->state_mask)
			count(mask_kept);
		else
			count(mask_changed);
	}
	e->group = group;
	e->gc = gc;
	e->untouched = untouched;
	e->mask = mask;
	e->before.mask = gc->state_mask;
	e->before.start = gc->state_start;
	memcpy(e->before.times, gc->times, sizeof(e->before.times));
	c->levels++;
}

/*
 * The kernel has read the clock once for the level, and left it in state_start.
 * What a reader would find at that moment must be what the gate would have left.
 */
static bool level_times_differ(const struct psi_expected *e)
{
	const struct psi_group_cpu *gc = e->gc;
	u32 since = gc->state_start - e->before.start;
	u32 times[NR_PSI_STATES];
	unsigned int state;

	if (e->untouched)
		return since || memcmp(e->before.times, gc->times, sizeof(gc->times));
	memcpy(times, e->before.times, sizeof(times));
	leanacct_psi_settle(times, e->before.mask ^ e->mask, e->mask, since);
	for (state = 0; state < NR_PSI_STATES; state++)
		if (leanacct_psi_lasted(times, e->mask, since, state) != gc->times[state])
			return true;
	return false;
}

static void shadow_compare(void)
{
	struct psi_cpu *c = this_cpu_ptr(&psi_cpu);
	const struct psi_expected *e;

	for (e = c->expected; e < c->expected + c->levels; e++) {
		/* cgroup.pressure takes no rq lock: it may just have been written. */
		if (!READ_ONCE(e->group->enabled)) {
			count(shadow_skipped);
			continue;
		}
		count(shadow_levels);
		if (memcmp(e->counts, e->gc->tasks, sizeof(e->counts)))
			count(diff_counts);
		if (e->mask != e->gc->state_mask)
			count(diff_mask);
		if (level_times_differ(e))
			count(diff_times);
	}
	c->levels = 0;
}

/*
 * Apply @step to @group and those above it, up to @end (NULL: all).
 * @now: the clock, 0 if it has not been read. Return: the same, afterwards.
 */
static __always_inline u64 walk(struct psi_walk w, struct psi_group *group,
				const struct psi_group *end, struct psi_step step, u64 now,
				const bool shadow)
{
	struct psi_group *g;

	if (shadow) {
		for (g = group; g != end; g = g->parent)
			expect(w, g, step, false);
		return 0;
	}
	if (COMPAT_PSI_GROUP_SEQ) {
		now = 0;
		for (g = group; g != end; g = g->parent)
			raw_write_seqcount_begin(compat_psi_seq(level_of(w, g)));
	}
	for (g = group; g != end; g = g->parent)
		now = level_exact(w, g, step, now);
	return now;
}

/* The first of @group and those above it that has a task on the CPU. */
static __always_inline struct psi_group *group_oncpu(struct psi_walk w, struct psi_group *group)
{
	while (group && !(level_of(w, group)->state_mask & PSI_ONCPU))
		group = group->parent;
	return group;
}

/* Are these flags what the kernel expects? If not, it says so in the log. */
static __always_inline bool flags_consistent(u32 flags, int clear, int set)
{
	return !((flags & set) | ((flags & clear) ^ clear));
}

static __always_inline void change(struct task_struct *task, struct psi_step step,
				   const bool shadow)
{
	struct psi_walk w = walk_begin(task, shadow);

	if (!shadow)
		task->psi_flags = (task->psi_flags & ~step.clear) | step.set;
	walk(w, psi_group_of(task), NULL, step, 0, shadow);
	walk_end(w, shadow);
}

static __always_inline bool change_is_wakeup(const struct task_struct *task, int clear, int set)
{
	/* One test for three. */
	return !(clear | (set ^ TSK_RUNNING) | task->psi_flags) && task->pid;
}

/* A task that wakes from where it did not wait for I/O. */
static __always_inline void change_wakeup(struct task_struct *task, const bool shadow)
{
	const struct psi_step step = { .set = TSK_RUNNING, .running = 1 };

	change(task, step, shadow);
}

/* Migration, waiting for I/O. */
static __always_inline void change_other(struct task_struct *task, int clear, int set,
					 const bool shadow)
{
	struct psi_step step = {
		.clear = clear,
		.set = set,
		.running = !!(set & TSK_RUNNING) - !!(clear & TSK_RUNNING),
		.iowait = !!(set & TSK_IOWAIT) - !!(clear & TSK_IOWAIT),
	};

	change(task, step, shadow);
}

/*
 * A task that is moved between cgroups while it is on the CPU takes ONCPU with
 * it; that is left to the kernel with what stalls for memory.
 */
static __always_inline bool change_is_plain(const struct task_struct *task, int clear, int set)
{
	return !((clear | set) & ~(TSK_RUNNING | TSK_IOWAIT)) &&
	       flags_consistent(task->psi_flags, clear, set);
}

static __replacement void change_body(struct task_struct *task, int clear, int set)
{
	leanacct_body(psi_task_change)(task, clear, set);
}

static __replacement void change_unusual(struct task_struct *task, int clear, int set)
{
	if (flags_consistent(task->psi_flags, clear, set))
		count(call_memstall);
	else
		count(call_inconsistent);
	leanacct_body(psi_task_change)(task, clear, set);
}

static __replacement void exact_change_other(struct task_struct *task, int clear, int set)
{
	if (unlikely(!task->pid))
		return;
	if (unlikely(!change_is_plain(task, clear, set))) {
		change_unusual(task, clear, set);
		return;
	}
	change_other(task, clear, set, false);
}

/* Context: interrupts off, lock of the task's rq held. */
__replacement void leanacct_psi_exact_change(struct task_struct *task, int clear, int set)
{
	if (likely(change_is_wakeup(task, clear, set)))
		change_wakeup(task, false);
	else
		exact_change_other(task, clear, set);
}

__replacement void leanacct_psi_shadow_change(struct task_struct *task, int clear, int set)
{
	u32 flags = (task->psi_flags & ~clear) | set;

	if (unlikely(!task->pid))
		return;
	if (change_is_wakeup(task, clear, set)) {
		change_wakeup(task, true);
	} else if (change_is_plain(task, clear, set)) {
		change_other(task, clear, set, true);
	} else {
		change_unusual(task, clear, set);
		return;
	}
	change_body(task, clear, set);
	shadow_compare();
	if (task->psi_flags != flags)
		count(diff_flags);
}

/*
 * Two tasks of one cgroup, which runs on: the cgroup and those above it keep
 * ONCPU. The flags of the idle task are 0.
 */
static __always_inline bool switch_is_within(const struct task_struct *prev,
					     const struct task_struct *next)
{
	return prev->psi_flags == (TSK_RUNNING | TSK_ONCPU) && next->psi_flags == TSK_RUNNING &&
	       compat_same_cgroups(prev, next);
}

/*
 * May prev's sleep be handled here? Not if it waits or stalls; nor a worker,
 * which may be the one that averages: the kernel then does not start it again.
 */
static __always_inline bool sleep_is_simple(const struct task_struct *prev)
{
	return !prev->in_iowait && !prev->in_memstall && !(prev->flags & PF_WQ_WORKER);
}

/* Nothing changes but who has ONCPU. */
static __always_inline void switch_flags(struct task_struct *prev, struct task_struct *next,
					 const bool shadow)
{
	const struct psi_step none = {};

	count(flags_only);
	if (shadow) {
		expect(walk_begin(prev, shadow), psi_group_of(prev), none, true);
		return;
	}
	prev->psi_flags = TSK_RUNNING;
	next->psi_flags = TSK_RUNNING | TSK_ONCPU;
}

static __always_inline void switch_sleep(struct task_struct *prev, struct task_struct *next,
					 const bool shadow)
{
	const struct psi_step step = { .clear = TSK_RUNNING, .running = -1 };
	struct psi_walk w = walk_begin(prev, shadow);

	if (!shadow) {
		prev->psi_flags = 0;
		next->psi_flags = TSK_RUNNING | TSK_ONCPU;
	}
	walk(w, psi_group_of(prev), NULL, step, 0, shadow);
	walk_end(w, shadow);
}

/* What a switch does to the flags of the task that leaves the CPU. */
static __always_inline struct psi_step switch_step(const struct task_struct *prev, bool sleep)
{
	struct psi_step step = { .clear = TSK_ONCPU, .oncpu = ONCPU_CLEAR };

	if (sleep) {
		step.clear |= TSK_RUNNING;
		step.running = -1;
		if (prev->in_iowait) {
			step.set = TSK_IOWAIT;
			step.iowait = 1;
		}
	}
	return step;
}

static __always_inline bool switch_is_plain(const struct task_struct *prev,
					    const struct task_struct *next, bool sleep,
					    struct psi_step step)
{
	if ((prev->psi_flags | next->psi_flags) & (TSK_MEMSTALL | TSK_MEMSTALL_RUNNING))
		return false;
	if (sleep && (prev->in_memstall || (prev->flags & PF_WQ_WORKER)))
		return false;
	return (!prev->pid || flags_consistent(prev->psi_flags, step.clear, step.set)) &&
	       (!next->pid || flags_consistent(next->psi_flags, 0, TSK_ONCPU));
}

/* @prev leaves the CPU: up to @common, ONCPU goes too; above it, only the rest. */
static __always_inline void leave_cpu(struct psi_walk w, const struct task_struct *prev,
				      struct psi_group *common, bool all, struct psi_step step,
				      u64 now, const bool shadow)
{
	now = walk(w, psi_group_of(prev), common, step, now, shadow);
	if (!common)
		return;
	if (all) {
		step.clear &= ~TSK_ONCPU;
		step.oncpu = ONCPU_KEEP;
		walk(w, common, NULL, step, now, shadow);
	} else if (shadow) {
		expect(w, common, step, true);
	}
}

/* Between cgroups, from and to idle, waiting for I/O. */
static __always_inline void switch_other(struct task_struct *prev, struct task_struct *next,
					 struct psi_step step, const bool shadow)
{
	const struct psi_step enter = { .set = TSK_ONCPU, .oncpu = ONCPU_SET };
	u32 prev_flags = (prev->psi_flags & ~step.clear) | step.set;
	bool all = (prev_flags ^ next->psi_flags) & ~TSK_ONCPU;
	struct psi_group *group, *common = NULL;
	struct psi_walk w = walk_begin(prev, shadow);
	u64 now = 0;

	if (next->pid) {
		group = psi_group_of(next);
		if (prev->pid)
			common = group_oncpu(w, group);
		if (!shadow)
			next->psi_flags |= TSK_ONCPU;
		now = walk(w, group, common, enter, now, shadow);
	}
	if (prev->pid) {
		if (!shadow)
			prev->psi_flags = prev_flags;
		if (unlikely(step.iowait)) {
			leave_cpu(w, prev, common, all, step, now, shadow);
		} else {
			step.set = 0;
			step.iowait = 0;
			leave_cpu(w, prev, common, all, step, now, shadow);
		}
	}
	walk_end(w, shadow);
}

static __replacement void switch_body(struct task_struct *prev, struct task_struct *next,
				      bool sleep)
{
	leanacct_body(psi_task_switch)(prev, next, sleep);
}

static __replacement void switch_unusual(struct task_struct *prev, struct task_struct *next,
					 bool sleep)
{
	if ((prev->psi_flags | next->psi_flags) & TSK_MEMSTALL || prev->in_memstall)
		count(call_memstall);
	else if (sleep && (prev->flags & PF_WQ_WORKER))
		count(call_worker);
	else
		count(call_inconsistent);
	leanacct_body(psi_task_switch)(prev, next, sleep);
}

static __replacement void exact_switch_other(struct task_struct *prev, struct task_struct *next,
					     bool sleep)
{
	struct psi_step step = switch_step(prev, sleep);

	if (likely(switch_is_plain(prev, next, sleep, step)))
		switch_other(prev, next, step, false);
	else
		switch_unusual(prev, next, sleep);
}

/* Context: interrupts off, rq lock of this CPU held. */
__replacement void leanacct_psi_exact_switch(struct task_struct *prev, struct task_struct *next,
					     bool sleep)
{
	if (!switch_is_within(prev, next) || (sleep && !sleep_is_simple(prev)))
		exact_switch_other(prev, next, sleep);
	else if (sleep)
		switch_sleep(prev, next, false);
	else
		switch_flags(prev, next, false);
}

__replacement void leanacct_psi_shadow_switch(struct task_struct *prev, struct task_struct *next,
					      bool sleep)
{
	struct psi_step step = switch_step(prev, sleep);
	u32 prev_flags = prev->pid ? (prev->psi_flags & ~step.clear) | step.set : 0;
	u32 next_flags = next->pid ? next->psi_flags | TSK_ONCPU : 0;

	if (!switch_is_within(prev, next) || (sleep && !sleep_is_simple(prev))) {
		if (unlikely(!switch_is_plain(prev, next, sleep, step))) {
			switch_unusual(prev, next, sleep);
			return;
		}
		switch_other(prev, next, step, true);
	} else if (sleep) {
		switch_sleep(prev, next, true);
	} else {
		switch_flags(prev, next, true);
	}
	switch_body(prev, next, sleep);
	shadow_compare();
	if (prev->psi_flags != prev_flags || next->psi_flags != next_flags)
		count(diff_flags);
}

/* The gate */

/* clang-format off */
#define TARGET(func) { .fn = func, .trampoline = LEANACCT_TRAMPOLINE_NAME(func) }

/* In the order of PSI_FUNCTIONS. */
static const struct leanacct_target null_targets[] = {
	TARGET(leanacct_psi_null_change),
	TARGET(leanacct_psi_null_switch),
};

static const struct leanacct_target exact_targets[] = {
	TARGET(leanacct_psi_exact_change),
	TARGET(leanacct_psi_exact_switch),
};

static const struct leanacct_target shadow_targets[] = {
	TARGET(leanacct_psi_shadow_change),
	TARGET(leanacct_psi_shadow_switch),
};

static const struct leanacct_variant variants[] = {
	{ .name = "stock" },
	{ .name = "null", .targets = null_targets },
	{ .name = "exact", .targets = exact_targets },
	{ .name = "shadow", .targets = shadow_targets },
	{}
};

static struct leanacct_func funcs[] = {
#define FUNC(func) LEANACCT_FUNC(func),
	PSI_FUNCTIONS(FUNC)
};

static const struct leanacct_counter counters[] = {
#define COUNTER(name_) { .name = #name_ },
	PSI_COUNTERS(COUNTER)
	{}
};
/* clang-format on */

static u64 *psi_counter(int cpu)
{
	return per_cpu(psi_cpu, cpu).counter;
}

static struct static_key *disabled_key;

static const char *psi_gate_init(void)
{
	unsigned long change = leanacct_symbol("psi_group_change");

	disabled_key = (struct static_key *)leanacct_symbol("psi_disabled");
	system_group = (struct psi_group *)leanacct_symbol("psi_system");
	cpu_seq = COMPAT_PSI_GROUP_SEQ ? 1 : leanacct_symbol("psi_seq");
	if (!change || !disabled_key || !system_group || !cpu_seq)
		return "psi_group_change, psi_disabled, psi_system or psi_seq is not in this kernel";
	if (!leanacct_symbol_is_unique("psi_group_change") ||
	    (!COMPAT_PSI_GROUP_SEQ && !leanacct_symbol_is_unique("psi_seq")))
		return "more than one psi_group_change or psi_seq in this kernel";
	static_call_update(leanacct_psi_group_change, (void *)change);
	leanacct_psi_table_init(mask_table);
	return NULL;
}

static int psi_gate_fit(const char **reason)
{
	if (disabled_key && static_key_enabled(disabled_key)) {
		*reason = "PSI is off: boot with psi=1, or there is nothing to save";
		return -ENODEV;
	}
	return 0;
}

struct leanacct_gate leanacct_psi = {
	.name = "psi",
	.variants = variants,
	.funcs = funcs,
	.nr_funcs = ARRAY_SIZE(funcs),
	.init = psi_gate_init,
	.fit = psi_gate_fit,
	.klp_unfit = "not by klp: livepatch warns when a task ends while it comes or goes",
	.counters = counters,
	.counter = psi_counter,
};
