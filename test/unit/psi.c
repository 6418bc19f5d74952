// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of module/core/psi.h: the masks against the definition of each
 * state, the table against the masks, and the sums against a plain model that
 * gives every stretch of time to every state that was on.
 *
 * The random values are the same in every run (a fixed seed), so a failure can
 * be had again; SEED=N in the environment gives others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../module/core/psi.h"

typedef uint64_t u64;

#define CASES 200000

static u64 seed;

static u64 rnd(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * 0x2545f4914f6cdd1d;
}

static int reset_seed(void **state)
{
	const char *given = getenv("SEED");

	(void)state;
	seed = given ? strtoull(given, NULL, 0) : 0x9e3779b97f4a7c15;
	return 0;
}

/* Is a state on? In the words of the kernel's documentation of PSI. */
static bool is_on(unsigned int state, u32 running, u32 iowait, bool oncpu)
{
	switch (state) {
	case PSI_IO_SOME: /* some task waits for I/O */
		return iowait > 0;
	case PSI_IO_FULL: /* and none could run */
		return iowait > 0 && running == 0;
	case PSI_CPU_SOME: /* some task that could run is not on the CPU */
		return running > (oncpu ? 1 : 0);
	case PSI_CPU_FULL: /* and none of the group is */
		return running > 0 && !oncpu;
	case PSI_NONIDLE:
		return running > 0 || iowait > 0;
	default: /* memory: none of its tasks stalls here */
		return false;
	}
}

static void mask_is_its_states(void **unused)
{
	u32 running, iowait, state, oncpu, mask;

	(void)unused;
	for (running = 0; running < 5; running++) {
		for (iowait = 0; iowait < 3; iowait++) {
			for (oncpu = 0; oncpu <= (running > 0); oncpu++) {
				mask = leanacct_psi_mask(running, iowait, oncpu);
				for (state = 0; state < NR_PSI_STATES; state++)
					assert_int_equal(!!(mask & BIT(state)),
							 is_on(state, running, iowait, oncpu));
				assert_int_equal(!!(mask & PSI_ONCPU), oncpu);
				assert_int_equal(mask & ~(2 * PSI_ONCPU - 1), 0);
			}
		}
	}
}

/* Every mask that the counts can have leads, by the table, to the mask of the new counts. */
static void table_follows_the_counts(void **unused)
{
	static leanacct_psi_table table;
	u32 before, after, iowait, oncpu, old;

	(void)unused;
	leanacct_psi_table_init(table);
	for (before = 0; before < 6; before++) {
		for (after = 0; after < 6; after++) {
			for (iowait = 0; iowait < 3; iowait++) {
				for (oncpu = 0; oncpu < 2; oncpu++) {
					old = leanacct_psi_mask(before, iowait, oncpu);
					if (!(old & BIT(PSI_NONIDLE))) {
						assert_int_equal(
							table[LEANACCT_PSI_INDEX(
								old, after < 2 ? after : 2)],
							LEANACCT_PSI_ASK);
						continue;
					}
					assert_int_equal(table[LEANACCT_PSI_INDEX(
								 old, after < 2 ? after : 2)],
							 leanacct_psi_mask(after, iowait, oncpu));
				}
			}
		}
	}
}

/* More than one before and after: what the gate does not look up. */
static void many_stay_many(void **unused)
{
	u32 before, after, iowait, oncpu;

	(void)unused;
	for (before = 2; before < 9; before++)
		for (after = 2; after < 9; after++)
			for (iowait = 0; iowait < 3; iowait++)
				for (oncpu = 0; oncpu < 2; oncpu++)
					assert_int_equal(leanacct_psi_mask(before, iowait, oncpu),
							 leanacct_psi_mask(after, iowait, oncpu));
}

/* One task more: CPU_SOME can only begin; one less: only end. */
static void some_has_a_direction(void **unused)
{
	u32 running, iowait, oncpu;

	(void)unused;
	for (running = 0; running < 5; running++) {
		for (iowait = 0; iowait < 3; iowait++) {
			for (oncpu = 0; oncpu < 2; oncpu++) {
				u32 less = leanacct_psi_mask(running, iowait, oncpu);
				u32 more = leanacct_psi_mask(running + 1, iowait, oncpu);

				assert_false(less & ~more & BIT(PSI_CPU_SOME));
			}
		}
	}
}

/* A mask with a memory stall, or one that may not be that of the counts, must ask. */
static void table_asks(void **unused)
{
	static leanacct_psi_table table;
	u32 old, running;

	(void)unused;
	leanacct_psi_table_init(table);
	for (old = 0; old < 2 * PSI_ONCPU; old++) {
		bool stall = old & (BIT(PSI_MEM_SOME) | BIT(PSI_MEM_FULL));
		bool told = !stall && (old & BIT(PSI_NONIDLE));

		assert_int_equal(leanacct_psi_is_told(old), told);
		for (running = 0; running < 3; running++)
			assert_int_equal(
				table[LEANACCT_PSI_INDEX(old, running)] == LEANACCT_PSI_ASK, !told);
	}
}

/*
 * A group goes through random masks at random times. The model cuts all states
 * at each change, as the kernel does; the other settles only what changes. A
 * reader finds the same in both, at any time: also when the kernel's own code
 * takes a turn on the settled one, and when the sums wrap.
 */
static void settled_reads_as_cut(void **unused)
{
	u32 cut[NR_PSI_STATES], settled[NR_PSI_STATES];
	u64 now, cut_start, start;
	u32 mask = 0, next, since, state;
	int i;

	(void)unused;
	now = rnd();
	cut_start = start = now;
	for (state = 0; state < NR_PSI_STATES; state++)
		cut[state] = settled[state] = rnd();
	for (i = 0; i < CASES; i++) {
		now += rnd() >> (rnd() % 56);
		next = rnd() & (2 * PSI_ONCPU - 1);
		if (rnd() % 4)
			next = mask ^ BIT(rnd() % NR_PSI_STATES);

		for (state = 0; state < NR_PSI_STATES; state++)
			cut[state] += mask & BIT(state) ? (u32)(now - cut_start) : 0;
		cut_start = now;
		if (rnd() % 8) {
			leanacct_psi_settle(settled, mask ^ next, next, now - start);
		} else {
			for (state = 0; state < NR_PSI_STATES; state++)
				settled[state] += mask & BIT(state) ? (u32)(now - start) : 0;
			start = now;
		}
		mask = next;

		since = rnd() >> (32 + rnd() % 32);
		for (state = 0; state < NR_PSI_STATES; state++)
			assert_int_equal(
				leanacct_psi_lasted(cut, mask, now + since - cut_start, state),
				leanacct_psi_lasted(settled, mask, now + since - start, state));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mask_is_its_states),
		cmocka_unit_test(table_follows_the_counts),
		cmocka_unit_test(many_stay_many),
		cmocka_unit_test(some_has_a_direction),
		cmocka_unit_test(table_asks),
		cmocka_unit_test_setup(settled_reads_as_cut, reset_seed),
	};

	return cmocka_run_group_tests_name("psi", tests, NULL, NULL);
}
