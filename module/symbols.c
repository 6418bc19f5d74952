// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names that the kernel does not export.
 *
 * A kprobe that is registered disabled resolves one name, kallsyms_lookup_name,
 * without arming anything: no text is changed. That finds the others. All of
 * them are called through static_call, a direct call: an indirect one would
 * fault where the target's ENDBR has been sealed (IBT) or its type hash differs
 * (kCFI).
 */
#define pr_fmt(fmt) "leanacct: " fmt

#include <linux/cred.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/static_call.h>

#include "symbols.h"

DEFINE_STATIC_CALL_NULL(leanacct_kallsyms_lookup_name, kallsyms_lookup_name);
DEFINE_STATIC_CALL_NULL(leanacct_kallsyms_show_value, kallsyms_show_value);
DEFINE_STATIC_CALL_NULL(leanacct_ftrace_location, ftrace_location);
DEFINE_STATIC_CALL_NULL(leanacct_on_each_match, kallsyms_on_each_match_symbol);

/**
 * leanacct_symbol - the address of a kernel symbol
 * @name: its exact name, without suffix
 *
 * Context: process context.
 * Return: the address, or 0 if the running kernel has no such symbol.
 */
noinline unsigned long leanacct_symbol(const char *name)
{
	return static_call(leanacct_kallsyms_lookup_name)(name);
}

static int count_symbol(void *count, unsigned long addr)
{
	++*(unsigned int *)count;
	return 0;
}

/**
 * leanacct_symbol_is_unique - has the kernel itself just one symbol of a name?
 * @name: its exact name
 *
 * A static function may share its name with others; which of them a look-up
 * finds is chance.
 * Context: process context.
 */
noinline bool leanacct_symbol_is_unique(const char *name)
{
	unsigned int count = 0;

	static_call(leanacct_on_each_match)(count_symbol, name, &count);
	return count == 1;
}

/**
 * leanacct_fentry_site - where ftrace can redirect a function
 * @addr: the address of the function
 *
 * Context: process context.
 * Return: the address of its fentry site, or 0 if it has none (notrace,
 * noinstr, or a file built without ftrace).
 */
unsigned long leanacct_fentry_site(unsigned long addr)
{
	return static_call(leanacct_ftrace_location)(addr);
}

/**
 * leanacct_may_see_addresses - may the caller read kernel addresses?
 *
 * The kernel's own answer for /proc/kallsyms (kptr_restrict, CAP_SYSLOG).
 * Context: process context.
 */
bool leanacct_may_see_addresses(void)
{
	return static_call(leanacct_kallsyms_show_value)(current_cred());
}

/**
 * leanacct_symbols_init - find what the functions above need
 *
 * Context: module init.
 * Return: 0, or -EOPNOTSUPP with a line in the log that names what is missing.
 */
int __init leanacct_symbols_init(void)
{
	struct kprobe kp = {
		.symbol_name = "kallsyms_lookup_name",
		.flags = KPROBE_FLAG_DISABLED,
	};
	unsigned long location, show_value, on_each_match;
	int ret;

	ret = register_kprobe(&kp);
	if (ret) {
		pr_err("cannot find kallsyms_lookup_name (kprobe: %d): are kprobes off?\n", ret);
		return -EOPNOTSUPP;
	}
	/*
	 * kp.addr may lie past an ENDBR, which a direct branch does not need. As
	 * for a body, it is reached in tail position, hence noinline above.
	 */
	static_call_update(leanacct_kallsyms_lookup_name, (void *)kp.addr);
	unregister_kprobe(&kp);

	show_value = leanacct_symbol("kallsyms_show_value");
	location = leanacct_symbol("ftrace_location");
	on_each_match = leanacct_symbol("kallsyms_on_each_match_symbol");
	if (!show_value || !location || !on_each_match) {
		pr_err("this kernel has no %s\n",
		       !show_value    ? "kallsyms_show_value" :
		       !on_each_match ? "kallsyms_on_each_match_symbol" :
					"ftrace_location (CONFIG_DYNAMIC_FTRACE)");
		return -EOPNOTSUPP;
	}
	static_call_update(leanacct_on_each_match, (void *)on_each_match);
	static_call_update(leanacct_kallsyms_show_value, (void *)show_value);
	static_call_update(leanacct_ftrace_location, (void *)location);
	return 0;
}
