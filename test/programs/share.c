// SPDX-License-Identifier: GPL-2.0-only
/*
 * A load whose user and system shares are known, and what the kernel accounted
 * for it.
 *
 *	share ratio CPU SECONDS USER_US SYS_US
 *		in turn: spin in user mode for USER_US, one system call of about
 *		SYS_US (a read of /dev/zero, its size found by trial)
 *	share watch CPU SECONDS USER_US SYS_US
 *		the same, and in between, about 20 times a second, look at how far
 *		utime + stime and sum_exec_runtime are apart
 *	share work CPU SECONDS LOOPS BYTES
 *		in turn: LOOPS rounds of a loop in user mode, a read of BYTES. The
 *		same instructions whatever the machine's pace, for short phases.
 *	share tick CPU SECONDS
 *		in turn: a system call of 3/4 jiffy that begins where a jiffy does,
 *		spin in user mode up to the next. Whoever looks only when a jiffy
 *		has gone by finds the load in user mode, always.
 *
 * SECONDS 0: until SIGTERM. The truth is the TSC, read right before and right
 * after each system call; what lies between two calls is user time. At the end,
 * a line each:
 *
 *	calls=471			system calls made
 *	truth_user_ns=100290423		by TSC
 *	truth_sys_ns=905776350
 *	utime_ns=101653120		as the kernel holds them (see cputime.h)
 *	stime_ns=904223395
 *	exec_ns=1005879659		sum_exec_runtime
 *	gap_ns=4095			utime + stime - sum_exec_runtime
 *	window_ns=7330			how finely the gap could be told
 *	rusage_user_us=100514		getrusage(): scaled by the kernel
 *	rusage_sys_us=905154
 *	switches=0			times that the thread was switched away
 *	stolen_ns=0			by which phases were longer than they should be:
 *				the host took the CPU away, or another task
 *
 * and of watch, about the stretches between two looks:
 *
 *	quiet=850			those without a switch
 *	quiet_ns=-1200			what gap_ns grew by in them, all together
 *	switched=12			those with one
 *	at_switch_ns=171000		what it grew by in them, for each switch: the median
 *
 * (ratio 1 1 200 1800 on the nohz_full CPU of a 6.12 guest in TCG. Truth and
 * accounting differ by the kernel's entry and exit code, which lies outside of
 * what the kernel accounts as its own: some 0.5 us a call.)
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "cputime.h"
#include "median.h"

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

enum mode {
	RATIO,
	WATCH,
	WORK,
	TICK
};

/**
 * struct load - what to do, and what came of it
 * @mode:  how user phases end
 * @spin:  RATIO: user phase in TSC cycles
 * @loops: WORK: rounds of the loop
 * @fd:    /dev/zero
 * @buf:   where its zeros go
 * @bytes: how many a call
 * @long_user, @long_sys: a longer phase was interrupted; in TSC cycles
 * @user:  TSC cycles in user mode
 * @sys:   and in system calls
 * @stolen: how much longer such phases were
 * @last:  TSC at the end of the last call
 */
struct load {
	enum mode mode;
	uint64_t spin, loops;
	int fd;
	char *buf;
	size_t bytes;
	uint64_t long_user, long_sys;
	uint64_t user, sys, calls, stolen, last;
};

static uint64_t excess(uint64_t cycles, uint64_t limit)
{
	return cycles > limit ? cycles - limit : 0;
}

static void one_call(struct load *l)
{
	uint64_t before = __rdtsc(), after;

	if (read(l->fd, l->buf, l->bytes) < 0)
		err(1, "read /dev/zero");
	after = __rdtsc();
	l->user += before - l->last;
	l->sys += after - before;
	l->stolen += excess(before - l->last, l->long_user) + excess(after - before, l->long_sys);
	l->calls++;
	l->last = after;
}

static char *map(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED)
		err(1, "no memory for a buffer of %zu bytes", bytes);
	return p;
}

static double shortest_call(struct load *l, size_t bytes)
{
	uint64_t best = UINT64_MAX;

	l->bytes = bytes;
	for (int i = 0; i < 20; i++) {
		uint64_t before = l->sys;

		one_call(l);
		if (l->sys - before < best)
			best = l->sys - before;
	}
	return best;
}

/* Find the size of a read that takes @cycles, by two points of a line. */
static void calibrate(struct load *l, double cycles)
{
	const size_t probe = 64 << 10, most = 256 << 20;
	double least, slope, want;

	l->buf = map(probe);
	least = shortest_call(l, 1);
	slope = (shortest_call(l, probe) - least) / probe;
	want = cycles > least ? (cycles - least) / slope : 0;
	l->bytes = want < 1 ? 1 : want > most ? most : want;
	if (l->bytes > probe)
		l->buf = map(l->bytes);
}

/* Spin up to the next jiffy: the coarse clock steps then (vDSO, no call). */
static void spin_jiffy(void)
{
	int64_t jiffy = clock_ns(CLOCK_MONOTONIC_COARSE);

	while (clock_ns(CLOCK_MONOTONIC_COARSE) == jiffy && !stop)
		;
}

static void spin_loops(uint64_t n)
{
	while (n--)
		asm volatile("");
}

static void run(struct load *l, uint64_t cycles)
{
	uint64_t begin = l->last;

	while (!stop && (!cycles || l->last - begin < cycles)) {
		switch (l->mode) {
		case RATIO:
		case WATCH:
			spin_until(l->last + l->spin);
			break;
		case WORK:
			spin_loops(l->loops);
			break;
		case TICK:
			spin_jiffy();
			break;
		}
		one_call(l);
	}
}

static long switches(void)
{
	struct rusage ru;

	getrusage(RUSAGE_THREAD, &ru);
	return ru.ru_nvcsw + ru.ru_nivcsw;
}

/* Most stretches with a switch that the median is of; the first ones. */
#define MOST 10000

/**
 * struct watch - what the stretches between two looks at the gap brought
 * @gap, @switches: at the last look
 * @quiet:	stretches without a switch
 * @quiet_gap:	what the gap grew by in them
 * @switched:	stretches with one
 * @at_switch:	what it grew by in each of these, for each switch
 */
struct watch {
	int64_t gap, switches, quiet, quiet_gap, switched;
	double at_switch[MOST];
};

/* A look that no switch falls into; the last one may, and does not count. */
static void look(struct watch *w, double per_ns)
{
	int64_t gap, count;
	struct times t;

	do {
		count = switches();
		gap = settled_gap(&t, per_ns);
	} while (count != switches() && !stop);
	if (stop)
		return;
	if (count == w->switches) {
		w->quiet++;
		w->quiet_gap += gap - w->gap;
	} else if (w->switched < MOST) {
		w->at_switch[w->switched++] = (double)(gap - w->gap) / (count - w->switches);
	}
	w->gap = gap;
	w->switches = count;
}

/* As run(), with a look every 25 ms; looks count as user time. */
static void run_watched(struct load *l, uint64_t cycles, double per_ns, struct watch *w)
{
	uint64_t begin = l->last;

	while (!stop && (!cycles || l->last - begin < cycles)) {
		run(l, 25000000 * per_ns);
		look(w, per_ns);
	}
}

static int usage(void)
{
	fputs("usage: share ratio CPU SECONDS USER_US SYS_US\n"
	      "       share watch CPU SECONDS USER_US SYS_US\n"
	      "       share work CPU SECONDS LOOPS BYTES\n"
	      "       share tick CPU SECONDS\n"
	      "SECONDS 0: until SIGTERM\n",
	      stderr);
	return 129;
}

static int64_t timeval_us(struct timeval t)
{
	return t.tv_sec * 1000000LL + t.tv_usec;
}

static void say(const char *key, double value)
{
	printf("%s=%.0f\n", key, value);
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct times t0, t1, settled;
	struct rusage ru0, ru1;
	struct load load = { 0 };
	static struct watch watch;
	int64_t gap0, gap1;
	double per_ns, sys, jiffy;
	long cpu, seconds;

	if (argc == 6 && !strcmp(argv[1], "ratio"))
		load.mode = RATIO;
	else if (argc == 6 && !strcmp(argv[1], "watch"))
		load.mode = WATCH;
	else if (argc == 6 && !strcmp(argv[1], "work"))
		load.mode = WORK;
	else if (argc == 4 && !strcmp(argv[1], "tick"))
		load.mode = TICK;
	else
		return usage();
	cpu = number(argv[2], "CPU", 0, CPU_SETSIZE - 1);
	seconds = number(argv[3], "SECONDS", 0, 3600);

	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	pin(cpu);
	per_ns = tsc_per_ns();
	load.fd = open("/dev/zero", O_RDONLY);
	if (load.fd < 0)
		err(1, "/dev/zero");
	jiffy = jiffy_ns() * per_ns;
	switch (load.mode) {
	case RATIO:
	case WATCH:
		load.spin = number(argv[4], "USER_US", 0, 1000000) * 1000 * per_ns;
		sys = number(argv[5], "SYS_US", 0, 1000000) * 1000 * per_ns;
		calibrate(&load, sys);
		load.long_user = load.spin + jiffy / 8;
		load.long_sys = 1.5 * sys + jiffy / 8;
		break;
	case WORK:
		load.loops = number(argv[4], "LOOPS", 0, 1000000000);
		load.bytes = number(argv[5], "BYTES", 0, 256 << 20);
		load.buf = map(load.bytes + 1);
		load.long_user = load.long_sys = jiffy / 8;
		break;
	case TICK:
		calibrate(&load, 0.75 * jiffy);
		load.long_user = 0.5 * jiffy;
		load.long_sys = 0.9 * jiffy;
		break;
	}
	one_call(&load); /* and its pages, its code are there */

	watch.switches = switches();
	gap0 = watch.gap = settled_gap(&t0, per_ns);
	getrusage(RUSAGE_THREAD, &ru0);
	load.user = load.sys = load.calls = load.stolen = 0;
	load.last = __rdtsc();
	if (load.mode == WATCH)
		run_watched(&load, seconds * 1000000000 * per_ns, per_ns, &watch);
	else
		run(&load, seconds * 1000000000 * per_ns);
	settle(per_ns, 0);
	load.user += __rdtsc() - load.last;
	t1 = read_times(0);
	getrusage(RUSAGE_THREAD, &ru1);
	gap1 = settled_gap(&settled, per_ns);

	say("calls", load.calls);
	say("truth_user_ns", load.user / per_ns);
	say("truth_sys_ns", load.sys / per_ns);
	say("utime_ns", t1.utime - t0.utime);
	say("stime_ns", t1.sum - t0.sum - (t1.utime - t0.utime));
	say("exec_ns", t1.exec - t0.exec);
	say("gap_ns", gap1 - gap0);
	say("window_ns", t1.window + t0.window);
	say("rusage_user_us", timeval_us(ru1.ru_utime) - timeval_us(ru0.ru_utime));
	say("rusage_sys_us", timeval_us(ru1.ru_stime) - timeval_us(ru0.ru_stime));
	say("switches", ru1.ru_nvcsw - ru0.ru_nvcsw + ru1.ru_nivcsw - ru0.ru_nivcsw);
	say("stolen_ns", load.stolen / per_ns);
	if (load.mode == WATCH) {
		say("quiet", watch.quiet);
		say("quiet_ns", watch.quiet_gap);
		say("switched", watch.switched);
		say("at_switch_ns", median(watch.at_switch, watch.switched));
	}
	return 0;
}
