// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of module/core/batch.h.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../module/core/batch.h"

static void scales(void **unused)
{
	(void)unused;
	assert_int_equal(leanacct_scaled_batch(32, 1, INT_MAX), 32);
	assert_int_equal(leanacct_scaled_batch(32, 8, INT_MAX), 256);
	assert_int_equal(leanacct_scaled_batch(128, 4000000, INT_MAX), 512000000);
}

/* Every product that does not fit gives the bound, the ones that wrap to small too. */
static void is_bounded(void **unused)
{
	(void)unused;
	assert_int_equal(leanacct_scaled_batch(1024, 4000000, INT_MAX), INT_MAX);
	assert_int_equal(leanacct_scaled_batch(65536, 65536, INT_MAX), INT_MAX);
	assert_int_equal(leanacct_scaled_batch(INT_MAX, UINT_MAX, INT_MAX), INT_MAX);
	assert_int_equal(leanacct_scaled_batch(32, 4000000, 65535), 65535);
	assert_int_equal(leanacct_scaled_batch(32, 1, 32), 32);
	for (u32 factor = 1; factor < 1U << 31; factor += factor / 2 + 1) {
		s32 batch = leanacct_scaled_batch(32, factor, INT_MAX);

		assert_true(batch >= 32);
		assert_true(batch == INT_MAX || batch == 32 * (s64)factor);
	}
}

static void error_does_not_wrap(void **unused)
{
	(void)unused;
	assert_int_equal(leanacct_batch_error(32, 2), 64);
	assert_true(leanacct_batch_error(INT_MAX, 8192) == 8192ULL * INT_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scales),
		cmocka_unit_test(is_bounded),
		cmocka_unit_test(error_does_not_wrap),
	};

	return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
