// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/leanacct/: the permanent interface.
 *
 * status	     0444 r  "version 1", then a line a gate:
 *			     gate variant mechanism state [reason]
 *			     state: off, on, inactive (taken away), unfit
 * mechanism	     0444 r  "jmp (call) klp", the one in use marked; a comment
 *			     line says why
 * reset_counters    0200 w  anything written lets all counters show 0
 * revert_after_s    0600 rw seconds, 0 (the default): off. While it is N, a variant
 *			     that is set goes back by itself after N seconds,
 *			     unless keep is written to its GATE/variant
 * GATE/variant	     0600 r  "[stock] null exact ...", the present one marked
 *			  w  one word, or keep; EINVAL unknown word, ENODEV nothing to
 *			     gate, EOPNOTSUPP not on this kernel, EBUSY another
 *			     user holds a function; the log names the cause.
 *			     Returns when the change is complete.
 * GATE/counters     0444 r  a header, a row a possible CPU, a row ALL
 * GATE/functions    0444 r  function state mechanism [site target] reason;
 *			     addresses only to those who may see kallsyms
 *
 * Everything runs in process context and may sleep. Under lockdown debugfs lets
 * only the 0444 files be read; the module parameters still work.
 */
#define pr_fmt(fmt) "leanacct: " fmt

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "counters.h"
#include "debugfs.h"
#include "gate.h"

#define WORD_MAX 32

static struct dentry *root;

static int status_show(struct seq_file *m, void *unused)
{
	struct leanacct_gate *gate;

	seq_puts(m, "version 1\n");
	leanacct_for_each_gate(gate)
		leanacct_gate_show_status(gate, m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(status);

static int mechanism_show(struct seq_file *m, void *unused)
{
	enum leanacct_mechanism i, used = leanacct_mechanism();

	seq_printf(m, "# %s\n", leanacct_mechanism_reason());
	for (i = LEANACCT_JMP; i <= LEANACCT_KLP; i++)
		seq_printf(m, i == used ? "%s(%s)" : "%s%s", i == LEANACCT_JMP ? "" : " ",
			   leanacct_mechanism_name(i));
	seq_putc(m, '\n');
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(mechanism);

static int variant_show(struct seq_file *m, void *unused)
{
	char list[64];

	leanacct_gate_show_variants(m->private, list, sizeof(list));
	seq_printf(m, "%s\n", list);
	return 0;
}

static int variant_open(struct inode *inode, struct file *file)
{
	return single_open(file, variant_show, inode->i_private);
}

static ssize_t variant_write(struct file *file, const char __user *ubuf, size_t count, loff_t *ppos)
{
	struct leanacct_gate *gate = ((struct seq_file *)file->private_data)->private;
	char buf[WORD_MAX];
	int ret;

	if (*ppos || !count || count >= sizeof(buf)) {
		pr_err("%s/variant: write one word of less than %d characters\n", gate->name,
		       WORD_MAX);
		return -EINVAL;
	}
	if (copy_from_user(buf, ubuf, count))
		return -EFAULT;
	buf[count] = '\0';
	if (strlen(buf) != count) {
		pr_err("%s/variant: a NUL is not part of a word\n", gate->name);
		return -EINVAL;
	}
	ret = leanacct_gate_set(gate, strim(buf));
	if (ret)
		return ret;
	*ppos += count;
	return count;
}

static const struct file_operations variant_fops = {
	.owner = THIS_MODULE,
	.open = variant_open,
	.read = seq_read,
	.write = variant_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int counters_show(struct seq_file *m, void *unused)
{
	leanacct_counters_show(m->private, m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

static int functions_show(struct seq_file *m, void *unused)
{
	leanacct_gate_show_functions(m->private, m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(functions);

static ssize_t reset_counters_write(struct file *file, const char __user *ubuf, size_t count,
				    loff_t *ppos)
{
	struct leanacct_gate *gate;

	leanacct_for_each_gate(gate)
		leanacct_counters_reset(gate);
	return count;
}

static const struct file_operations reset_counters_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = reset_counters_write,
	.llseek = noop_llseek,
};

/**
 * leanacct_debugfs_init - make the files, once all that they show is there
 *
 * Without debugfs the module works on, by its parameters.
 */
void __init leanacct_debugfs_init(void)
{
	struct leanacct_gate *gate;
	struct dentry *dir;

	root = debugfs_create_dir("leanacct", NULL);
	debugfs_create_file("status", 0444, root, NULL, &status_fops);
	debugfs_create_file("mechanism", 0444, root, NULL, &mechanism_fops);
	debugfs_create_u32("revert_after_s", 0600, root, &leanacct_revert_after_s);
	debugfs_create_file("reset_counters", 0200, root, NULL, &reset_counters_fops);
	leanacct_for_each_gate(gate) {
		dir = debugfs_create_dir(gate->name, root);
		debugfs_create_file("variant", 0600, dir, gate, &variant_fops);
		debugfs_create_file("counters", 0444, dir, gate, &counters_fops);
		debugfs_create_file("functions", 0444, dir, gate, &functions_fops);
	}
}

/**
 * leanacct_debugfs_exit - remove the files, before anything that they show
 *
 * Waits for readers and writers that are inside.
 */
void leanacct_debugfs_exit(void)
{
	debugfs_remove_recursive(root);
}
