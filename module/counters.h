/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LEANACCT_COUNTERS_H
#define LEANACCT_COUNTERS_H

struct leanacct_gate;
struct seq_file;

int leanacct_counters_init(struct leanacct_gate *gate);
void leanacct_counters_exit(struct leanacct_gate *gate);
void leanacct_counters_show(struct leanacct_gate *gate, struct seq_file *m);
void leanacct_counters_reset(struct leanacct_gate *gate);

#endif
