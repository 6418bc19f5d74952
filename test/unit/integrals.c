// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of module/core/integrals.h: the way of 4.5 and today's agree on
 * whole jiffies, and what 4.5's leaves for the next time is never lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../module/core/integrals.h"

static const u32 ticks[] = { 1000000, 4000000, 3333333, 10000000 };

#define for_each_tick(i) for (unsigned int i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++)

static void usecs_are_whole_jiffies(void **unused)
{
	u64 delta, jiffies;

	(void)unused;
	for_each_tick(i)
	{
		assert_int_equal(leanacct_legacy_usecs(0, ticks[i]), 0);
		assert_int_equal(leanacct_legacy_usecs(ticks[i] - 1, ticks[i]), 0);
		for (delta = 0; delta < 40000000000ULL; delta += 7777777) {
			jiffies = delta / ticks[i];
			assert_int_equal(leanacct_legacy_usecs(delta, ticks[i]),
					 jiffies * ticks[i] / 1000);
		}
	}
}

/* A year of CPU time at once: no overflow before the unit's own. */
static void long_times(void **unused)
{
	u64 year = 365ULL * 86400 * 1000000000;

	(void)unused;
	for_each_tick(i) assert_in_range(leanacct_legacy_usecs(year, ticks[i]),
					 (year - ticks[i]) / 1000, year / 1000);
}

/*
 * Time comes in pieces of any length. What has been added is, in the end, what
 * one piece of all of it adds, but for the jiffy that is not yet whole, the
 * roundings to microseconds, and the shift's.
 */
static void legacy_loses_nothing(void **unused)
{
	u64 seed = 1, time, expd, sum, usecs, pages, additions;

	(void)unused;
	for_each_tick(i)
	{
		for (pages = 1; pages < 100000; pages *= 7) {
			time = expd = sum = additions = 0;
			while (time < 3000000000ULL) {
				seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
				time += (seed >> 33) % (3 * ticks[i]);
				usecs = leanacct_legacy_usecs(time - expd, ticks[i]);
				if (!usecs)
					continue;
				expd += usecs * NSEC_PER_USEC;
				sum += leanacct_legacy_integral(usecs, pages);
				additions++;
			}
			assert_in_range(time - expd, 0, ticks[i] + 1000);
			assert_in_range(sum, leanacct_integral(expd, pages) - additions,
					leanacct_integral(expd, pages));
		}
	}
}

/* Units: one page of 4 KiB for a second is 1000000 / 256 Mbyte-microseconds. */
static void readers_unit(void **unused)
{
	u64 field = leanacct_integral(1000000000, 1);

	(void)unused;
	assert_int_equal(field * 4096 / (1000 * 1024), 1000000 / 256);
	assert_int_equal(leanacct_legacy_integral(1000000, 1), field);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usecs_are_whole_jiffies),
		cmocka_unit_test(long_times),
		cmocka_unit_test(legacy_loses_nothing),
		cmocka_unit_test(readers_unit),
	};

	return cmocka_run_group_tests_name("integrals", tests, NULL, NULL);
}
