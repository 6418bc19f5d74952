// SPDX-License-Identifier: GPL-2.0-only
/*
 * Redirects: how a call to a kernel function reaches a gate, and how the gate
 * reaches the kernel's own code again.
 *
 *	caller --call--> function: [fentry site] body ... ret
 *				       |           ^
 *				       v           | static_call, tail position
 *				   replacement ----+----> ret to the caller
 *
 * The site is MCOUNT_INSN_SIZE bytes that the compiler left at the beginning of
 * each traceable function, a nop until ftrace patches it. The body begins right
 * behind it and is never changed.
 *
 * jmp	 ftrace direct, the site jumps to the replacement
 *	 (CONFIG_DYNAMIC_FTRACE_WITH_JMP, 6.19). Nothing but the jump.
 * call	 ftrace direct, the site calls a trampoline, which puts the replacement's
 *	 address in place of the return address and returns there: two
 *	 instructions and one mispredicted return, and the return-stack buffer
 *	 stays in step. Dropping the return address and jumping would be shorter
 *	 and put every return above out of step.
 * klp	 the kernel's livepatch, by leanacct_klp.ko: ftrace saves all registers
 *	 and walks its list. It leads to the function's entry, a static call
 *	 that is updated to lead on to the replacement.
 *
 * jmp and call are chosen at load; klp holds while leanacct_klp.ko is in, since
 * a function has room for one of them.
 *
 * Locking: all of it under the gate lock (gate.c). A redirect patches text on
 * every online CPU and, when it is undone, waits until no task can be left in a
 * replacement, also one that was preempted there.
 */
#define pr_fmt(fmt) "leanacct: " fmt

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>

#include "compat.h"
#include "redirect.h"
#include "symbols.h"

static enum leanacct_mechanism base; /* the one chosen at load */
static const char *base_reason;
static bool klp_on;

/* clang-format off */
static const char *const mechanism_names[] = {
	[LEANACCT_AUTO] = "auto",
	[LEANACCT_JMP] = "jmp",
	[LEANACCT_CALL] = "call",
	[LEANACCT_KLP] = "klp",
	[LEANACCT_NONE] = "-",
};
/* clang-format on */

/**
 * leanacct_mechanism_name - the word for a mechanism in debugfs and the log
 * @mechanism: which
 */
const char *leanacct_mechanism_name(enum leanacct_mechanism mechanism)
{
	return mechanism_names[mechanism];
}

/**
 * leanacct_redirect_init - choose between jmp and call
 * @wanted: LEANACCT_AUTO, or the one that the administrator wants
 *
 * A wanted mechanism that this kernel lacks leaves LEANACCT_NONE with the
 * reason, not a silent second choice.
 */
void leanacct_redirect_init(enum leanacct_mechanism wanted)
{
	if (wanted != LEANACCT_CALL && COMPAT_FTRACE_JMP) {
		base = LEANACCT_JMP;
		base_reason = "the fastest: this kernel has CONFIG_DYNAMIC_FTRACE_WITH_JMP";
	} else if (wanted == LEANACCT_JMP) {
		base = LEANACCT_NONE;
		base_reason = "jmp asked for, but this kernel lacks CONFIG_DYNAMIC_FTRACE_WITH_JMP";
	} else if (COMPAT_FTRACE_DIRECT) {
		base = LEANACCT_CALL;
		base_reason =
			wanted == LEANACCT_CALL ?
				"asked for by the parameter mechanism" :
				"the fastest here: this kernel lacks CONFIG_DYNAMIC_FTRACE_WITH_JMP";
	} else {
		base = LEANACCT_NONE;
		base_reason =
			"this kernel lacks CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS; load leanacct_klp for klp";
	}
}

/**
 * leanacct_mechanism_klp - leanacct_klp.ko has patched or is about to unpatch
 * @on: whether its entries are reached
 */
void leanacct_mechanism_klp(bool on)
{
	klp_on = on;
}

/**
 * leanacct_mechanism - the mechanism that the next redirect uses
 */
enum leanacct_mechanism leanacct_mechanism(void)
{
	return klp_on ? LEANACCT_KLP : base;
}

/**
 * leanacct_mechanism_reason - why it is that one
 */
const char *leanacct_mechanism_reason(void)
{
	if (klp_on)
		return "leanacct_klp is loaded: all but psi goes through livepatch, stock too";
	return base_reason;
}

/**
 * leanacct_func_init - find a kernel function
 * @func: the function; .addr, .site and .unfit are set
 *
 * Context: process context, before any redirect.
 */
void leanacct_func_init(struct leanacct_func *func)
{
	void *body;

	func->addr = leanacct_symbol(func->name);
	if (!func->addr) {
		func->unfit =
			"not in this kernel under this name (inlined, renamed, or compiled with a suffix)";
		return;
	}
	if (!leanacct_symbol_is_unique(func->name)) {
		func->unfit = "more than one symbol of this name";
		return;
	}
	func->site = leanacct_fentry_site(func->addr);
	if (!func->site) {
		func->unfit = "no fentry site (notrace or noinstr)";
		return;
	}
	body = (void *)(func->site + MCOUNT_INSN_SIZE);
	__static_call_update(func->body_key, func->body_tramp, body);
	__static_call_update(func->entry_key, func->entry_tramp, body);
}

static unsigned long direct_address(const struct leanacct_target *target)
{
	return base == LEANACCT_JMP ? compat_ftrace_jmp(target->fn) :
				      (unsigned long)target->trampoline;
}

/*
 * Is the site patched to anything at all? x86: e8 is a call, e9 a jump, cc the
 * breakpoint that stands there while ftrace changes one into another.
 */
static bool site_patched(const struct leanacct_func *func)
{
	u8 opcode = READ_ONCE(*(const u8 *)func->site);

	return opcode == 0xe8 || opcode == 0xe9 || opcode == 0xcc;
}

static int direct_remove(struct leanacct_func *func)
{
	func->ops.flags &= ~FTRACE_OPS_FL_PERMANENT;
	return compat_unregister_ftrace_direct(&func->ops, direct_address(func->target));
}

static int direct_add(struct leanacct_func *func, const struct leanacct_target *target)
{
	int ret;

	memset(&func->ops, 0, sizeof(func->ops));
	ret = ftrace_set_filter_ip(&func->ops, func->site, 0, 0);
	if (!ret)
		ret = compat_register_ftrace_direct(&func->ops, direct_address(target));
	if (ret) {
		ftrace_free_filter(&func->ops);
		if (ret == -EBUSY)
			pr_err("%s: held by another user of ftrace direct calls or livepatch (a BPF fentry program?): see enabled_functions in tracefs\n",
			       func->name);
		else
			pr_err("%s: ftrace refused the redirect: %d\n", func->name, ret);
		return ret;
	}
	func->target = target;
	/*
	 * While kernel.ftrace_enabled is 0, registering succeeds and changes no
	 * text. From here on the sysctl refuses to go to 0.
	 */
	func->ops.flags |= FTRACE_OPS_FL_PERMANENT;
	if (!site_patched(func)) {
		pr_err("%s: the fentry site was not patched: ftrace is off, set kernel.ftrace_enabled=1\n",
		       func->name);
		direct_remove(func);
		func->target = NULL;
		return -EBUSY;
	}
	return 0;
}

static int direct_redirect(struct leanacct_func *func, const struct leanacct_target *target)
{
	int ret;

	if (!func->target)
		return direct_add(func, target);
	if (!target)
		ret = direct_remove(func);
	else
		ret = compat_modify_ftrace_direct(&func->ops, direct_address(target));
	if (ret)
		pr_err("%s: ftrace did not %s the redirect: %d\n", func->name,
		       target ? "change" : "remove", ret);
	else
		func->target = target;
	return ret;
}

static int klp_redirect(struct leanacct_func *func, const struct leanacct_target *target)
{
	/* A cumulative livepatch of somebody else takes leanacct_klp.ko's away. */
	if (target && !site_patched(func)) {
		pr_err("%s: leanacct_klp is not reached: was its patch replaced?\n", func->name);
		return -EBUSY;
	}
	__static_call_update(func->entry_key, func->entry_tramp,
			     target ? target->fn : (void *)(func->site + MCOUNT_INSN_SIZE));
	func->target = target;
	/*
	 * ftrace waits when a direct call goes; here nothing did. A task that
	 * was preempted in a replacement must leave it before the module can go.
	 */
	if (!target)
		synchronize_rcu_tasks();
	return 0;
}

/**
 * leanacct_func_redirect - redirect a function, elsewhere, or no longer
 * @func:	the function; it has a fentry site
 * @target:	where to, or NULL for the kernel's own
 *
 * Context: process context, gate lock held; may sleep for a second when a
 * redirect goes.
 * Return: 0; -EBUSY if another user holds the function or ftrace is off, or
 * ftrace's error; with one line in the log. An error leaves all as it was.
 */
int leanacct_func_redirect(struct leanacct_func *func, const struct leanacct_target *target)
{
	if (func->target == target)
		return 0;
	if (!func->target)
		func->by = leanacct_mechanism();
	return func->by == LEANACCT_KLP ? klp_redirect(func, target) :
					  direct_redirect(func, target);
}

/**
 * leanacct_func_reached - does the redirect of a function hold at this moment?
 * @func: a function with a target
 * @note: set to what a reader should know of it, or NULL
 *
 * Looks at the text, not at what was asked for.
 */
bool leanacct_func_reached(const struct leanacct_func *func, const char **note)
{
	s32 offset;

	*note = NULL;
	if (!site_patched(func)) {
		*note = "taken away: the fentry site holds no call";
		return false;
	}
	if (func->by == LEANACCT_KLP)
		return true;
	memcpy(&offset, (const void *)(func->site + 1), sizeof(offset));
	if (func->site + MCOUNT_INSN_SIZE + offset !=
	    compat_ftrace_jmp_target(direct_address(func->target)))
		*note = "shared with a tracer or probe, which makes every call slower";
	return true;
}
