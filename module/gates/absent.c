// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gates that this kernel was built without: they keep their line in status, with
 * the reason, and have no variant but stock.
 */
#include <linux/kernel.h>

#include "gate.h"

/* clang-format off */
#define ABSENT_GATE(gate, option)					\
	static const char *gate##_init(void)				\
	{								\
		return "this kernel lacks " #option;			\
	}								\
	struct leanacct_gate leanacct_##gate = {			\
		.name = #gate,						\
		.variants = stock_only,					\
		.init = gate##_init,					\
		.fit = always_fit,					\
		.counters = no_counters,				\
	}

#if !defined(LEANACCT_GATE_VTIME) || !defined(LEANACCT_GATE_PSI) || \
	!defined(LEANACCT_GATE_INTEGRALS) || !defined(LEANACCT_GATE_BATCH)

static const struct leanacct_variant stock_only[] = { { .name = "stock" }, {} };
static const struct leanacct_counter no_counters[] = { {} };

static int always_fit(const char **reason)
{
	return 0;
}

#ifndef LEANACCT_GATE_VTIME
ABSENT_GATE(vtime, CONFIG_VIRT_CPU_ACCOUNTING_GEN);
#endif

#ifndef LEANACCT_GATE_PSI
ABSENT_GATE(psi, CONFIG_PSI);
#endif

#ifndef LEANACCT_GATE_INTEGRALS
ABSENT_GATE(integrals, CONFIG_TASK_XACCT);
#endif

#ifndef LEANACCT_GATE_BATCH
ABSENT_GATE(batch, CONFIG_HOTPLUG_CPU);
#endif

#endif
/* clang-format on */
