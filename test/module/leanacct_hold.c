// SPDX-License-Identifier: GPL-2.0-only
/*
 * For test/cases/klp.sh: loading it keeps the task that loads it in the kernel,
 * running on its CPU, for 18 s. Livepatch cannot look at the stack of a running
 * task, so that task holds a transition for as long.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/nmi.h>

static int __init leanacct_hold_init(void)
{
	int i;

	for (i = 0; i < 180; i++) {
		mdelay(100);
		touch_nmi_watchdog();
	}
	return 0;
}
module_init(leanacct_hold_init);

static void __exit leanacct_hold_exit(void)
{
}
module_exit(leanacct_hold_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Holds a livepatch transition, for a test");
