// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registry of gates and the way from one variant to another.
 *
 *	       set X: fit, redirect all functions, arm
 *	  +-----------------------------------------------+
 *	  |						  v
 *	stock						  X --+ set Y: disarm,
 *	  ^						  |   | redirect again,
 *	  +-----------------------------------------------+ <-+ arm
 *	       set stock: disarm, undo all redirects
 *
 * In stock and while a gate is disarmed, nothing is held back: every call ends
 * in the kernel's own code, and its figures are complete. So a function whose
 * redirect is not in yet, or no longer, does no harm; only an armed gate holds
 * time, and it is armed only while all of its functions lead to it.
 *
 * A change that fails ends in stock.
 *
 * The dead man's switch: a variant that is set while revert_after_s is N goes
 * back to the last one that was kept after N seconds, unless the word keep is
 * written. Its work is nobody's who set it: it runs on any housekeeping CPU, by
 * a timer that does not know the time of day, with no file held open.
 *
 * While leanacct_klp.ko's patch is coming or going, some tasks go through it
 * and others do not; gates stay in stock then.
 */
#define pr_fmt(fmt) "leanacct: " fmt

#include <linux/errno.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "counters.h"
#include "gate.h"
#include "symbols.h"

struct leanacct_gate *const leanacct_gates[] = { &leanacct_vtime, &leanacct_psi,
						 &leanacct_integrals, &leanacct_batch, NULL };

static DEFINE_MUTEX(gate_lock);
static bool gates_gone;	  /* the module is going */
static bool gates_up;	  /* between init and exit */
static bool klp_changing; /* leanacct_klp.ko's patch is coming or going */

u32 leanacct_revert_after_s; /* parameter and debugfs file; 0: changes are for good */
static struct workqueue_struct *revert_wq;

static const struct leanacct_variant *stock(const struct leanacct_gate *gate)
{
	return &gate->variants[0];
}

static const struct leanacct_variant *find_variant(const struct leanacct_gate *gate,
						   const char *word)
{
	const struct leanacct_variant *v;

	for (v = gate->variants; v->name; v++)
		if (!strcmp(v->name, word))
			return v;
	return NULL;
}

/* What the gate's functions are redirected by, while it is on. */
static enum leanacct_mechanism mechanism_of(const struct leanacct_gate *gate)
{
	return gate->nr_funcs ? leanacct_mechanism() : LEANACCT_NONE;
}

/* Tasks are on their way into the livepatch or out of it: no redirect may change. */
static bool klp_in_the_way(const struct leanacct_gate *gate)
{
	return klp_changing && gate->nr_funcs;
}

/*
 * Why can the gate not be used here? NULL if it can. Where it is for one of its
 * functions, @func is its name, else "".
 */
static const char *gate_unfit(struct leanacct_gate *gate, int *error, const char **func)
{
	const char *reason = NULL;
	unsigned int i;

	*func = "";
	*error = gate->fit(&reason);
	if (*error)
		return reason;
	*error = -EOPNOTSUPP;
	if (gate->unfit)
		return gate->unfit;
	for (i = 0; i < gate->nr_funcs; i++) {
		if (gate->funcs[i].unfit) {
			*func = gate->funcs[i].name;
			return gate->funcs[i].unfit;
		}
	}
	if (gate->nr_funcs && leanacct_mechanism() == LEANACCT_NONE)
		return leanacct_mechanism_reason();
	if (mechanism_of(gate) == LEANACCT_KLP && gate->klp_unfit)
		return gate->klp_unfit;
	*error = 0;
	return NULL;
}

static const struct leanacct_target *target_of(const struct leanacct_variant *variant,
					       unsigned int i)
{
	if (!variant->targets || !variant->targets[i].fn)
		return NULL;
	return &variant->targets[i];
}

static int redirect_all(struct leanacct_gate *gate, const struct leanacct_variant *variant)
{
	unsigned int i;
	int ret, err = 0;

	for (i = 0; i < gate->nr_funcs; i++) {
		ret = leanacct_func_redirect(&gate->funcs[i], target_of(variant, i));
		if (!ret)
			continue;
		/* Undo as much as possible; half a variant is worth nothing. */
		if (variant->targets)
			return ret;
		err = ret;
	}
	return err;
}

/* Is any function still redirected? */
static bool gate_held(const struct leanacct_gate *gate)
{
	unsigned int i;

	for (i = 0; i < gate->nr_funcs; i++)
		if (gate->funcs[i].target)
			return true;
	return false;
}

static int gate_change(struct leanacct_gate *gate, const struct leanacct_variant *variant)
{
	int ret;

	if (gate->current_variant->targets && gate->disarm)
		gate->disarm();
	ret = redirect_all(gate, variant);
	if (!ret && variant->targets && gate->arm)
		ret = gate->arm();
	if (ret && variant->targets) {
		redirect_all(gate, stock(gate));
		variant = stock(gate);
	}
	gate->current_variant = variant;
	return ret;
}

/*
 * A change by hand has been made, from @before. Two in a row before the first is
 * kept: back to what was before both.
 */
static void revert_arm(struct leanacct_gate *gate, const struct leanacct_variant *before)
{
	u32 after = READ_ONCE(leanacct_revert_after_s);

	if (!after) {
		gate->kept = NULL;
		cancel_delayed_work(&gate->revert);
		return;
	}
	if (!gate->kept)
		gate->kept = before;
	mod_delayed_work(revert_wq, &gate->revert, (unsigned long)after * HZ);
}

/* Not kept in time. Where it cannot go back at the moment, it tries again. */
static void revert_work(struct work_struct *work)
{
	struct leanacct_gate *gate = container_of(to_delayed_work(work), typeof(*gate), revert);
	const struct leanacct_variant *kept, *now;

	mutex_lock(&gate_lock);
	kept = gate->kept;
	now = gate->current_variant;
	if (!kept || gates_gone || delayed_work_pending(&gate->revert))
		goto out;
	if (klp_in_the_way(gate)) {
		mod_delayed_work(revert_wq, &gate->revert, HZ);
		goto out;
	}
	gate->kept = NULL;
	if (gate_change(gate, kept))
		pr_err("%s: %s was not kept, but going back to %s failed, now %s\n", gate->name,
		       now->name, kept->name, gate->current_variant->name);
	else
		pr_warn("%s: %s was not kept, back to %s\n", gate->name, now->name, kept->name);
out:
	mutex_unlock(&gate_lock);
}

static int gate_keep(struct leanacct_gate *gate)
{
	int ret = 0;

	mutex_lock(&gate_lock);
	if (!gate->kept) {
		pr_err("%s: keep: nothing to keep: no change with revert_after_s is pending\n",
		       gate->name);
		ret = -EINVAL;
	} else {
		gate->kept = NULL;
		cancel_delayed_work(&gate->revert);
		pr_info("%s: %s is kept\n", gate->name, gate->current_variant->name);
	}
	mutex_unlock(&gate_lock);
	return ret;
}

/**
 * leanacct_gate_set - change the variant of a gate
 * @gate: which
 * @word: the variant's name, or keep
 *
 * Context: process context, may sleep for seconds (it waits until no task is
 * left in a replacement). Interrupts every online CPU to patch text.
 * Return: 0; -EINVAL unknown word; -ENODEV nothing to gate; -EOPNOTSUPP not on
 * this kernel; -EBUSY another user holds a function, or leanacct_klp is in
 * transition. Each with one line in the log.
 */
int leanacct_gate_set(struct leanacct_gate *gate, const char *word)
{
	const struct leanacct_variant *variant = find_variant(gate, word), *before;
	const char *reason, *func;
	int ret = 0;

	if (!strcmp(word, "keep"))
		return gate_keep(gate);
	if (!variant) {
		char list[64];

		leanacct_gate_show_variants(gate, list, sizeof(list));
		pr_err("%s: no variant of that name; there are: %s\n", gate->name, list);
		return -EINVAL;
	}
	mutex_lock(&gate_lock);
	if (gates_gone) {
		pr_err("%s: the module is going\n", gate->name);
		ret = -ENODEV;
		goto out;
	}
	if (!gates_up) {
		gate->wanted = variant;
		goto out;
	}
	/* Again, where a redirect could not be undone before. */
	if (gate->current_variant == variant && (variant->targets || !gate_held(gate)))
		goto out;
	if (klp_in_the_way(gate)) {
		pr_err("%s: leanacct_klp is in transition; wait for it, see /sys/kernel/livepatch/leanacct_klp/transition\n",
		       gate->name);
		ret = -EBUSY;
		goto out;
	}
	if (variant->targets) {
		reason = gate_unfit(gate, &ret, &func);
		if (reason) {
			pr_err("%s: %s refused: %s%s%s\n", gate->name, variant->name, func,
			       *func ? ": " : "", reason);
			goto out;
		}
	}
	before = gate->current_variant;
	ret = gate_change(gate, variant);
	revert_arm(gate, before);
	if (ret)
		pr_err("%s: %s failed (%d), now %s\n", gate->name, variant->name, ret,
		       gate->current_variant->name);
	else
		pr_info("%s: %s by %s\n", gate->name, variant->name,
			leanacct_mechanism_name(variant->targets ? mechanism_of(gate) :
								   LEANACCT_NONE));
out:
	mutex_unlock(&gate_lock);
	return ret;
}

/**
 * leanacct_gates_init - find the functions, then set what parameters asked for
 *
 * Context: module init.
 * Return: 0 or -ENOMEM. A parameter's variant that is refused leaves stock and
 * its line in the log: the module is of use to see the reason in status.
 */
int __init leanacct_gates_init(void)
{
	struct leanacct_gate *gate;
	unsigned int i;
	int ret;

	revert_wq = alloc_workqueue("leanacct", WQ_UNBOUND, 0);
	if (!revert_wq)
		return -ENOMEM;
	leanacct_for_each_gate(gate) {
		gate->current_variant = stock(gate);
		INIT_DELAYED_WORK(&gate->revert, revert_work);
		gate->unfit = gate->init();
		for (i = 0; i < gate->nr_funcs; i++)
			leanacct_func_init(&gate->funcs[i]);
		ret = leanacct_counters_init(gate);
		if (ret)
			return ret;
	}
	mutex_lock(&gate_lock);
	gates_up = true;
	mutex_unlock(&gate_lock);
	leanacct_for_each_gate(gate)
		if (gate->wanted)
			leanacct_gate_set(gate, gate->wanted->name);
	return 0;
}

/**
 * leanacct_gates_exit - all gates to stock, for good
 *
 * A module parameter can still be written while the module goes; it finds
 * gates_gone. Where ftrace does not give a function back (it has disabled itself
 * after a fault of its own), the module's text must stay: then this does not
 * return.
 */
void leanacct_gates_exit(void)
{
	struct leanacct_gate *gate;
	bool held = false;

	mutex_lock(&gate_lock);
	gates_gone = true;
	leanacct_for_each_gate(gate) {
		if (!gate->current_variant)
			continue;
		if (gate->current_variant->targets || gate_held(gate))
			gate_change(gate, stock(gate));
		held |= gate_held(gate);
		leanacct_counters_exit(gate);
	}
	mutex_unlock(&gate_lock);
	leanacct_for_each_gate(gate)
		if (gate->current_variant)
			cancel_delayed_work_sync(&gate->revert);
	if (revert_wq)
		destroy_workqueue(revert_wq);
	if (!held)
		return;
	pr_emerg(
		"ftrace did not give a function back; rmmod waits here for good, since the kernel still calls this module: reboot\n");
	for (;;)
		schedule_timeout_uninterruptible(MAX_SCHEDULE_TIMEOUT);
}

/**
 * leanacct_gate_show_variants - "stock null [exact] jiffy shadow"
 * @gate: which
 * @buf:  where to
 * @size: its size
 */
void leanacct_gate_show_variants(struct leanacct_gate *gate, char *buf, size_t size)
{
	const struct leanacct_variant *v, *now = READ_ONCE(gate->current_variant);
	size_t len = 0;

	for (v = gate->variants; v->name; v++)
		len += scnprintf(buf + len, size - len, v == now ? "%s[%s]" : "%s%s",
				 len ? " " : "", v->name);
}

/* Is one of the gate's functions no longer reached although redirected? */
static const char *gate_taken_away(struct leanacct_gate *gate, const char **func)
{
	const char *note;
	unsigned int i;

	for (i = 0; i < gate->nr_funcs; i++) {
		if (gate->funcs[i].target && !leanacct_func_reached(&gate->funcs[i], &note)) {
			*func = gate->funcs[i].name;
			return note;
		}
	}
	return NULL;
}

static unsigned long revert_seconds(const struct leanacct_gate *gate)
{
	long left = READ_ONCE(gate->revert.timer.expires) - jiffies;

	return left > 0 ? left / HZ + 1 : 0;
}

/**
 * leanacct_gate_show_status - the gate's line of the file status
 * @gate: which
 * @m:	  the file
 */
void leanacct_gate_show_status(struct leanacct_gate *gate, struct seq_file *m)
{
	const char *state = "off", *reason, *taken, *func;
	enum leanacct_mechanism by;
	int error;

	mutex_lock(&gate_lock);
	by = mechanism_of(gate);
	reason = gate_unfit(gate, &error, &func);
	if (gate->current_variant->targets) {
		taken = gate_taken_away(gate, &func);
		state = taken ? "inactive" : "on";
		if (taken)
			reason = taken;
		else if (!reason && by == LEANACCT_KLP)
			reason = gate->current_variant->klp_note;
	} else if (reason) {
		state = "unfit";
		by = LEANACCT_NONE;
	} else if (gate->native && by != LEANACCT_KLP) {
		state = "native";
		reason = gate->native;
		by = LEANACCT_NONE;
	} else if (by == LEANACCT_KLP) {
		reason = "stock behind the livepatch, which costs more than stock";
	} else {
		by = LEANACCT_NONE;
	}
	if (klp_in_the_way(gate)) {
		reason = "leanacct_klp is in transition";
		func = "";
	}
	seq_printf(m, "%s %s %s %s", gate->name, gate->current_variant->name,
		   leanacct_mechanism_name(by), state);
	if (reason)
		seq_printf(m, " %s%s%s", func, *func ? ": " : "", reason);
	if (gate->note && gate->current_variant->targets) {
		seq_puts(m, reason ? "; " : " ");
		gate->note(m);
		reason = "";
	}
	if (gate->kept)
		seq_printf(m, "%s back to %s in %lu s unless kept", reason ? ";" : "",
			   gate->kept->name, revert_seconds(gate));
	seq_putc(m, '\n');
	mutex_unlock(&gate_lock);
}

/**
 * leanacct_gate_show_functions - the gate's file functions
 * @gate: which
 * @m:	  the file
 */
void leanacct_gate_show_functions(struct leanacct_gate *gate, struct seq_file *m)
{
	bool addresses = leanacct_may_see_addresses();
	const struct leanacct_func *func;
	const char *note, *state;
	unsigned int i;

	seq_printf(m, "# function state mechanism%s reason\n", addresses ? " site target" : "");
	mutex_lock(&gate_lock);
	for (i = 0; i < gate->nr_funcs; i++) {
		func = &gate->funcs[i];
		note = func->unfit;
		state = note ? "unfit" : "stock";
		if (func->target)
			state = leanacct_func_reached(func, &note) ? "redirected" : "inactive";
		seq_printf(m, "%s %s %s", func->name, state,
			   leanacct_mechanism_name(func->target ? func->by : LEANACCT_NONE));
		if (addresses)
			seq_printf(m, " %px %px", (void *)func->site,
				   func->target ? func->target->fn : NULL);
		seq_printf(m, " %s\n", note ?: "-");
	}
	mutex_unlock(&gate_lock);
}

/**
 * leanacct_klp_begin - leanacct_klp.ko is about to patch
 *
 * Return: 0, or -EBUSY if a gate is not in stock.
 */
int leanacct_klp_begin(void)
{
	struct leanacct_gate *gate;
	int ret = 0;

	mutex_lock(&gate_lock);
	leanacct_for_each_gate(gate) {
		if (!gate->current_variant->targets || !gate->nr_funcs)
			continue;
		pr_err("klp: gate %s is in %s: write stock to its variant first\n", gate->name,
		       gate->current_variant->name);
		ret = -EBUSY;
	}
	if (!ret)
		klp_changing = true;
	mutex_unlock(&gate_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(leanacct_klp_begin);

/**
 * leanacct_klp_ready - every task goes through the livepatch now
 */
void leanacct_klp_ready(void)
{
	mutex_lock(&gate_lock);
	leanacct_mechanism_klp(true);
	klp_changing = false;
	mutex_unlock(&gate_lock);
}
EXPORT_SYMBOL_GPL(leanacct_klp_ready);

/**
 * leanacct_klp_leave - tasks are about to leave the livepatch
 *
 * From here on an epoch could be opened by a task that goes through the patch
 * and be missed by one that does not.
 */
void leanacct_klp_leave(void)
{
	struct leanacct_gate *gate;

	mutex_lock(&gate_lock);
	klp_changing = true;
	leanacct_for_each_gate(gate) {
		if (!gate->nr_funcs)
			continue;
		if (gate->current_variant->targets)
			gate_change(gate, stock(gate));
		gate->kept = NULL;
	}
	mutex_unlock(&gate_lock);
}
EXPORT_SYMBOL_GPL(leanacct_klp_leave);

/**
 * leanacct_klp_end - no task goes through the livepatch any longer
 */
void leanacct_klp_end(void)
{
	mutex_lock(&gate_lock);
	leanacct_mechanism_klp(false);
	klp_changing = false;
	mutex_unlock(&gate_lock);
}
EXPORT_SYMBOL_GPL(leanacct_klp_end);
