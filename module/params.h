/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LEANACCT_PARAMS_H
#define LEANACCT_PARAMS_H

#include "redirect.h"

enum leanacct_mechanism leanacct_wanted_mechanism(void);

#endif
