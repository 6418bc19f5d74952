/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tree of cgroups that psi_load works in. Depth 5:
 *
 *	psi_load/p0/q0/d/leaf		leaf 0		depth 5
 *	psi_load/p0/q0/d/mem			memory.high, no swap: stalls that sleep
 *	psi_load/p1/q1/leaf		leaf 1		one less: switches between them
 *	psi_load/p1/q1/cache			memory.max: page cache that comes and goes
 *	psi_load/p0/q2/d/leaf		leaf 2
 *	psi_load/p1/q3/leaf		leaf 3
 *	psi_load/p1/q3/mem			as the other
 *
 *	psi_load/hog				cpu.idle: preempted by all others
 *
 * So tasks share one, two or all levels, and switch between depths. cgroup v2
 * keeps processes out of inner groups: only the last level has any.
 */
#ifndef PSI_TREE_H
#define PSI_TREE_H

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TREE "/sys/fs/cgroup/psi_load"
#define LEAVES 4
#define MEM_HIGH (32 << 20)
#define CACHE_MAX (8 << 20)

struct tree {
	char leaf[LEAVES][256], mem[2][256], cache[256], hog[256];
	bool pressure; /* cgroup.pressure is there (6.1 and later) */
};

/* False, with errno, where it cannot be written. */
static inline bool try_write(const char *dir, const char *file, const char *text)
{
	char path[PATH_MAX];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return false;
	n = write(fd, text, strlen(text));
	close(fd);
	return n >= 0;
}

static inline void write_file(const char *dir, const char *file, const char *text)
{
	if (!try_write(dir, file, text))
		err(1, "cannot write '%s' to %s/%s", text, dir, file);
}

static inline bool move_to(const char *dir, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	return try_write(dir, "cgroup.procs", text);
}

static inline void make_group(const char *dir)
{
	if (mkdir(dir, 0755) && errno != EEXIST)
		err(1, "cannot make the cgroup %s (is cgroup2 mounted on /sys/fs/cgroup?)", dir);
}

/* All groups on the way to @dir, its own controllers left off. */
static inline void make_groups(const char *dir)
{
	char path[256];

	snprintf(path, sizeof(path), "%s", dir);
	for (char *p = path + strlen("/sys/fs/cgroup"); p; p = strchr(p + 1, '/')) {
		*p = 0;
		make_group(path);
		write_file(path, "cgroup.subtree_control", "+cpu +memory");
		*p = '/';
	}
	make_group(dir);
}

static inline void make_tree(struct tree *t, int depth)
{
	char top[256], text[32];

	for (int i = 0; i < LEAVES; i++) {
		snprintf(top, sizeof(top), TREE "/p%d/q%d", i % 2, i);
		for (int level = 4; level < depth - i % 2; level++)
			strcat(top, "/d");
		snprintf(t->leaf[i], sizeof(t->leaf[i]), "%.240s/leaf", top);
		make_groups(t->leaf[i]);
		if (i == 0 || i == 3) {
			char *mem = t->mem[i / 2];

			snprintf(mem, sizeof(t->mem[0]), "%.240s/mem", top);
			make_group(mem);
			snprintf(text, sizeof(text), "%d", MEM_HIGH);
			write_file(mem, "memory.high", text);
			try_write(mem, "memory.swap.max", "0"); /* none without swap */
		} else if (i == 1) {
			snprintf(t->cache, sizeof(t->cache), "%.240s/cache", top);
			make_group(t->cache);
			snprintf(text, sizeof(text), "%d", CACHE_MAX);
			write_file(t->cache, "memory.max", text);
		}
	}
	strcpy(t->hog, TREE "/hog");
	make_group(t->hog);
	write_file(t->hog, "cpu.idle", "1");
	t->pressure = access(TREE "/cgroup.pressure", W_OK) == 0;
}

#endif
