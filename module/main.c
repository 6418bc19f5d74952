// SPDX-License-Identifier: GPL-2.0-only
/*
 * leanacct: CPU-time accounting of the running kernel, redirected to faster
 * versions. Init and exit; see gate.c for what happens in between.
 */
#define pr_fmt(fmt) "leanacct: " fmt

#include <linux/init.h>
#include <linux/module.h>

#include "debugfs.h"
#include "gate.h"
#include "params.h"
#include "redirect.h"
#include "symbols.h"

static int __init leanacct_init(void)
{
	int ret;

	ret = leanacct_symbols_init();
	if (ret)
		return ret;
	leanacct_redirect_init(leanacct_wanted_mechanism());
	ret = leanacct_gates_init();
	if (ret) {
		leanacct_gates_exit();
		return ret;
	}
	leanacct_debugfs_init();
	pr_info("version " LEANACCT_VERSION " loaded, mechanism %s\n",
		leanacct_mechanism_name(leanacct_mechanism()));
	return 0;
}
module_init(leanacct_init);

static void __exit leanacct_exit(void)
{
	leanacct_debugfs_exit();
	leanacct_gates_exit();
	pr_info("unloaded\n");
}
module_exit(leanacct_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The leanacct developers");
MODULE_DESCRIPTION("Faster CPU-time accounting for the running kernel, switchable live");
MODULE_VERSION(LEANACCT_VERSION);
