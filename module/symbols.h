/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LEANACCT_SYMBOLS_H
#define LEANACCT_SYMBOLS_H

#include <linux/types.h>

int leanacct_symbols_init(void);
unsigned long leanacct_symbol(const char *name);
bool leanacct_symbol_is_unique(const char *name);
unsigned long leanacct_fentry_site(unsigned long addr);
bool leanacct_may_see_addresses(void);

#endif
