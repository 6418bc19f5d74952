// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two processes on one CPU that pass a byte through two pipes: a round trip is
 * two wakeups and two context switches.
 *
 * They run under SCHED_FIFO: then the one that is woken never preempts the other,
 * and a round trip is the same each time. Under SCHED_OTHER it preempts as their
 * virtual times stand; the other then finds its byte there already, and nobody
 * sleeps or is woken.
 *
 * wakehog: the same with a third process in their group that would run and never
 * gets to: so no group's pressure state changes, where in `wake` each wake-up and
 * each sleep changes it.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define PRIORITY 98
#define HOG_PRIORITY 1

enum {
	READ,
	WRITE
};

static int ping[2], pong[2];
static pid_t partner, hog;

static void pass_on(int from, int to)
{
	char byte;

	if (raw_syscall(SYS_read, from, (long)&byte, 1, 0) != 1 ||
	    raw_syscall(SYS_write, to, (long)&byte, 1, 0) != 1)
		_exit(1);
}

static void start(void)
{
	be_fifo(PRIORITY);
	if (pipe(ping) || pipe(pong))
		die("cannot make a pipe");
	partner = fork();
	if (partner < 0)
		die("cannot fork");
	if (!partner) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pass_on(ping[READ], pong[WRITE]);
	}
}

/* The hog inherits its priority. It would spin if both slept: never in a run. */
static void start_with_hog(void)
{
	be_fifo(HOG_PRIORITY);
	hog = fork();
	if (hog < 0)
		die("cannot fork");
	if (!hog) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
	start();
}

static void run(uint64_t iterations)
{
	char byte = 0;

	while (iterations--) {
		if (raw_syscall(SYS_write, ping[WRITE], (long)&byte, 1, 0) != 1 ||
		    raw_syscall(SYS_read, pong[READ], (long)&byte, 1, 0) != 1)
			die("the pipe broke");
	}
}

static void stop(void)
{
	kill(partner, SIGKILL);
	waitpid(partner, NULL, 0);
	close(ping[READ]);
	close(ping[WRITE]);
	close(pong[READ]);
	close(pong[WRITE]);
}

static void stop_with_hog(void)
{
	kill(hog, SIGKILL);
	stop();
	waitpid(hog, NULL, 0);
}

const struct op op_wake = {
	.name = "wake",
	.what = "two processes passing a byte through pipes under SCHED_FIFO 98; a round trip",
	.iterations = 1000,
	.start = start,
	.run = run,
	.stop = stop,
};

const struct op op_wakehog = {
	.name = "wakehog",
	.what = "as wake, while a third process waits for the CPU; a round trip",
	.iterations = 1000,
	.start = start_with_hog,
	.run = run,
	.stop = stop_with_hog,
};
