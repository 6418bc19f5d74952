// SPDX-License-Identifier: GPL-2.0-only
/*
 * leanacct-bench: the operations whose accounting is measured, one at a time,
 * pinned to one CPU. Prints a line a run:
 *
 *	run OP iterations N tsc CYCLES ns NANOSECONDS
 *
 * Under the instruction counter (test/vm/insn.c) the markers around a run make
 * it a region of its own; elsewhere they are nops.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "bench.h"
#include "marker.h"

#define MAX_RUNS 1000
#define EXIT_USAGE 129

static const struct op *const ops[] = {
	&op_syscall, &op_switch, &op_wake, &op_wakehog, &op_cputime, &op_tick, &op_sleep,
};

#define NR_OPS (sizeof(ops) / sizeof(*ops))

struct run {
	uint64_t tsc;
	uint64_t ns;
};

static struct run results[MAX_RUNS];

void die(const char *what)
{
	fprintf(stderr, "leanacct-bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

void be_fifo(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("cannot take SCHED_FIFO (needs root, or CAP_SYS_NICE)");
}

static void usage(FILE *to)
{
	size_t i;

	fputs("usage: leanacct-bench OP [-c CPU] [-n ITERATIONS] [-r RUNS] [-i ID] [-t]\n\n", to);
	for (i = 0; i < NR_OPS; i++)
		fprintf(to, "  %-8s %s (%" PRIu64 " a run)\n", ops[i]->name, ops[i]->what,
			ops[i]->iterations);
	fputs("\n"
	      "  -c CPU         run there (default: the first nohz_full CPU, else 0)\n"
	      "  -n ITERATIONS  length of a run\n"
	      "  -r RUNS        how many (default 5)\n"
	      "  -i ID          a number for the instruction counter, to know the runs by\n"
	      "  -t             also print TSC cycles and nanoseconds per iteration\n",
	      to);
}

static uint64_t number(const char *option, const char *text, uint64_t min, uint64_t max)
{
	char *rest;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &rest, 10);
	if (*text < '0' || *text > '9' || *rest || errno || value < min || value > max) {
		fprintf(stderr,
			"leanacct-bench: %s wants a number from %" PRIu64 " to %" PRIu64
			", not '%s'\n",
			option, min, max, text);
		exit(EXIT_USAGE);
	}
	return value;
}

/* The file has a list such as `1-3,5`, or nothing. */
static int default_cpu(void)
{
	FILE *list = fopen("/sys/devices/system/cpu/nohz_full", "r");
	int cpu = 0;

	if (list) {
		if (fscanf(list, "%d", &cpu) != 1)
			cpu = 0;
		fclose(list);
	}
	return cpu;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		fprintf(stderr, "leanacct-bench: cannot run on CPU %d: %s\n", cpu,
			errno == EINVAL ? "offline, or not of this machine or cpuset" :
					  strerror(errno));
		exit(1);
	}
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void measure(const struct op *op, uint64_t iterations, const char *id, struct run *result)
{
	uint64_t ns, tsc;

	for (; *id; id++)
		marker_digit(*id);
	ns = now_ns();
	tsc = __rdtsc();
	MARKER(MARKER_BEGIN);
	op->run(iterations);
	MARKER(MARKER_END);
	result->tsc = __rdtsc() - tsc;
	result->ns = now_ns() - ns;
}

int main(int argc, char **argv)
{
	uint64_t iterations = 0, runs = 5, i;
	const struct op *op = NULL;
	const char *id = "";
	int per_op = 0;
	int cpu = -1;
	int option;

	while ((option = getopt(argc, argv, "c:n:r:i:th")) != -1) {
		switch (option) {
		case 'c':
			cpu = (int)number("-c", optarg, 0, CPU_SETSIZE - 1);
			break;
		case 'n':
			iterations = number("-n", optarg, 1, UINT32_MAX);
			break;
		case 'r':
			runs = number("-r", optarg, 1, MAX_RUNS);
			break;
		case 'i':
			number("-i", optarg, 0, UINT32_MAX);
			id = optarg;
			break;
		case 't':
			per_op = 1;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (optind + 1 != argc) {
		usage(stderr);
		return EXIT_USAGE;
	}
	for (i = 0; i < NR_OPS; i++)
		if (!strcmp(argv[optind], ops[i]->name))
			op = ops[i];
	if (!op) {
		fprintf(stderr, "leanacct-bench: no operation '%s'\n", argv[optind]);
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!iterations)
		iterations = op->iterations;

	MARKER(MARKER_ARM);
	pin(cpu < 0 ? default_cpu() : cpu);
	/* Without it (no root) it works as well, with a page fault now and then. */
	mlockall(MCL_CURRENT | MCL_FUTURE);

	if (op->start)
		op->start();
	op->run(iterations / 5 + 2); /* warm up */
	for (i = 0; i < runs; i++)
		measure(op, iterations, id, &results[i]);
	if (op->stop)
		op->stop();

	for (i = 0; i < runs; i++) {
		printf("run %s iterations %" PRIu64 " tsc %" PRIu64 " ns %" PRIu64 "\n", op->name,
		       iterations, results[i].tsc, results[i].ns);
		if (per_op)
			printf("per op tsc %.1f ns %.1f\n", (double)results[i].tsc / iterations,
			       (double)results[i].ns / iterations);
	}
	return 0;
}
