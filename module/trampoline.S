/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The return-style trampolines of the mechanism `call`, see redirect.c.
 *
 * On entry the stack holds the return address into the gated function, on top
 * of the one into its caller; all argument registers are live. The address of
 * the replacement takes the place of the first, so that the RET goes there and
 * the replacement's own RET goes to the caller: as many returns as calls.
 *
 * Nothing reaches a trampoline or a replacement by an indirect branch: ftrace
 * patches a direct call, and its slow path, while another tracer shares the
 * function, returns to it. So neither begins with an ENDBR.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/nospec-branch.h>

#include "compat.h"
#include "targets.h"

.macro LEANACCT_TRAMPOLINE name:req target:req
	COMPAT_NOENDBR_SYM \target
SYM_START(\name, SYM_L_GLOBAL, .balign 16)
	ANNOTATE_NOENDBR
	movq	$\target, (%rsp)
	RET
SYM_FUNC_END(\name)
.endm

	.text
#define TRAMPOLINE(fn) LEANACCT_TRAMPOLINE LEANACCT_TRAMPOLINE_NAME(fn) fn;
#ifdef LEANACCT_GATE_VTIME
VTIME_TASK_TARGETS(TRAMPOLINE)
VTIME_CPUTIME_TARGETS(TRAMPOLINE)
#endif
#ifdef LEANACCT_GATE_PSI
PSI_CHANGE_TARGETS(TRAMPOLINE)
PSI_SWITCH_TARGETS(TRAMPOLINE)
#endif
#ifdef LEANACCT_GATE_INTEGRALS
INTEGRALS_TARGETS(TRAMPOLINE)
#endif
