// SPDX-License-Identifier: GPL-2.0-only
/*
 * Per-CPU counters of a gate. Each is written by its own CPU alone, with plain
 * stores; readers elsewhere may be a moment behind. A reset must not race with
 * an increment, so it remembers the present values and shows what came since.
 */
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/seq_file.h>

#include "counters.h"
#include "gate.h"

static unsigned int nr_counters(const struct leanacct_gate *gate)
{
	unsigned int n = 0;

	while (gate->counters[n].name)
		n++;
	return n;
}

/**
 * leanacct_counters_init - make room for the values at the last reset
 * @gate: whose
 *
 * Return: 0 or -ENOMEM.
 */
int leanacct_counters_init(struct leanacct_gate *gate)
{
	gate->base = kvcalloc(array_size(nr_cpu_ids, nr_counters(gate)), sizeof(u64), GFP_KERNEL);
	return gate->base ? 0 : -ENOMEM;
}

/**
 * leanacct_counters_exit - undo leanacct_counters_init()
 * @gate: whose; debugfs is gone
 */
void leanacct_counters_exit(struct leanacct_gate *gate)
{
	kvfree(gate->base);
	gate->base = NULL;
}

/**
 * leanacct_counters_show - a header, a row a possible CPU, and the ALL row
 * @gate: whose
 * @m:	  the file counters
 */
void leanacct_counters_show(struct leanacct_gate *gate, struct seq_file *m)
{
	unsigned int i, n = nr_counters(gate);
	u64 value, all[32] = {};
	int cpu;

	seq_puts(m, "cpu");
	for (i = 0; i < n; i++)
		seq_printf(m, " %s", gate->counters[i].name);
	seq_putc(m, '\n');
	for_each_possible_cpu(cpu) {
		seq_printf(m, "%d", cpu);
		for (i = 0; i < n; i++) {
			value = READ_ONCE(gate->counter(cpu)[i]);
			if (gate->counters[i].is_max) {
				all[i] = max(all[i], value);
			} else {
				value -= READ_ONCE(gate->base[cpu * n + i]);
				all[i] += value;
			}
			seq_printf(m, " %llu", value);
		}
		seq_putc(m, '\n');
	}
	seq_puts(m, "ALL");
	for (i = 0; i < n; i++)
		seq_printf(m, " %llu", all[i]);
	seq_putc(m, '\n');
}

/**
 * leanacct_counters_reset - let all counters of a gate show 0
 * @gate: whose
 *
 * A maximum is set to 0 where it stands; one that is being raised at this
 * moment may stay.
 */
void leanacct_counters_reset(struct leanacct_gate *gate)
{
	unsigned int i, n = nr_counters(gate);
	u64 *counter;
	int cpu;

	for_each_possible_cpu(cpu) {
		counter = gate->counter(cpu);
		for (i = 0; i < n; i++) {
			if (gate->counters[i].is_max)
				WRITE_ONCE(counter[i], 0);
			else
				WRITE_ONCE(gate->base[cpu * n + i], READ_ONCE(counter[i]));
		}
	}
}
