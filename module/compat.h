/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that differs between kernels; no other file has an #if on one. A feature
 * is told by a config option, or by Kbuild, which looks into the kernel's
 * headers and sets LEANACCT_HAS_*; a version is compared only where neither
 * tells.
 */
#ifndef LEANACCT_COMPAT_H
#define LEANACCT_COMPAT_H

#ifdef __ASSEMBLY__

/* clang-format off */
#include <asm/asm.h>

/*
 * Tell objtool that a symbol lacks an ENDBR on purpose: it is reached by RET or
 * by a direct jump alone. The kernel's own annotation marks the place where it
 * stands; this one marks a C function, from the outside.
 */
.macro COMPAT_NOENDBR_SYM sym:req
#ifdef CONFIG_X86_KERNEL_IBT
#if defined(LEANACCT_HAS_ANNOTATE_INSN)
	.pushsection .discard.annotate_insn, "M", @progbits, 8
	.long	\sym - ., ANNOTYPE_NOENDBR
#elif defined(LEANACCT_HAS_NOENDBR_QUAD)
	.pushsection .discard.noendbr
	.quad	\sym
#else
	.pushsection .discard.noendbr
	.long	\sym
#endif
	.popsection
#endif
.endm
/* clang-format on */

#else /* !__ASSEMBLY__ */

#include <linux/ftrace.h>
#include <linux/version.h>

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS

#define COMPAT_FTRACE_DIRECT 1

#ifdef LEANACCT_HAS_FTRACE_DIRECT_MULTI /* the names before 6.4 */
#define compat_register_ftrace_direct(ops, addr) register_ftrace_direct_multi(ops, addr)
#define compat_modify_ftrace_direct(ops, addr) modify_ftrace_direct_multi(ops, addr)

static inline int compat_unregister_ftrace_direct(struct ftrace_ops *ops, unsigned long addr)
{
	int ret = unregister_ftrace_direct_multi(ops, addr);

	ftrace_free_filter(ops);
	return ret;
}
#else
#define compat_register_ftrace_direct(ops, addr) register_ftrace_direct(ops, addr)
#define compat_modify_ftrace_direct(ops, addr) modify_ftrace_direct(ops, addr)
#define compat_unregister_ftrace_direct(ops, addr) unregister_ftrace_direct(ops, addr, true)
#endif

#else /* the mechanism `call` is not offered there, see redirect.c */

#define COMPAT_FTRACE_DIRECT 0
#define compat_register_ftrace_direct(ops, addr) (-EOPNOTSUPP)
#define compat_modify_ftrace_direct(ops, addr) (-EOPNOTSUPP)
#define compat_unregister_ftrace_direct(ops, addr) (-EOPNOTSUPP)

#endif

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_JMP /* 6.19 */
#define COMPAT_FTRACE_JMP 1
#define compat_ftrace_jmp(fn) ftrace_jmp_set((unsigned long)(fn))
#define compat_ftrace_jmp_target(addr) ftrace_jmp_get(addr)
#else
#define COMPAT_FTRACE_JMP 0
#define compat_ftrace_jmp(fn) ((unsigned long)(fn))
#define compat_ftrace_jmp_target(addr) (addr)
#endif

#ifdef CONFIG_PSI
#include <linux/psi_types.h>
#include <linux/sched.h>

/* Declared in kernel/sched/stats.h. */
void psi_task_change(struct task_struct *task, int clear, int set);
void psi_task_switch(struct task_struct *prev, struct task_struct *next, bool sleep);

#ifdef LEANACCT_HAS_PSI_GROUP_SEQ
/* A seqcount per group and CPU; each level reads the clock itself. */
#define COMPAT_PSI_GROUP_SEQ 1
#define compat_psi_seq(groupc) (&(groupc)->seq)
void compat_psi_group_change(struct psi_group *group, int cpu, unsigned int clear, unsigned int set,
			     bool wake_clock);
#define COMPAT_PSI_GROUP_CHANGE_ARGS(group, cpu, clear, set, now) (group, cpu, clear, set, true)
#else
/* A seqcount per CPU; the caller reads the clock. */
#define COMPAT_PSI_GROUP_SEQ 0
#define compat_psi_seq(groupc) ((seqcount_t *)NULL)
void compat_psi_group_change(struct psi_group *group, int cpu, unsigned int clear, unsigned int set,
			     u64 now, bool wake_clock);
#define COMPAT_PSI_GROUP_CHANGE_ARGS(group, cpu, clear, set, now) \
	(group, cpu, clear, set, now, true)
#endif

#ifdef LEANACCT_HAS_PSI_RTPOLL_STATES
#define compat_rtpoll_states rtpoll_states
#else /* the name before 6.5 and its stable releases */
#define compat_rtpoll_states poll_states
#endif

#ifdef CONFIG_CGROUPS
#define compat_task_cgroup_psi(task) (rcu_dereference_raw((task)->cgroups)->dfl_cgrp->psi)
#define compat_same_cgroups(a, b) \
	(rcu_access_pointer((a)->cgroups) == rcu_access_pointer((b)->cgroups))
#else
#define compat_task_cgroup_psi(task) ((struct psi_group *)NULL)
#define compat_same_cgroups(a, b) true
#endif

#endif /* CONFIG_PSI */

/*
 * Does vtime's `jiffy` save less than two livepatch redirects cost? Measured on
 * 6.1 and 6.12: yes, by 38 and 40 instructions a system call; on 7.3: no, by 6.
 */
#define COMPAT_JIFFY_KLP_NET_LOSS (LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0))

#endif /* !__ASSEMBLY__ */
#endif
