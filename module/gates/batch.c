// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gate batch: how much each CPU may hold back of a percpu_counter before it takes
 * the counter's lock (percpu_counter_batch).
 *
 * The kernel makes it of the number of CPUs, for values of about 1. Where larger
 * ones are added, every addition takes the lock; in 2010 that made a lock for the
 * whole machine of each cpuacct cgroup. cpuacct has left percpu_counter since;
 * others have come to it, since 6.2 each process's rss.
 *
 * scaled: the kernel's value times the parameter batch_factor. No function is
 * redirected and nothing is paid on any path: it is one variable, which each
 * addition reads anyway. The price is in reading: percpu_counter_read() may be off
 * by batch times the number of CPUs, and status says by how much that is.
 *
 * Bound. The kernel multiplies it by the number of CPUs in 32 bits to find out
 * whether a rough read will do (percpu_counter_compare()), and file systems take
 * four times that as the margin below which they count exactly. So no factor makes
 * more of it than INT_MAX / (4 * nr_cpu_ids): else the product would wrap, and a
 * rough read would be taken for good.
 *
 * Hotplug. The kernel makes its value anew whenever a CPU has come or gone. A
 * callback of ours scales it again when one comes; when one goes, the kernel does
 * it last of all, so a work item follows, which waits for the hotplug operation to
 * end. Until then the kernel's own, smaller value holds, which does no harm. Ours
 * and the kernel's are told apart by comparing with what was written last.
 *
 * Locking. What is below is written with batch_lock and cpus_read_lock() held, or
 * by the hotplug callback, which cpus_write_lock() keeps apart from those. The
 * callback must not take batch_lock: its holders wait for hotplug.
 *
 * Leaving: what CPUs hold back is more than the kernel's value allows for, and
 * would stay until each adds to that counter again. So each CPU in turn brings all
 * counters up to date, as the kernel does for one that has gone: interrupts off,
 * under the lock of the list. (A CPU that real-time tasks never leave makes that
 * wait.)
 *
 * Source of the idea: the patch of 2010 for cpuacct, which does it at run time to
 * stay right across hotplug.
 */
#define pr_fmt(fmt) "leanacct: " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/percpu_counter.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "core/batch.h"
#include "gate.h"
#include "symbols.h"

/* clang-format off */
#define BATCH_COUNTERS(X)						\
	X(scaled)		/* times that the value was set */	\
	X(synced)		/* counters brought up to date on leaving */

enum batch_counter {
#define COUNTER_ENUM(name) BATCH_##name,
	BATCH_COUNTERS(COUNTER_ENUM)
	NR_BATCH_COUNTERS
};
/* clang-format on */

struct batch_cpu {
	u64 counter[NR_BATCH_COUNTERS];
};

static DEFINE_PER_CPU(struct batch_cpu, batch_cpu);

#define count(name) this_cpu_inc(batch_cpu.counter[BATCH_##name])

static DEFINE_MUTEX(batch_lock);
static u32 batch_factor = 8;
static bool armed;
static s32 kernel_batch; /* what the kernel last made of it */
static s32 scaled_batch; /* what we made of that */
static int hotplug_state;

/* The kernel's list of all counters, and its lock. */
static struct list_head *all_counters;
static spinlock_t *all_counters_lock;

static s32 most(void)
{
	return INT_MAX / 4 / nr_cpu_ids;
}

static void scale(void)
{
	s32 now = READ_ONCE(percpu_counter_batch);

	if (now != scaled_batch)
		kernel_batch = now;
	scaled_batch = leanacct_scaled_batch(kernel_batch, batch_factor, most());
	WRITE_ONCE(percpu_counter_batch, scaled_batch);
	count(scaled);
}

/* Bring all counters up to date with what this CPU holds back. */
static long sync_cpu(void *unused)
{
	struct percpu_counter *fbc;
	unsigned long flags;

	spin_lock_irqsave(all_counters_lock, flags);
	list_for_each_entry(fbc, all_counters, list)
	{
		percpu_counter_sync(fbc);
		count(synced);
	}
	spin_unlock_irqrestore(all_counters_lock, flags);
	return 0;
}

/* One CPU after the other: all at once they would wait for the lock, irqs off. */
static void sync_cpus(void)
{
	int cpu;

	for_each_online_cpu(cpu) work_on_cpu(cpu, sync_cpu, NULL);
}

static void scale_work(struct work_struct *unused)
{
	mutex_lock(&batch_lock);
	cpus_read_lock();
	if (armed)
		scale();
	cpus_read_unlock();
	mutex_unlock(&batch_lock);
}
static DECLARE_WORK(work, scale_work);

/* The kernel's own callback has run before this one, or runs right after it. */
static int cpu_comes(unsigned int cpu)
{
	scale();
	queue_work(system_unbound_wq, &work);
	return 0;
}

static int cpu_goes(unsigned int cpu)
{
	queue_work(system_unbound_wq, &work);
	return 0;
}

static int batch_arm(void)
{
	int ret;

	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "leanacct:batch", cpu_comes, cpu_goes);
	if (ret < 0)
		return ret;
	hotplug_state = ret;
	mutex_lock(&batch_lock);
	cpus_read_lock();
	armed = true;
	scale();
	cpus_read_unlock();
	mutex_unlock(&batch_lock);
	return 0;
}

static void batch_disarm(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
	cancel_work_sync(&work);
	mutex_lock(&batch_lock);
	cpus_read_lock();
	armed = false;
	/* Another value is the kernel's, made since: right as it is. */
	if (READ_ONCE(percpu_counter_batch) == scaled_batch)
		WRITE_ONCE(percpu_counter_batch, kernel_batch);
	scaled_batch = 0;
	sync_cpus();
	cpus_read_unlock();
	mutex_unlock(&batch_lock);
}

static void batch_note(struct seq_file *m)
{
	unsigned int cpus = num_online_cpus();

	mutex_lock(&batch_lock);
	seq_printf(m, "batch %d (%d times %u%s): a read may be off by %llu on %u CPUs",
		   scaled_batch, kernel_batch, batch_factor,
		   scaled_batch == most() ? ", bounded" : "",
		   leanacct_batch_error(scaled_batch, cpus), cpus);
	mutex_unlock(&batch_lock);
}

/* Parameter batch_factor, 0600: 1 to INT_MAX; takes effect at once. */
static int factor_set(const char *val, const struct kernel_param *kp)
{
	u32 factor;

	if (!val || kstrtou32(val, 0, &factor) || factor < 1 || factor > INT_MAX) {
		pr_err("parameter batch_factor: a number from 1 to %d\n", INT_MAX);
		return -EINVAL;
	}
	mutex_lock(&batch_lock);
	cpus_read_lock();
	swap(batch_factor, factor);
	if (armed) {
		scale();
		if (batch_factor < factor)
			sync_cpus();
	}
	cpus_read_unlock();
	mutex_unlock(&batch_lock);
	return 0;
}

static const struct kernel_param_ops factor_ops = {
	.set = factor_set,
	.get = param_get_uint,
};
module_param_cb(batch_factor, &factor_ops, &batch_factor, 0600);
MODULE_PARM_DESC(batch_factor, "what the gate batch multiplies percpu_counter_batch by (8)");

static const char *batch_init(void)
{
	if (!leanacct_symbol_is_unique("percpu_counters") ||
	    !leanacct_symbol_is_unique("percpu_counters_lock"))
		return "percpu_counters and its lock are not in this kernel, or more than once";
	all_counters = (struct list_head *)leanacct_symbol("percpu_counters");
	all_counters_lock = (spinlock_t *)leanacct_symbol("percpu_counters_lock");
	return NULL;
}

static int batch_fit(const char **reason)
{
	return 0;
}

/* Nothing is redirected: no functions, and so no targets. */
static const struct leanacct_target no_targets[] = { {} };

static const struct leanacct_variant variants[] = { { .name = "stock" },
						    { .name = "scaled", .targets = no_targets },
						    {} };

/* clang-format off */
static const struct leanacct_counter counters[] = {
#define COUNTER(name_) { .name = #name_ },
	BATCH_COUNTERS(COUNTER)
	{}
};
/* clang-format on */

static u64 *batch_counter(int cpu)
{
	return per_cpu(batch_cpu, cpu).counter;
}

struct leanacct_gate leanacct_batch = {
	.name = "batch",
	.variants = variants,
	.init = batch_init,
	.fit = batch_fit,
	.arm = batch_arm,
	.disarm = batch_disarm,
	.note = batch_note,
	.counters = counters,
	.counter = batch_counter,
};
