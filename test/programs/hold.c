// SPDX-License-Identifier: GPL-2.0-only
/*
 * hold CPU: stay inside one system call after the other on a CPU, each of many
 * seconds, until killed: a task that does not go back to user mode for long.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>

#define PIECES 1024

int main(int argc, char **argv)
{
	static char buffer[1 << 20];
	static struct iovec pieces[PIECES];
	cpu_set_t set;
	int fd, i;

	if (argc != 2) {
		fprintf(stderr, "usage: hold CPU\n");
		return 129;
	}
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[1]), &set);
	fd = open("/dev/urandom", O_RDONLY);
	if (fd < 0 || sched_setaffinity(0, sizeof(set), &set)) {
		perror("hold");
		return 1;
	}
	for (i = 0; i < PIECES; i++) {
		pieces[i].iov_base = buffer;
		pieces[i].iov_len = sizeof(buffer);
	}
	while (readv(fd, pieces, PIECES) > 0)
		;
	perror("hold");
	return 1;
}
