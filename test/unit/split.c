// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of module/core/split.h: properties over random and edge values,
 * against a 128-bit reference that shares no code with it.
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

#include <cmocka.h>

#include "../../module/core/split.h"

typedef unsigned __int128 u128;

#define CASES 2000000
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const u64 edge[] = {
	0,
	1,
	2,
	3,
	999,
	1000,
	4000000 /* a tick of HZ=250 in ns */,
	0x7fffffff,
	0x80000000,
	0xffffffff,
	0x100000000,
	0x7ffffffffffffffe,
	0x7fffffffffffffff,
	0x8000000000000000,
	0x8000000000000001,
	0xfffffffffffffffe,
	0xffffffffffffffff,
};

static u64 seed;

/* xorshift64*: small, and good enough to spread over 64 bits. */
static u64 rnd(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * 0x2545f4914f6cdd1d;
}

/* Of any magnitude: a number with evenly spread bits is nearly always huge. */
static u64 rnd_any(void)
{
	u64 r = rnd();

	switch (rnd() % 16) {
	case 0:
		return edge[r % ARRAY_SIZE(edge)];
	case 1:
		return 0 - (r % 1000);
	default:
		return r >> (rnd() % 64);
	}
}

static u64 rnd_upto(u64 max)
{
	return max == UINT64_MAX ? rnd() : rnd() % (max + 1);
}

static int reset_seed(void **state)
{
	const char *s = getenv("SEED");

	(void)state;
	seed = s ? strtoull(s, NULL, 0) : 0x9e3779b97f4a7c15;
	if (!seed)
		seed = 1;
	return 0;
}

/* Say which values failed: cmocka shows only the two that it compared. */
#define check(cond, ...) \
	do { \
		if (!(cond)) { \
			char text_[256]; \
			snprintf(text_, sizeof(text_), #cond ": " __VA_ARGS__); \
			fail_msg("%s", text_); \
		} \
	} while (0)

static void check_share(u64 a, u64 b, u64 c)
{
	u64 got = leanacct_share(a, b, c);
	u64 want = (u64)((u128)a * b / c);

	check(got == want, "share(%#lx, %#lx, %#lx) = %#lx, not %#lx", a, b, c, got, want);
}

static void share_edges(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(edge); i++)
		for (size_t j = 0; j < ARRAY_SIZE(edge); j++)
			for (size_t k = 0; k < ARRAY_SIZE(edge); k++)
				if (edge[k] && edge[j] <= edge[k])
					check_share(edge[i], edge[j], edge[k]);
}

static void share_random(void **state)
{
	(void)state;
	for (int i = 0; i < CASES; i++) {
		u64 c = rnd_any();

		if (!c)
			c = 1;
		check_share(rnd_any(), rnd_upto(c), c);
	}
}

/*
 * Operands of one and the same value invite the compiler to keep them in one
 * register, which the multiplication overwrites before the division reads it.
 */
static __attribute__((noinline)) u64 same_ac(u64 a, u64 b)
{
	return leanacct_share(a, b, a);
}

static __attribute__((noinline)) u64 same_abc(u64 a)
{
	return leanacct_share(a, a, a);
}

static void share_same_operands(void **state)
{
	(void)state;
	for (int i = 0; i < CASES / 10; i++) {
		u64 a = rnd_any();
		u64 b;

		if (!a)
			a = 1;
		b = rnd_upto(a);
		check(same_ac(a, b) == b, "a %#lx b %#lx", a, b);
		check(same_abc(a) == a, "a %#lx", a);
		check(same_abc(a * 3 | 1) == (a * 3 | 1), "a %#lx", a);
	}
}

/* What the kernel leaves of the whole; nothing where that makes no sense. */
static u64 ref_user(u64 kernel, u64 total)
{
	__int128 left = (__int128)total - kernel;

	return left < 0 ? 0 : (u64)left;
}

static void check_user(u64 kernel, u64 total)
{
	u64 user = leanacct_user_cycles(kernel, total);

	check(user <= total, "kernel %#lx total %#lx user %#lx", kernel, total, user);
	check(user == ref_user(kernel, total), "kernel %#lx total %#lx user %#lx, not %#lx", kernel,
	      total, user, ref_user(kernel, total));
}

static void user_cycles_any_input(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(edge); i++)
		for (size_t j = 0; j < ARRAY_SIZE(edge); j++)
			check_user(edge[i], edge[j]);
	for (int i = 0; i < CASES; i++)
		check_user(rnd_any(), rnd_any());
}

/* As the gate does it: what one state gets is moved out, the rest stays. */
static u64 split_user(u64 elapsed, u64 kernel, u64 total)
{
	u64 user = leanacct_user_cycles(kernel, total);

	return user ? leanacct_share(elapsed, user, total) : 0;
}

/*
 * Whatever the input: no share is below nothing or above the whole, the two
 * together are the whole, and each is what the reference says, but for the
 * fraction of a nanosecond that rounding moves.
 */
static void check_split(u64 elapsed, u64 kernel, u64 total)
{
	u64 user_cycles = leanacct_user_cycles(kernel, total);
	u64 kernel_cycles = total - user_cycles;
	u64 user = user_cycles ? leanacct_share(elapsed, user_cycles, total) : 0;
	u64 sys = kernel_cycles ? leanacct_share(elapsed, kernel_cycles, total) : 0;

	check(user <= elapsed && sys <= elapsed, "%#lx %#lx %#lx", elapsed, kernel, total);
	if (!total) {
		check(user == 0 && sys == 0, "%#lx %#lx %#lx", elapsed, kernel, total);
		return;
	}
	check(user == (u64)((u128)elapsed * user_cycles / total), "%#lx %#lx %#lx", elapsed, kernel,
	      total);
	/* Moved out either way, what is left differs by less than 1 ns. */
	check(elapsed - user - sys <= 1, "%#lx %#lx %#lx", elapsed, kernel, total);
}

static void share_conserves(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(edge); i++)
		for (size_t j = 0; j < ARRAY_SIZE(edge); j++)
			for (size_t k = 0; k < ARRAY_SIZE(edge); k++)
				check_split(edge[i], edge[j], edge[k]);
	for (int i = 0; i < CASES; i++)
		check_split(rnd_any(), rnd_any(), rnd_any());
}

static void share_is_monotonic(void **state)
{
	(void)state;
	for (int i = 0; i < CASES; i++) {
		u64 elapsed = rnd_any(), total = rnd_any();
		u64 k1 = rnd_upto(total >> 1), k2 = k1 + rnd_upto(total >> 1);
		u64 e2 = elapsed + rnd_upto(UINT64_MAX - elapsed);

		check(split_user(elapsed, k1, total) >= split_user(elapsed, k2, total),
		      "more kernel cycles, more user time: %#lx, %#lx %#lx of %#lx", elapsed, k1,
		      k2, total);
		check(split_user(elapsed, k1, total) <= split_user(e2, k1, total),
		      "longer, less user time: %#lx %#lx, %#lx of %#lx", elapsed, e2, k1, total);
	}
}

/* The worked example at the top of the header. */
static void header_example(void **state)
{
	struct leanacct_epoch e;

	(void)state;
	leanacct_epoch_open(&e, 1000, 0);
	e.kernel -= 1300;
	e.kernel += 1400;
	assert_int_equal(e.kernel, 100);
	assert_int_equal(2000 - e.start, 1000);
	assert_int_equal(leanacct_user_cycles(e.kernel, 1000), 900);
	assert_int_equal(leanacct_share(500, 900, 1000), 450);
}

/*
 * Random sequences of transitions whose user and kernel cycles are known, with
 * a TSC that may wrap in the middle. Where the task is in the kernel, a reader
 * may come in between, and the epoch goes on behind it: the user's cycles leave
 * it by moving its start, as the gate does.
 */
static void transitions_wrap(void **state)
{
	(void)state;
	for (int i = 0; i < CASES / 10; i++) {
		struct leanacct_epoch e;
		u64 user = 0, kernel = 0, moved = 0, elapsed = rnd_any();
		u64 tsc = (rnd() & 1 ? 0 - (rnd() % 100000) : rnd_any());
		int in_kernel = rnd() & 1, n = 1 + rnd() % 40;
		u64 complete, cycles;

		leanacct_epoch_open(&e, tsc, in_kernel);
		while (n--) {
			u64 step = rnd() >> (24 + rnd() % 40);

			tsc += step;
			if (in_kernel)
				kernel += step;
			else
				user += step;
			if (in_kernel && rnd() % 8 == 0) {
				cycles = tsc - e.start;
				cycles = leanacct_user_cycles(e.kernel + tsc, cycles);
				check(cycles == user, "reader: user %#lx, not %#lx", cycles, user);
				e.start += cycles;
				moved += cycles;
				user = 0;
			}
			if (!n)
				break; /* ended inside this stretch */
			if (in_kernel)
				e.kernel += tsc;
			else
				e.kernel -= tsc;
			in_kernel = !in_kernel;
		}
		complete = in_kernel ? e.kernel + tsc : e.kernel;
		cycles = tsc - e.start;
		check(cycles == user + kernel, "start %#lx tsc %#lx moved %#lx", e.start, tsc,
		      moved);
		check(complete == kernel, "kernel %#lx, not %#lx", complete, kernel);
		check(leanacct_user_cycles(complete, cycles) == user, "user %#lx of %#lx", user,
		      cycles);
		check(split_user(elapsed, complete, cycles) ==
			      (cycles ? (u64)((u128)elapsed * user / cycles) : 0),
		      "elapsed %#lx user %#lx of %#lx", elapsed, user, cycles);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(header_example, reset_seed),
		cmocka_unit_test_setup(share_edges, reset_seed),
		cmocka_unit_test_setup(share_random, reset_seed),
		cmocka_unit_test_setup(share_same_operands, reset_seed),
		cmocka_unit_test_setup(user_cycles_any_input, reset_seed),
		cmocka_unit_test_setup(share_conserves, reset_seed),
		cmocka_unit_test_setup(share_is_monotonic, reset_seed),
		cmocka_unit_test_setup(transitions_wrap, reset_seed),
	};

	return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
