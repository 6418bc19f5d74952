// SPDX-License-Identifier: GPL-2.0-only
/*
 * leanacct_klp.ko: the mechanism klp.
 *
 * A livepatch cannot be switched off from inside the kernel nor on again
 * without a reload, one module can hold one, and it taints. So it lives in a
 * module of its own: a table that leads each function to leanacct's entry for
 * it, the trampoline of a static call. Loading this module is what patches;
 *
 *	echo 0 >/sys/kernel/livepatch/leanacct_klp/enabled
 *
 * is what unpatches; then it can be removed. In between, every function of
 * its table goes through livepatch, in stock too.
 *
 * The kernel gives each task its state in a transition by a walk of the task
 * list. One that has ended and was reaped is on no list any more, but still runs
 * up to its last switch: a patched function that it calls there, just when a
 * transition begins, finds no state, and klp_ftrace_handler() warns (harmless by
 * itself, a panic under panic_on_warn). No user of livepatch can close that.
 * So psi_task_switch(), which every ended task calls last, must not be patched,
 * nor psi_task_change(), which that switch calls for each task that it pulls
 * from another CPU: gate psi has no klp. Of the other gates an ended task calls
 * something only if a tick or a preemption hits these last steps.
 *
 *	init		leanacct_klp_begin()	gates must be in stock
 *	post_patch	leanacct_klp_ready()	all tasks go through: gates free
 *	pre_unpatch	leanacct_klp_leave()	gates back to stock
 *	post_unpatch	leanacct_klp_end()	also when patching was reversed
 */
#define pr_fmt(fmt) "leanacct_klp: " fmt

#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/sched/cputime.h>
#include <linux/static_call.h>
#include <linux/tsacct_kern.h>
#include <linux/vtime.h>

#include "compat.h"
#include "gate.h"

/* clang-format off */
#define ENTRY(func)						\
	extern typeof(func) STATIC_CALL_TRAMP(leanacct_entry_##func);

#define PATCH(func) {						\
	.old_name = #func,					\
	.new_func = STATIC_CALL_TRAMP(leanacct_entry_##func),	\
},

#include "functions.h"

LEANACCT_KLP_FUNCTIONS(ENTRY)

static struct klp_func funcs[] = {
	LEANACCT_KLP_FUNCTIONS(PATCH)
	{}
};
/* clang-format on */

static void post_patch(struct klp_object *obj)
{
	leanacct_klp_ready();
}

static void pre_unpatch(struct klp_object *obj)
{
	leanacct_klp_leave();
}

static void post_unpatch(struct klp_object *obj)
{
	leanacct_klp_end();
}

static struct klp_object objs[] = {
	{
		.funcs = funcs,
		.callbacks = {
			.post_patch = post_patch,
			.pre_unpatch = pre_unpatch,
			.post_unpatch = post_unpatch,
		},
	},
	{}
};

static struct klp_patch patch = {
	.mod = THIS_MODULE,
	.objs = objs,
};

static int __init leanacct_klp_init(void)
{
	int ret;

	ret = leanacct_klp_begin();
	if (ret)
		return ret;
	ret = klp_enable_patch(&patch);
	if (ret)
		leanacct_klp_end();
	return ret;
}
module_init(leanacct_klp_init);

/*
 * A cumulative livepatch (.replace) that takes the place of this one calls no
 * callback of it; then this is what brings the gates back to stock.
 */
static void __exit leanacct_klp_exit(void)
{
	leanacct_klp_leave();
	leanacct_klp_end();
}
module_exit(leanacct_klp_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The leanacct developers");
MODULE_DESCRIPTION("Redirects leanacct's functions by livepatch");
MODULE_VERSION(LEANACCT_VERSION);
MODULE_INFO(livepatch, "Y");
