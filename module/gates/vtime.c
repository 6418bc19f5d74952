// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gate vtime: the accounting of each transition between user and kernel on a
 * nohz_full CPU (CONFIG_VIRT_CPU_ACCOUNTING_GEN).
 *
 * The kernel's model. A task has vtime->state (user, system, guest, idle),
 * vtime->starttime (sched_clock() up to which it has been accounted) and one
 * sum per state of what has not yet reached the task's own times. At each
 * transition the kernel reads sched_clock(), takes off steal time, adds the
 * time since starttime to the sum of the state that is being left, and hands
 * the sum on once it has reached a tick; all inside vtime->seqcount. On 6.12
 * that is 138 instructions per system call, of 523.
 *
 * exact. Between two jiffies nobody needs the sums: a reader elsewhere adds
 * sched_clock() - starttime by itself. What would be lost is whose time it
 * was, and for that the TSC is enough. So a transition adds or subtracts the
 * TSC (core/split.h) and changes vtime->state, 13 instructions with the
 * redirect. Once a jiffy, or when somebody needs the figures, the epoch is
 * flushed: the share of the state that is not being left is moved out
 * (starttime goes forward by what its sum is given), so that the rest, from
 * starttime to now, is the present state's alone; which is all that the
 * kernel's own code ever assumes. It then runs behind the gate and accounts the
 * rest, with steal and irq time.
 *
 * Example: 4 ms since starttime, of it 3 ms by TSC in user mode, a system call
 * is about to return. Moved out: utime += 3 ms, starttime += 3 ms. The kernel
 * then finds 1 ms since starttime and adds it to stime.
 *
 * The sum is stock's to the nanosecond, whatever the TSC says: starttime moves
 * by exactly what is accounted. The split is the TSC's. Steal and irq time, where
 * the kernel takes them off, come out of the share that its code finds; what does
 * not fit waits for the next accounting on this CPU, be it another task's.
 *
 * Who sees an open epoch:
 * - vtime_task_switch_generic(): flushes prev's, opens one for current.
 * - vtime_guest_enter(): flushes and closes. vtime_guest_exit() opens one.
 *   There is no user transition in between.
 * - task_cputime() of current, which is behind getrusage(), times(), the CPU
 *   clocks and timers and taskstats: flushes; the epoch goes on.
 * - readers on other CPUs, and of /proc/stat: what is pending in the sum of the
 *   other state, under a tick, is not shown to them, as in stock; the split is
 *   late by up to a jiffy on top.
 *
 * Context and races. The kernel calls all hooks but task_cputime() with
 * interrupts off, on the CPU and, but for the switch, in the task they are
 * about; the gate switches them off for task_cputime(). So an epoch is this
 * CPU's alone and belongs to current outside of a context switch, during which
 * interrupts stay off. NMIs do not come here: they make no user transition
 * that is accounted. A remote reader sees vtime->state change without
 * vtime->seqcount: it is one aligned word, and either value gives it the same
 * sum.
 *
 * Opening is allowed while `armed`, which is set after all redirects are in.
 * Leaving clears it, then closes the epoch of each CPU by an interrupt there.
 * A hook that has seen `armed` runs with interrupts off, so the interrupt comes
 * after it and finds what it opened; one that begins after the interrupt sees
 * `armed` clear. An offline CPU's epoch is its idle task's and holds nothing.
 *
 * jiffy. Accounts once a jiffy, and gives all of it to the state that is then
 * left: patch 4 of the nohz_full series (v4.6, ff9a9b4c4334; left again in
 * 4.13, since transitions that are synchronous with the tick are charged to
 * the wrong side altogether). Nothing is held: switch and readers need no gate.
 *
 * legacy. Accounts to the end at every transition, as up to 4.5: for the lab.
 *
 * shadow. The kernel accounts; the gate keeps its own epochs beside it and
 * compares, per jiffy, whose time it was.
 */
#define pr_fmt(fmt) "leanacct: " fmt

#include <linux/context_tracking.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/kernel_stat.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/cputime.h>
#include <linux/seqlock.h>
#include <linux/smp.h>
#include <linux/tick.h>
#include <linux/vtime.h>
#include <asm/tsc.h>

#include "compat.h"
#include "core/split.h"
#include "functions.h"
#include "gate.h"
#include "percpu.h"
#include "symbols.h"
#include "targets.h"

/* clang-format off */
#define VTIME_COUNTERS(X)						\
	X(fast)			/* transitions on the fast path */	\
	X(slow_jiffy)		/* a new jiffy */			\
	X(slow_closed)		/* no open epoch */			\
	X(flush_switch)		/* open epoch met by: a context switch */ \
	X(flush_guest)		/*	entering a guest */		\
	X(flush_read)		/*	a task that reads its own times */ \
	X(flush_leave)		/*	a change of variant */		\
	X(shadow_epochs)	/* epochs that shadow compared */	\
	X(shadow_ns)		/* their length */			\
	X(differences)		/* of them, off by more than 1 % */	\
	X(diff_ns)		/* by how much they were off, all told */

enum vtime_counter {
#define COUNTER_ENUM(name) VTIME_##name,
	VTIME_COUNTERS(COUNTER_ENUM)
	VTIME_diff_max_ns,	/* and the one that was off most */
	NR_VTIME_COUNTERS
};
/* clang-format on */

/**
 * struct vtime_cpu - what the gate keeps of a CPU; its own alone
 * @jiffy:	 the jiffy in which the open epoch began, 0 if none is open
 *		 (jiffies is never 0 on a 64-bit kernel)
 * @epoch:	 its cycles
 * @counter:	 see VTIME_COUNTERS; the first is of the fast path
 * @last_start:	 shadow: starttime at the last transition
 * @last_tsc:	 shadow: the TSC then
 * @first_start: shadow: starttime when the epoch began
 * @user:	 shadow: what stock gave to the user in this epoch
 */
struct vtime_cpu {
	u64 jiffy;
	struct leanacct_epoch epoch;
	u64 counter[NR_VTIME_COUNTERS];
	u64 last_start;
	u64 last_tsc;
	u64 first_start;
	u64 user;
};

static DEFINE_PER_CPU_ALIGNED(struct vtime_cpu, vtime_cpu);
static bool armed;

/* clang-format off */
#define DEFINE_FUNC(func) LEANACCT_DEFINE_FUNC(func);
VTIME_FUNCTIONS(DEFINE_FUNC)
/* clang-format on */

DEFINE_STATIC_CALL_NULL(leanacct_account_user_time, account_user_time);
DEFINE_STATIC_CALL_NULL(leanacct_account_system_time, account_system_time);

/* clang-format off */
#define TASK_PROTOTYPE(fn)						\
	__noendbr void fn(struct task_struct *tsk);			\
	void LEANACCT_TRAMPOLINE_NAME(fn)(void);
#define CPUTIME_PROTOTYPE(fn)						\
	__noendbr bool fn(struct task_struct *tsk, u64 *utime, u64 *stime); \
	void LEANACCT_TRAMPOLINE_NAME(fn)(void);
VTIME_TASK_TARGETS(TASK_PROTOTYPE)
VTIME_CPUTIME_TARGETS(CPUTIME_PROTOTYPE)
/* clang-format on */

/* null: the redirect alone. */

__replacement void leanacct_vtime_null_switch(struct task_struct *prev)
{
	leanacct_body(vtime_task_switch_generic)(prev);
}

__replacement void leanacct_vtime_null_guest_enter(struct task_struct *tsk)
{
	leanacct_body(vtime_guest_enter)(tsk);
}

__replacement void leanacct_vtime_null_guest_exit(struct task_struct *tsk)
{
	leanacct_body(vtime_guest_exit)(tsk);
}

__replacement bool leanacct_vtime_null_cputime(struct task_struct *tsk, u64 *utime, u64 *stime)
{
	return leanacct_body(task_cputime)(tsk, utime, stime);
}

__replacement void leanacct_vtime_null_user_enter(struct task_struct *tsk)
{
	leanacct_body(vtime_user_enter)(tsk);
}

__replacement void leanacct_vtime_null_user_exit(struct task_struct *tsk)
{
	leanacct_body(vtime_user_exit)(tsk);
}

/* exact */

static __always_inline void epoch_open(struct vtime_cpu *c, u64 tsc, bool in_kernel)
{
	if (!READ_ONCE(armed)) {
		c->jiffy = 0;
		return;
	}
	leanacct_epoch_open(&c->epoch, tsc, in_kernel);
	c->jiffy = jiffies;
}

/*
 * What @cycles of the epoch's @total stand for of the nanoseconds since
 * starttime. They leave the epoch; the caller moves the nanoseconds.
 */
static __always_inline u64 epoch_take(struct vtime_cpu *c, const struct vtime *vtime, u64 cycles,
				      u64 total)
{
	s64 elapsed = sched_clock() - vtime->starttime;

	c->epoch.start += cycles;
	return elapsed > 0 ? leanacct_share(elapsed, cycles, total) : 0;
}

/*
 * Flush while the task is in the kernel: move the user's share out of the time
 * since starttime, and out of the epoch. What is left of both is the kernel's.
 *
 * @kernel: the epoch's cycles in the kernel, complete up to @tsc.
 * Interrupts are off; @tsk runs on this CPU, or has until just now. In a guest
 * and in idle the user's share is 0.
 */
static __always_inline void flush_user(struct vtime_cpu *c, struct task_struct *tsk, u64 kernel,
				       u64 tsc)
{
	struct vtime *vtime = &tsk->vtime;
	u64 total = tsc - c->epoch.start;
	u64 user = leanacct_user_cycles(kernel, total);

	if (!user)
		return;
	user = epoch_take(c, vtime, user, total);
	write_seqcount_begin(&vtime->seqcount);
	vtime->starttime += user;
	vtime->utime += user;
	if (vtime->utime >= TICK_NSEC) {
		static_call(leanacct_account_user_time)(tsk, vtime->utime);
		vtime->utime = 0;
	}
	write_seqcount_end(&vtime->seqcount);
}

/* Flush while the task is still in user mode: the same for the kernel's share. */
static __always_inline void flush_kernel(struct vtime_cpu *c, struct task_struct *tsk, u64 kernel,
					 u64 tsc)
{
	struct vtime *vtime = &tsk->vtime;
	u64 total = tsc - c->epoch.start;

	kernel = total - leanacct_user_cycles(kernel, total);
	if (!kernel)
		return;
	kernel = epoch_take(c, vtime, kernel, total);
	write_seqcount_begin(&vtime->seqcount);
	vtime->starttime += kernel;
	vtime->stime += kernel;
	if (vtime->stime >= TICK_NSEC) {
		static_call(leanacct_account_system_time)(tsk, irq_count(), vtime->stime);
		vtime->stime = 0;
	}
	write_seqcount_end(&vtime->seqcount);
}

/* Flush from inside the kernel, where the accumulator lacks the present TSC. */
static __always_inline void flush_in_kernel(struct vtime_cpu *c, struct task_struct *tsk, u64 tsc,
					    enum vtime_counter cause)
{
	if (!c->jiffy)
		return;
	c->counter[cause]++;
	flush_user(c, tsk, c->epoch.kernel + tsc, tsc);
}

/* Context: interrupts off, rq lock of this CPU held; current is next. */
__replacement void leanacct_vtime_exact_switch(struct task_struct *prev)
{
	struct vtime_cpu *c = this_cpu_ptr(&vtime_cpu);
	u64 tsc = rdtsc();

	flush_in_kernel(c, prev, tsc, VTIME_flush_switch);
	epoch_open(c, tsc, true);
	leanacct_body(vtime_task_switch_generic)(prev);
}

/* Context: interrupts off. */
__replacement void leanacct_vtime_exact_guest_enter(struct task_struct *tsk)
{
	struct vtime_cpu *c = this_cpu_ptr(&vtime_cpu);

	flush_in_kernel(c, tsk, rdtsc(), VTIME_flush_guest);
	c->jiffy = 0;
	leanacct_body(vtime_guest_enter)(tsk);
}

/* Context: interrupts off. */
__replacement void leanacct_vtime_exact_guest_exit(struct task_struct *tsk)
{
	epoch_open(this_cpu_ptr(&vtime_cpu), rdtsc(), true);
	leanacct_body(vtime_guest_exit)(tsk);
}

/* Context: any but NMI. */
__replacement bool leanacct_vtime_exact_cputime(struct task_struct *tsk, u64 *utime, u64 *stime)
{
	unsigned long flags;

	if (tsk == current) {
		local_irq_save(flags);
		flush_in_kernel(this_cpu_ptr(&vtime_cpu), tsk, rdtsc(), VTIME_flush_read);
		local_irq_restore(flags);
	}
	return leanacct_body(task_cputime)(tsk, utime, stime);
}

static __replacement void exact_user_enter_slow(struct task_struct *tsk, u64 tsc)
{
	struct vtime_cpu *c = this_cpu_ptr(&vtime_cpu);

	if (c->jiffy) {
		c->counter[VTIME_slow_jiffy]++;
		flush_user(c, tsk, c->epoch.kernel, tsc);
	} else {
		c->counter[VTIME_slow_closed]++;
	}
	epoch_open(c, tsc, false);
	leanacct_body(vtime_user_enter)(tsk);
}

static __replacement void exact_user_exit_slow(struct task_struct *tsk, u64 tsc)
{
	struct vtime_cpu *c = this_cpu_ptr(&vtime_cpu);

	if (c->jiffy) {
		c->counter[VTIME_slow_jiffy]++;
		flush_kernel(c, tsk, c->epoch.kernel + tsc, tsc);
	} else {
		c->counter[VTIME_slow_closed]++;
	}
	epoch_open(c, tsc, true);
	leanacct_body(vtime_user_exit)(tsk);
}

/*
 * The fast paths. The accumulator is changed before it is known whether an
 * epoch is open: if none is, what it holds means nothing, and the slow path
 * begins it anew.
 *
 * Context: interrupts off, tsk is current.
 */
__replacement void leanacct_vtime_exact_user_enter(struct task_struct *tsk)
{
	u64 tsc = rdtsc();

	cpu_add(vtime_cpu.epoch.kernel, tsc);
	if (unlikely(cpu_differs(vtime_cpu.jiffy, jiffies))) {
		exact_user_enter_slow(tsk, tsc);
		return;
	}
	cpu_inc(vtime_cpu.counter[VTIME_fast]);
	WRITE_ONCE(tsk->vtime.state, VTIME_USER);
}

__replacement void leanacct_vtime_exact_user_exit(struct task_struct *tsk)
{
	u64 tsc = rdtsc();

	cpu_sub(vtime_cpu.epoch.kernel, tsc);
	if (unlikely(cpu_differs(vtime_cpu.jiffy, jiffies))) {
		exact_user_exit_slow(tsk, tsc);
		return;
	}
	cpu_inc(vtime_cpu.counter[VTIME_fast]);
	WRITE_ONCE(tsk->vtime.state, VTIME_SYS);
}

/* jiffy */

static __always_inline void jiffy_slow(void)
{
	struct vtime_cpu *c = this_cpu_ptr(&vtime_cpu);

	c->counter[c->jiffy ? VTIME_slow_jiffy : VTIME_slow_closed]++;
	c->jiffy = READ_ONCE(armed) ? jiffies : 0;
}

static __replacement void jiffy_user_enter_slow(struct task_struct *tsk)
{
	jiffy_slow();
	leanacct_body(vtime_user_enter)(tsk);
}

static __replacement void jiffy_user_exit_slow(struct task_struct *tsk)
{
	jiffy_slow();
	leanacct_body(vtime_user_exit)(tsk);
}

/* Context: interrupts off, tsk is current. */
__replacement void leanacct_vtime_jiffy_user_enter(struct task_struct *tsk)
{
	if (unlikely(cpu_differs(vtime_cpu.jiffy, jiffies))) {
		jiffy_user_enter_slow(tsk);
		return;
	}
	cpu_inc(vtime_cpu.counter[VTIME_fast]);
	WRITE_ONCE(tsk->vtime.state, VTIME_USER);
}

__replacement void leanacct_vtime_jiffy_user_exit(struct task_struct *tsk)
{
	if (unlikely(cpu_differs(vtime_cpu.jiffy, jiffies))) {
		jiffy_user_exit_slow(tsk);
		return;
	}
	cpu_inc(vtime_cpu.counter[VTIME_fast]);
	WRITE_ONCE(tsk->vtime.state, VTIME_SYS);
}

/*
 * legacy: what the kernel did up to 4.5. Its own code runs, but each transition
 * hands the sum on at once, to the task's times, the cgroup's, /proc/stat and the
 * memory integrals. For the lab; together with the gate integrals' legacy.
 */

static __replacement void legacy_user_enter_body(struct task_struct *tsk)
{
	leanacct_body(vtime_user_enter)(tsk);
}

static __replacement void legacy_user_exit_body(struct task_struct *tsk)
{
	leanacct_body(vtime_user_exit)(tsk);
}

/* Context: interrupts off, tsk is current. */
__replacement void leanacct_vtime_legacy_user_enter(struct task_struct *tsk)
{
	struct vtime *vtime = &tsk->vtime;

	legacy_user_enter_body(tsk);
	write_seqcount_begin(&vtime->seqcount);
	if (vtime->stime)
		static_call(leanacct_account_system_time)(tsk, irq_count(), vtime->stime);
	vtime->stime = 0;
	write_seqcount_end(&vtime->seqcount);
}

__replacement void leanacct_vtime_legacy_user_exit(struct task_struct *tsk)
{
	struct vtime *vtime = &tsk->vtime;

	legacy_user_exit_body(tsk);
	write_seqcount_begin(&vtime->seqcount);
	if (vtime->utime)
		static_call(leanacct_account_user_time)(tsk, vtime->utime);
	vtime->utime = 0;
	write_seqcount_end(&vtime->seqcount);
}

/* shadow */

/*
 * The kernel accounts a transition only after the gate has seen it. So at each
 * one, starttime still says where the one before ended: the step that it made
 * there is what stock gave to the state that was left there.
 *
 *	transition	 i-1	      i		  i+1 (now)
 *	TSC		  |	   last_tsc	  tsc
 *	sched_clock()	last_start  starttime	  not yet read
 *
 * Takes in transition i, and compares if a jiffy is over.
 *
 * @in_kernel: the kernel has been running since i, which left user mode
 */
static void shadow_settle(struct vtime_cpu *c, struct task_struct *tsk, bool in_kernel, bool over)
{
	u64 start = tsk->vtime.starttime, kernel = c->epoch.kernel;
	u64 length, total, user, exact, diff;

	if (c->last_start && in_kernel)
		c->user += start - c->last_start;
	if (!c->last_start)
		c->first_start = start;
	c->last_start = start;
	if (!over)
		return;

	length = start - c->first_start;
	total = c->last_tsc - c->epoch.start;
	if (in_kernel)
		kernel += c->last_tsc;
	user = leanacct_user_cycles(kernel, total);
	exact = user ? leanacct_share(length, user, total) : 0;
	diff = exact > c->user ? exact - c->user : c->user - exact;
	if (length) {
		c->counter[VTIME_shadow_epochs]++;
		c->counter[VTIME_shadow_ns] += length;
		c->counter[VTIME_diff_ns] += diff;
		c->counter[VTIME_differences] += diff > length / 100;
		c->counter[VTIME_diff_max_ns] = max(c->counter[VTIME_diff_max_ns], diff);
	}

	leanacct_epoch_open(&c->epoch, c->last_tsc, in_kernel);
	c->first_start = start;
	c->user = 0;
	c->jiffy = jiffies;
}

static __always_inline void shadow_transition(struct task_struct *tsk, bool from_kernel)
{
	struct vtime_cpu *c = this_cpu_ptr(&vtime_cpu);
	u64 tsc = rdtsc();

	if (c->jiffy) {
		shadow_settle(c, tsk, from_kernel, c->jiffy != jiffies);
		c->epoch.kernel += from_kernel ? tsc : -tsc;
	} else {
		epoch_open(c, tsc, !from_kernel);
		c->last_start = 0;
		c->user = 0;
	}
	c->last_tsc = tsc;
}

/* The task's times are about to be somebody else's business: end the epoch. */
static __always_inline void shadow_close(struct task_struct *tsk)
{
	struct vtime_cpu *c = this_cpu_ptr(&vtime_cpu);

	if (c->jiffy)
		shadow_settle(c, tsk, true, true);
	c->jiffy = 0;
}

/* Context: as for exact. */
__replacement void leanacct_vtime_shadow_switch(struct task_struct *prev)
{
	shadow_close(prev);
	leanacct_body(vtime_task_switch_generic)(prev);
}

__replacement void leanacct_vtime_shadow_guest_enter(struct task_struct *tsk)
{
	shadow_close(tsk);
	leanacct_body(vtime_guest_enter)(tsk);
}

__replacement void leanacct_vtime_shadow_user_enter(struct task_struct *tsk)
{
	shadow_transition(tsk, true);
	leanacct_body(vtime_user_enter)(tsk);
}

__replacement void leanacct_vtime_shadow_user_exit(struct task_struct *tsk)
{
	shadow_transition(tsk, false);
	leanacct_body(vtime_user_exit)(tsk);
}

/* The gate */

/* clang-format off */
#define TARGET(func) { .fn = func, .trampoline = LEANACCT_TRAMPOLINE_NAME(func) }

/* In the order of VTIME_FUNCTIONS. */
static const struct leanacct_target null_targets[] = {
	TARGET(leanacct_vtime_null_switch),
	TARGET(leanacct_vtime_null_guest_enter),
	TARGET(leanacct_vtime_null_guest_exit),
	TARGET(leanacct_vtime_null_cputime),
	TARGET(leanacct_vtime_null_user_enter),
	TARGET(leanacct_vtime_null_user_exit),
};

static const struct leanacct_target exact_targets[] = {
	TARGET(leanacct_vtime_exact_switch),
	TARGET(leanacct_vtime_exact_guest_enter),
	TARGET(leanacct_vtime_exact_guest_exit),
	TARGET(leanacct_vtime_exact_cputime),
	TARGET(leanacct_vtime_exact_user_enter),
	TARGET(leanacct_vtime_exact_user_exit),
};

static const struct leanacct_target jiffy_targets[] = {
	{},
	{},
	{},
	{},
	TARGET(leanacct_vtime_jiffy_user_enter),
	TARGET(leanacct_vtime_jiffy_user_exit),
};

static const struct leanacct_target legacy_targets[] = {
	{},
	{},
	{},
	{},
	TARGET(leanacct_vtime_legacy_user_enter),
	TARGET(leanacct_vtime_legacy_user_exit),
};

static const struct leanacct_target shadow_targets[] = {
	TARGET(leanacct_vtime_shadow_switch),
	TARGET(leanacct_vtime_shadow_guest_enter),
	{},
	{},
	TARGET(leanacct_vtime_shadow_user_enter),
	TARGET(leanacct_vtime_shadow_user_exit),
};
/* clang-format on */

static const struct leanacct_variant variants[] = {
	{ .name = "stock" },
	{ .name = "null", .targets = null_targets },
	{ .name = "exact", .targets = exact_targets, .klp_note = "net loss under klp" },
	{ .name = "jiffy",
	  .targets = jiffy_targets,
	  .klp_note = COMPAT_JIFFY_KLP_NET_LOSS ? "net loss under klp" : NULL },
	{ .name = "legacy", .targets = legacy_targets },
	{ .name = "shadow", .targets = shadow_targets },
	{}
};

/* clang-format off */
static struct leanacct_func funcs[] = {
#define FUNC(func) LEANACCT_FUNC(func),
	VTIME_FUNCTIONS(FUNC)
};

static const struct leanacct_counter counters[] = {
#define COUNTER(name_) { .name = #name_ },
	VTIME_COUNTERS(COUNTER)
	{ .name = "diff_max_ns", .is_max = true },
	{}
};
/* clang-format on */

static u64 *vtime_counter(int cpu)
{
	return per_cpu(vtime_cpu, cpu).counter;
}

static const char *vtime_init(void)
{
	unsigned long user = leanacct_symbol("account_user_time");
	unsigned long system = leanacct_symbol("account_system_time");

	if (!user || !system)
		return "account_user_time or account_system_time is not in this kernel";
	static_call_update(leanacct_account_user_time, (void *)user);
	static_call_update(leanacct_account_system_time, (void *)system);
	return NULL;
}

static int vtime_fit(const char **reason)
{
	if (!tick_nohz_full_enabled()) {
		*reason = "no nohz_full CPU: boot with nohz_full=CPUS, or there is nothing to save";
		return -ENODEV;
	}
	if (!boot_cpu_has(X86_FEATURE_TSC) || check_tsc_unstable()) {
		*reason = "the TSC is not usable as a clock, and the split is by TSC";
		return -EOPNOTSUPP;
	}
	return 0;
}

static int vtime_arm(void)
{
	/* Reaches every hook at its next slow path; see the top for clearing. */
	WRITE_ONCE(armed, true);
	return 0;
}

static void leave_cpu(void *holds)
{
	struct vtime_cpu *c = this_cpu_ptr(&vtime_cpu);

	if (holds)
		flush_in_kernel(c, current, rdtsc(), VTIME_flush_leave);
	c->jiffy = 0;
}

static void vtime_disarm(void)
{
	bool holds = leanacct_vtime.current_variant->targets == exact_targets;
	int cpu;

	WRITE_ONCE(armed, false);
	cpus_read_lock();
	on_each_cpu(leave_cpu, holds ? &armed : NULL, 1);
	for_each_possible_cpu(cpu)
		if (!cpu_online(cpu))
			per_cpu(vtime_cpu, cpu).jiffy = 0;
	cpus_read_unlock();
}

struct leanacct_gate leanacct_vtime = {
	.name = "vtime",
	.variants = variants,
	.funcs = funcs,
	.nr_funcs = ARRAY_SIZE(funcs),
	.init = vtime_init,
	.fit = vtime_fit,
	.arm = vtime_arm,
	.disarm = vtime_disarm,
	.counters = counters,
	.counter = vtime_counter,
};
