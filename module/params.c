// SPDX-License-Identifier: GPL-2.0-only
/*
 * Module parameters: the controls of debugfs a second time, for modprobe.d and
 * for kernels under lockdown, whose debugfs cannot be written.
 *
 * GATE=VARIANT		0600, same words and errors as GATE/variant in debugfs.
 *			At load it is set once the module is up; a refusal
 *			then leaves stock, with its reason in the log and in
 *			status. An unknown word makes the load fail.
 * batch_factor=N	0600, see gates/batch.c.
 * revert_after_s=N	0600, the file of that name in debugfs.
 * mechanism=WORD	0444, at load only: auto (default), jmp or call.
 */
#define pr_fmt(fmt) "leanacct: " fmt

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "gate.h"
#include "params.h"

static int variant_set(const char *val, const struct kernel_param *kp)
{
	char buf[32];

	if (!val || strscpy(buf, val, sizeof(buf)) < 0) {
		pr_err("parameter %s: one word of less than 32 characters\n", kp->name);
		return -EINVAL;
	}
	return leanacct_gate_set(kp->arg, strim(buf));
}

static int variant_get(char *buf, const struct kernel_param *kp)
{
	leanacct_gate_show_variants(kp->arg, buf, PAGE_SIZE - 1);
	return strlen(strcat(buf, "\n"));
}

static const struct kernel_param_ops variant_ops = {
	.set = variant_set,
	.get = variant_get,
};

module_param_named(revert_after_s, leanacct_revert_after_s, uint, 0600);
MODULE_PARM_DESC(revert_after_s,
		 "seconds after which a variant that is not kept goes back, 0: never");

module_param_cb(vtime, &variant_ops, &leanacct_vtime, 0600);
MODULE_PARM_DESC(vtime, "variant of the gate vtime: stock null exact jiffy legacy shadow");
module_param_cb(psi, &variant_ops, &leanacct_psi, 0600);
MODULE_PARM_DESC(psi, "variant of the gate psi: stock null exact shadow");
module_param_cb(integrals, &variant_ops, &leanacct_integrals, 0600);
MODULE_PARM_DESC(integrals, "variant of the gate integrals: stock null legacy nodiv lean");
module_param_cb(batch, &variant_ops, &leanacct_batch, 0600);
MODULE_PARM_DESC(batch, "variant of the gate batch: stock scaled");

static enum leanacct_mechanism wanted = LEANACCT_AUTO;

static int mechanism_set(const char *val, const struct kernel_param *kp)
{
	enum leanacct_mechanism i;

	for (i = LEANACCT_AUTO; i <= LEANACCT_CALL; i++) {
		if (val && sysfs_streq(val, leanacct_mechanism_name(i))) {
			wanted = i;
			return 0;
		}
	}
	pr_err("parameter mechanism: auto, jmp or call; for klp load leanacct_klp\n");
	return -EINVAL;
}

static int mechanism_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", leanacct_mechanism_name(wanted));
}

static const struct kernel_param_ops mechanism_ops = {
	.set = mechanism_set,
	.get = mechanism_get,
};

module_param_cb(mechanism, &mechanism_ops, NULL, 0444);
MODULE_PARM_DESC(mechanism, "how functions are redirected: auto (default), jmp or call");

/**
 * leanacct_wanted_mechanism - what the parameter mechanism asks for
 */
enum leanacct_mechanism leanacct_wanted_mechanism(void)
{
	return wanted;
}
