/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LEANACCT_GATE_H
#define LEANACCT_GATE_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <asm/ibt.h>

#include "redirect.h"

struct seq_file;

/*
 * A replacement: no fentry of its own, and no ENDBR, since it is reached by
 * RET or by a direct jump alone.
 */
#define __replacement noinline notrace __noendbr

/**
 * struct leanacct_variant - one behaviour of a gate
 * @name:    its word
 * @targets: a replacement for each of the gate's functions, in their order; a
 *	     NULL .fn leaves that function to the kernel. NULL: stock.
 * @klp_note: for status: where it saves less than livepatch costs, by measurement
 */
struct leanacct_variant {
	const char *name;
	const struct leanacct_target *targets;
	const char *klp_note;
};

/**
 * struct leanacct_counter - one per-CPU counter of a gate
 * @name:   its column
 * @is_max: the ALL row shows the largest, not the sum
 */
struct leanacct_counter {
	const char *name;
	bool is_max;
};

/**
 * struct leanacct_gate - stands before one family of the kernel's functions
 * @name:	its word
 * @variants:	stock first, then the others; ends with an empty one
 * @funcs:	the functions that it holds; a gate may do without
 * @nr_funcs:	how many
 * @init:	find what the gate calls in the kernel, at load. Return NULL, or
 *		why it cannot be used.
 * @fit:	is there anything to gate here? Return 0, or an errno and a
 *		sentence in @reason. Asked each time a variant is set.
 * @arm:	all redirects are in: begin to hold. Return 0 or an errno: then the
 *		gate goes back to stock, without @disarm. Optional.
 * @disarm:	hold nothing any longer, on any CPU, before the redirects go or
 *		change. On return every figure is where stock would have it.
 *		Optional.
 * @note:	for status, while it is on: what there is to know. Optional.
 * @counters:	names; ends with an empty one
 * @counter:	where a CPU keeps them, in that order
 * @base:	their values at the last reset
 * @native:	why no kernel needs it, NULL if some do; it can be set all the same
 * @klp_unfit:	why livepatch cannot be used for it, NULL if it can
 * @unfit:	what @init returned
 * @current_variant: what is set
 * @wanted:	what a module parameter asked for before the gates were up
 * @kept:	what the dead man's switch goes back to, NULL if it is not set
 * @revert:	its work
 *
 * Written under the gate lock only.
 */
struct leanacct_gate {
	const char *name;
	const struct leanacct_variant *variants;
	struct leanacct_func *funcs;
	unsigned int nr_funcs;
	const char *(*init)(void);
	int (*fit)(const char **reason);
	int (*arm)(void);
	void (*disarm)(void);
	void (*note)(struct seq_file *m);
	const struct leanacct_counter *counters;
	u64 *(*counter)(int cpu);
	u64 *base;
	const char *native;
	const char *klp_unfit;
	const char *unfit;
	const struct leanacct_variant *current_variant;
	const struct leanacct_variant *wanted;
	const struct leanacct_variant *kept;
	struct delayed_work revert;
};

extern struct leanacct_gate leanacct_vtime;
extern struct leanacct_gate leanacct_psi;
extern struct leanacct_gate leanacct_integrals;
extern struct leanacct_gate leanacct_batch;

extern struct leanacct_gate *const leanacct_gates[];

#define leanacct_for_each_gate(pos) \
	for (struct leanacct_gate *const *__g = leanacct_gates; (pos = *__g); __g++)

extern u32 leanacct_revert_after_s;

int leanacct_gates_init(void);
void leanacct_gates_exit(void);
int leanacct_gate_set(struct leanacct_gate *gate, const char *word);
void leanacct_gate_show_variants(struct leanacct_gate *gate, char *buf, size_t size);
void leanacct_gate_show_status(struct leanacct_gate *gate, struct seq_file *m);
void leanacct_gate_show_functions(struct leanacct_gate *gate, struct seq_file *m);

/* For leanacct_klp.ko, see klp.c. */
int leanacct_klp_begin(void);
void leanacct_klp_ready(void);
void leanacct_klp_leave(void);
void leanacct_klp_end(void);

#endif
