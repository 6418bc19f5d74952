// SPDX-License-Identifier: GPL-2.0-only
/*
 * The accounting that the cpuacct patch of 2010 cured: a tree of percpu_counters,
 * a root and what is below it, to each of which every context switch adds the time
 * since the last one on its CPU. With the kernel's batch, or with one scaled by a
 * jiffy. For test/lab/batch.sh, and for test/cases/batch.sh.
 *
 *	depth=N		load: counters that a switch adds to (default 3)
 *	mode=WORD	rw: off, old, scaled; from off, the figures begin anew
 *	figures		r: "cpus N batch N switches N updates N locks N sum N held N",
 *			locks: updates that took a counter's lock; sum: of all
 *			counters; held: of it, what CPUs hold back
 *	kernel_batch	r: percpu_counter_batch as it is now
 *	add=N		w: add N on this CPU, with the kernel's batch, to the root
 *
 * An update that took the lock leaves nothing in the CPU's part of the counter, any
 * other leaves something: that is how they are told apart.
 */
#define pr_fmt(fmt) "leanacct_tree: " fmt

#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/percpu_counter.h>
#include <linux/sched/clock.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "../module/core/batch.h"

#define MOST_DEPTH 16

struct tree_cpu {
	u64 last, switches, updates, locks;
};

static DEFINE_PER_CPU(struct tree_cpu, tree_cpu);
static struct percpu_counter tree[MOST_DEPTH];
static struct tracepoint *sched_switch;
static s32 batch;

static unsigned int depth = 3;
module_param(depth, uint, 0444);

static const char *const modes[] = { "off", "old", "scaled" };
static int mode;

/* Interrupts off, rq lock held; on the CPU that switches. */
static void on_switch(void *unused, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state)
{
	struct tree_cpu *c = this_cpu_ptr(&tree_cpu);
	u64 now = local_clock(), delta = now - c->last;
	unsigned int i;

	if (c->last) {
		c->switches++;
		for (i = 0; i < depth; i++) {
			percpu_counter_add_batch(&tree[i], delta, batch);
			c->updates++;
			c->locks += !this_cpu_read(*tree[i].counters);
		}
	}
	c->last = now;
}

static void find_switch(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sched_switch"))
		sched_switch = tp;
}

static int mode_set(const char *val, const struct kernel_param *kp)
{
	int cpu, ret = 0, wanted = sysfs_match_string(modes, val);
	unsigned int i;

	if (wanted < 0)
		return wanted;
	if (mode) {
		tracepoint_probe_unregister(sched_switch, on_switch, NULL);
		tracepoint_synchronize_unregister();
	}
	mode = 0;
	if (!wanted)
		return 0;
	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&tree_cpu, cpu), 0, sizeof(struct tree_cpu));
	for (i = 0; i < depth; i++)
		percpu_counter_set(&tree[i], 0);
	batch = percpu_counter_batch;
	if (wanted == 2)
		batch = leanacct_scaled_batch(batch, TICK_NSEC, INT_MAX);
	ret = tracepoint_probe_register(sched_switch, on_switch, NULL);
	if (!ret)
		mode = wanted;
	return ret;
}

static int mode_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", modes[mode]);
}

static const struct kernel_param_ops mode_ops = { .set = mode_set, .get = mode_get };
module_param_cb(mode, &mode_ops, NULL, 0600);

static int figures_get(char *buf, const struct kernel_param *kp)
{
	u64 switches = 0, updates = 0, locks = 0;
	s64 sum = 0, read = 0;
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct tree_cpu *c = per_cpu_ptr(&tree_cpu, cpu);

		switches += c->switches;
		updates += c->updates;
		locks += c->locks;
	}
	for (i = 0; i < depth; i++) {
		sum += percpu_counter_sum(&tree[i]);
		read += percpu_counter_read(&tree[i]);
	}
	return sysfs_emit(
		buf, "cpus %u batch %d switches %llu updates %llu locks %llu sum %lld held %lld\n",
		num_online_cpus(), batch, switches, updates, locks, sum, sum - read);
}

static const struct kernel_param_ops figures_ops = { .get = figures_get };
module_param_cb(figures, &figures_ops, NULL, 0400);

static int kernel_batch_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%d\n", percpu_counter_batch);
}

static const struct kernel_param_ops kernel_batch_ops = { .get = kernel_batch_get };
module_param_cb(kernel_batch, &kernel_batch_ops, NULL, 0400);

static int add_set(const char *val, const struct kernel_param *kp)
{
	int value, ret = kstrtoint(val, 0, &value);

	if (!ret)
		percpu_counter_add(&tree[0], value);
	return ret;
}

static const struct kernel_param_ops add_ops = { .set = add_set };
module_param_cb(add, &add_ops, NULL, 0200);

static int __init leanacct_tree_init(void)
{
	unsigned int i;
	int ret;

	if (depth < 1 || depth > MOST_DEPTH) {
		pr_err("depth: 1 to %d\n", MOST_DEPTH);
		return -EINVAL;
	}
	for_each_kernel_tracepoint(find_switch, NULL);
	if (!sched_switch) {
		pr_err("no tracepoint sched_switch\n");
		return -EOPNOTSUPP;
	}
	for (i = 0; i < depth; i++) {
		ret = percpu_counter_init(&tree[i], 0, GFP_KERNEL);
		if (ret) {
			while (i--)
				percpu_counter_destroy(&tree[i]);
			return ret;
		}
	}
	return 0;
}
module_init(leanacct_tree_init);

static void __exit leanacct_tree_exit(void)
{
	unsigned int i;

	if (mode) {
		tracepoint_probe_unregister(sched_switch, on_switch, NULL);
		tracepoint_synchronize_unregister();
	}
	for (i = 0; i < depth; i++)
		percpu_counter_destroy(&tree[i]);
}
module_exit(leanacct_tree_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A tree of percpu_counters that every switch adds to, for tests and the lab");
