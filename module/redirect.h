/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LEANACCT_REDIRECT_H
#define LEANACCT_REDIRECT_H

#include <linux/ftrace.h>
#include <linux/static_call.h>
#include <linux/types.h>

/* How a call to a kernel function reaches a gate, see redirect.c. */
enum leanacct_mechanism {
	LEANACCT_AUTO, /* as a parameter: the fastest that this kernel offers */
	LEANACCT_JMP,
	LEANACCT_CALL,
	LEANACCT_KLP,
	LEANACCT_NONE, /* nothing can be redirected */
};

/**
 * struct leanacct_target - where a redirected call goes
 * @fn:		the replacement, of the kernel function's own type
 * @trampoline:	the return-style way to it, for LEANACCT_CALL
 */
struct leanacct_target {
	void *fn;
	void *trampoline;
};

/**
 * struct leanacct_func - a kernel function that a gate may hold
 * @name:	its symbol
 * @addr:	its address, 0 if the kernel has none
 * @site:	its fentry site, 0 if it has none
 * @unfit:	why it cannot be redirected, or NULL
 * @target:	where it is redirected to, NULL when it is not
 * @by:		the mechanism by which it is, meaningful while @target is set
 * @ops:	for LEANACCT_CALL and LEANACCT_JMP
 * @body_key:	static call to the kernel's own code past the fentry site
 * @body_tramp:	its trampoline
 * @entry_key:	static call behind which leanacct_klp.ko's entry leads on
 * @entry_tramp: its trampoline, which is that entry
 *
 * Written under the gate lock only.
 */
struct leanacct_func {
	const char *name;
	unsigned long addr;
	unsigned long site;
	const char *unfit;
	const struct leanacct_target *target;
	enum leanacct_mechanism by;
	struct ftrace_ops ops;
	struct static_call_key *body_key;
	void *body_tramp;
	struct static_call_key *entry_key;
	void *entry_tramp;
};

/*
 * Defines the static calls of a kernel function that a gate holds. The body is
 * reached only from a replacement, in tail position: a call that is not one
 * would be seen by retbleed=stuff as a call into the middle of a function.
 */
/* clang-format off */
#define LEANACCT_DEFINE_FUNC(func)					\
	DEFINE_STATIC_CALL_NULL(leanacct_body_##func, func);		\
	DEFINE_STATIC_CALL_NULL(leanacct_entry_##func, func);		\
	EXPORT_STATIC_CALL_TRAMP_GPL(leanacct_entry_##func)

#define LEANACCT_FUNC(func) {						\
	.name = #func,							\
	.body_key = &STATIC_CALL_KEY(leanacct_body_##func),		\
	.body_tramp = STATIC_CALL_TRAMP_ADDR(leanacct_body_##func),	\
	.entry_key = &STATIC_CALL_KEY(leanacct_entry_##func),		\
	.entry_tramp = STATIC_CALL_TRAMP_ADDR(leanacct_entry_##func),	\
}
/* clang-format on */

#define leanacct_body(func) static_call(leanacct_body_##func)

void leanacct_redirect_init(enum leanacct_mechanism wanted);
enum leanacct_mechanism leanacct_mechanism(void);
void leanacct_mechanism_klp(bool on);
const char *leanacct_mechanism_name(enum leanacct_mechanism mechanism);
const char *leanacct_mechanism_reason(void);

void leanacct_func_init(struct leanacct_func *func);
int leanacct_func_redirect(struct leanacct_func *func, const struct leanacct_target *target);
bool leanacct_func_reached(const struct leanacct_func *func, const char **note);

#endif
