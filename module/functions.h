/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every kernel function that a gate holds, once: these lists make the gates'
 * tables and static calls and the livepatch's table.
 */
#ifndef LEANACCT_FUNCTIONS_H
#define LEANACCT_FUNCTIONS_H

/* clang-format off */
#define VTIME_FUNCTIONS(X)		\
	X(vtime_task_switch_generic)	\
	X(vtime_guest_enter)		\
	X(vtime_guest_exit)		\
	X(task_cputime)			\
	X(vtime_user_enter)		\
	X(vtime_user_exit)

#define PSI_FUNCTIONS(X)		\
	X(psi_task_change)		\
	X(psi_task_switch)

#define INTEGRALS_FUNCTIONS(X)		\
	X(acct_update_integrals)	\
	X(acct_account_cputime)

#ifdef LEANACCT_GATE_VTIME
#define HAVE_VTIME_FUNCTIONS(X) VTIME_FUNCTIONS(X)
#else
#define HAVE_VTIME_FUNCTIONS(X)
#endif

#ifdef LEANACCT_GATE_INTEGRALS
#define HAVE_INTEGRALS_FUNCTIONS(X) INTEGRALS_FUNCTIONS(X)
#else
#define HAVE_INTEGRALS_FUNCTIONS(X)
#endif

/* Those of this kernel that leanacct_klp.ko patches. Not psi's, see there. */
#define LEANACCT_KLP_FUNCTIONS(X)	\
	HAVE_VTIME_FUNCTIONS(X)		\
	HAVE_INTEGRALS_FUNCTIONS(X)
/* clang-format on */

#endif
