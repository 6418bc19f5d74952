/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every replacement function, once: this list makes their prototypes (in the
 * gates) and their trampolines (trampoline.S).
 */
#ifndef LEANACCT_TARGETS_H
#define LEANACCT_TARGETS_H

/* clang-format off */
/* void (struct task_struct *) */
#define VTIME_TASK_TARGETS(X)				\
	X(leanacct_vtime_null_switch)			\
	X(leanacct_vtime_null_guest_enter)		\
	X(leanacct_vtime_null_guest_exit)		\
	X(leanacct_vtime_null_user_enter)		\
	X(leanacct_vtime_null_user_exit)		\
	X(leanacct_vtime_exact_switch)			\
	X(leanacct_vtime_exact_guest_enter)		\
	X(leanacct_vtime_exact_guest_exit)		\
	X(leanacct_vtime_exact_user_enter)		\
	X(leanacct_vtime_exact_user_exit)		\
	X(leanacct_vtime_jiffy_user_enter)		\
	X(leanacct_vtime_jiffy_user_exit)		\
	X(leanacct_vtime_legacy_user_enter)		\
	X(leanacct_vtime_legacy_user_exit)		\
	X(leanacct_vtime_shadow_switch)			\
	X(leanacct_vtime_shadow_guest_enter)		\
	X(leanacct_vtime_shadow_user_enter)		\
	X(leanacct_vtime_shadow_user_exit)

/* bool (struct task_struct *, u64 *, u64 *) */
#define VTIME_CPUTIME_TARGETS(X)			\
	X(leanacct_vtime_null_cputime)			\
	X(leanacct_vtime_exact_cputime)

/* void (struct task_struct *, int, int) */
#define PSI_CHANGE_TARGETS(X)				\
	X(leanacct_psi_null_change)			\
	X(leanacct_psi_exact_change)			\
	X(leanacct_psi_shadow_change)

/* void (struct task_struct *, struct task_struct *, bool) */
#define PSI_SWITCH_TARGETS(X)				\
	X(leanacct_psi_null_switch)			\
	X(leanacct_psi_exact_switch)			\
	X(leanacct_psi_shadow_switch)

/* void (struct task_struct *) */
#define INTEGRALS_TARGETS(X)				\
	X(leanacct_integrals_null_update)		\
	X(leanacct_integrals_null_account)		\
	X(leanacct_integrals_legacy_update)		\
	X(leanacct_integrals_legacy_account)		\
	X(leanacct_integrals_nodiv_update)		\
	X(leanacct_integrals_nodiv_account)		\
	X(leanacct_integrals_lean_update)		\
	X(leanacct_integrals_lean_account)
/* clang-format on */

#define LEANACCT_TRAMPOLINE_NAME(fn) fn##_trampoline

#endif
