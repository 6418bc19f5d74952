// SPDX-License-Identifier: GPL-2.0-only
/*
 * A mixed load for the pressure-stall accounting, in a tree of cgroups
 * (psi_tree.h): each part below brings tasks into states, or does to groups,
 * what the accounting has a case of its own for.
 *
 *	psi_load -t 20 all
 *	psi_load -t 0 ring,hog,move		until SIGTERM
 *
 * At the end one line of what was done, and where a part could not run, its
 * name, the reason, and status 1:
 *
 *	psi_load: hops=81234 slices=2340 forks=512 execs=128 moves=903 ...
 *
 * The same parts, seed and time give the same load, as far as the machine does.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "psi_tree.h"

enum count {
	HOPS,	/* ring: bytes passed on */
	SLICES, /* duty, rt: stretches of work */
	FORKS,
	EXECS,	    /* of vfork() */
	MOVES,	    /* of processes into another cgroup */
	STALLS,	    /* mem: over memory.high, and back */
	CACHED,	    /* reads through the page cache */
	DIRECT,	    /* io: reads past it */
	ARMED,	    /* triggers put up */
	EVENTS_CPU, /* and fired */
	EVENTS_MEMORY,
	EVENTS_IO,
	TOGGLES, /* of cgroup.pressure, off and on */
	GROUPS,	 /* made, used and removed */
	COUNT
};

static const char *const count_names[] = {
	[HOPS] = "hops",
	[SLICES] = "slices",
	[FORKS] = "forks",
	[EXECS] = "execs",
	[MOVES] = "moves",
	[STALLS] = "stalls",
	[CACHED] = "cached",
	[DIRECT] = "direct",
	[ARMED] = "armed",
	[EVENTS_CPU] = "events_cpu",
	[EVENTS_MEMORY] = "events_memory",
	[EVENTS_IO] = "events_io",
	[TOGGLES] = "toggles",
	[GROUPS] = "groups",
};

#define PROCESSES 64

static atomic_long *counts; /* shared by all processes */
static struct tree tree;
static const char *device = "/dev/nullb0";
static uint64_t seed = 1;
static int cpus;

static struct {
	pid_t pid;
	const char *part;
} started[PROCESSES];
static int nr_started;
static const char *starting; /* the part */

static void count(enum count which)
{
	atomic_fetch_add_explicit(&counts[which], 1, memory_order_relaxed);
}

/* --- what the parts are made of --------------------------------------------
 */

static uint64_t random_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static long between(long low, long high)
{
	return low + random_number() % (high - low + 1);
}

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static void spin_us(long us)
{
	int64_t end = now_us() + us;

	while (now_us() < end)
		__builtin_ia32_pause();
}

static void sleep_us(long us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

static void be_fifo(int priority)
{
	struct sched_param p = { .sched_priority = priority };

	if (sched_setscheduler(0, SCHED_FIFO, &p))
		err(1, "SCHED_FIFO");
}

/* A child in @group (none: where this one is) on @cpu (-1: any), which runs on.
 */
static bool begin(const char *group, int cpu)
{
	cpu_set_t set;
	pid_t pid;

	if (nr_started == PROCESSES)
		errx(1, "more than %d processes", PROCESSES);
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	random_number();
	if (pid) {
		started[nr_started].pid = pid;
		started[nr_started++].part = starting;
		return false;
	}
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	seed += nr_started * 0x9e3779b97f4a7c15;
	if (group && !move_to(group, getpid()))
		err(1, "cannot move into %s", group);
	if (cpu >= 0) {
		CPU_ZERO(&set);
		CPU_SET(cpu % cpus, &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			err(1, "cannot run on CPU %d", cpu % cpus);
	}
	return true;
}

/* --- the parts: each starts its processes; a reason why it cannot, or NULL --
 */

/* A byte goes round in a ring of processes: on each CPU one, and one across. */
static const char *start_ring(void)
{
	enum {
		MEMBERS = 4
	};
	int fd[MEMBERS][2];

	for (int ring = 0; ring <= cpus; ring++) {
		for (int i = 0; i < MEMBERS; i++)
			if (pipe(fd[i]))
				err(1, "pipe");
		for (int i = 0; i < MEMBERS; i++) {
			char byte = 0;

			if (!begin(tree.leaf[(i + ring) % LEAVES], ring < cpus ? ring : i))
				continue;
			while (read(fd[i][0], &byte, 1) == 1 &&
			       write(fd[(i + 1) % MEMBERS][1], &byte, 1) == 1)
				count(HOPS);
			err(1, "pipe");
		}
		if (write(fd[0][1], "", 1) != 1)
			err(1, "pipe");
		for (int i = 0; i < MEMBERS; i++) {
			close(fd[i][0]);
			close(fd[i][1]);
		}
	}
	return NULL;
}

/*
 * Never sleep: one on each CPU, in a group that gets what the others leave: else
 * there were little else. The pressure is the same.
 */
static const char *start_hog(void)
{
	for (int cpu = 0; cpu < cpus; cpu++)
		if (begin(tree.hog, cpu))
			while (1)
				spin_us(1000000);
	return NULL;
}

/* Mostly asleep, now and then the hog of its own leaf for a while. */
static const char *start_duty(void)
{
	for (int i = 0; i < 2 * cpus; i++)
		if (begin(tree.leaf[i % LEAVES], i / 2)) {
			setpriority(PRIO_PROCESS, 0, i % 2 ? -5 : 0);
			while (1) {
				spin_us(between(0, 50) ? between(100, 500) : 20000);
				count(SLICES);
				sleep_us(between(5000, 20000));
			}
		}
	return NULL;
}

static const char *start_rt(void)
{
	for (int i = 0; i < cpus; i++)
		if (begin(tree.leaf[(i + 2) % LEAVES], i)) {
			be_fifo(10 + i);
			while (1) {
				spin_us(between(50, 300));
				count(SLICES);
				sleep_us(between(1000, 5000));
			}
		}
	return NULL;
}

static const char *start_fork(void)
{
	for (int i = 0; i < cpus; i++) {
		if (!begin(tree.leaf[(i + 1) % LEAVES], -1))
			continue;
		while (1) {
			int children = between(1, 3);

			for (int child = 0; child < children; child++) {
				if (fork() == 0) {
					spin_us(between(50, 500));
					_exit(0);
				}
				count(FORKS);
			}
			if (vfork() == 0) {
				execl("/proc/self/exe", "psi_load", "--nothing", NULL);
				_exit(1);
			}
			count(EXECS);
			while (wait(NULL) > 0)
				;
			sleep_us(between(20000, 60000));
		}
	}
	return NULL;
}

/* One of the processes in @group; 0: none. */
static pid_t some_process(const char *group)
{
	char path[PATH_MAX];
	int pid, seen = 0;
	pid_t some = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	f = fopen(path, "r");
	if (!f)
		err(1, "%s", path);
	while (fscanf(f, "%d", &pid) == 1)
		if (random_number() % ++seen == 0)
			some = pid;
	fclose(f);
	return some;
}

/* It may have exited meanwhile: no matter. */
static void move_some(const char *from, const char *to)
{
	pid_t pid = some_process(from);

	if (pid && move_to(to, pid))
		count(MOVES);
}

static const char *start_move(void)
{
	if (!begin(NULL, -1))
		return NULL;
	while (1) {
		move_some(tree.leaf[between(0, LEAVES - 1)], tree.leaf[between(0, LEAVES - 1)]);
		if (between(0, 63) == 0) { /* in turn, else one were far over memory.high */
			pid_t other = some_process(tree.mem[1]);

			move_some(tree.mem[0], tree.mem[1]);
			if (other && move_to(tree.mem[0], other))
				count(MOVES);
		}
		sleep_us(between(200, 4000));
	}
}

/*
 * A little over memory.high, with nothing to reclaim: the kernel lets the task
 * sleep in a memory stall, the longer the more over: 1.5 % give some 30 ms (4 ms
 * jiffies, charges of 64 pages; a huge page at once would give 2 s). Then it frees
 * some and takes it again; all of it now and then, for it may have been moved.
 */
static const char *start_mem(void)
{
	for (int i = 0; i < 2; i++) {
		const long page = sysconf(_SC_PAGESIZE), most = MEM_HIGH + MEM_HIGH / 64;
		const long some = MEM_HIGH / 32;
		char *area;

		if (!begin(tree.mem[i], i))
			continue;
		area = mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (area == MAP_FAILED)
			err(1, "mmap");
		madvise(area, most, MADV_NOHUGEPAGE);
		for (long n = 1, from = 0;; n++) {
			for (long at = from; at < most; at += page)
				area[at] = 1;
			from = n % 32 ? most - some : 0;
			madvise(area + from, most - from, MADV_DONTNEED);
			count(STALLS);
		}
	}
	return NULL;
}

/*
 * A reader of @device, with these flags to open(), of @size bytes a time; asleep
 * for up to @pause us after each.
 */
static void read_device(int flags, long size, long range, enum count which, long pause)
{
	int fd = open(device, O_RDONLY | flags);
	void *buffer;

	if (fd < 0)
		err(1, "%s", device);
	if (posix_memalign(&buffer, 4096, size))
		errx(1, "no memory");
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	while (1) {
		if (pread(fd, buffer, size, between(0, range / size - 1) * size) != size)
			err(1, "read %s", device);
		count(which);
		sleep_us(between(0, pause));
	}
}

/* Three times what memory.max lets the page cache have: reclaim and refaults.
 */
static const char *start_cache(void)
{
	if (access(device, R_OK))
		return "no block device (-b)";
	for (int i = 0; i < 2; i++)
		if (begin(tree.cache, i))
			read_device(0, 16 << 10, 3 * CACHE_MAX, CACHED, 0);
	return NULL;
}

static const char *start_io(void)
{
	if (access(device, R_OK))
		return "no block device (-b)";
	for (int i = 0; i < 2; i++)
		if (begin(tree.leaf[i], i))
			read_device(O_DIRECT, 4096, 64 << 20, DIRECT, 5000);
	return NULL;
}

static void arm(struct pollfd *p, const char *dir, const char *file)
{
	static const char text[] = "some 10000 500000";
	char path[PATH_MAX];

	if (p->fd >= 0)
		close(p->fd);
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	p->fd = open(path, O_RDWR | O_NONBLOCK);
	if (p->fd < 0 || write(p->fd, text, sizeof(text)) < 0)
		err(1, "cannot write '%s' to %s", text, path);
	p->events = POLLPRI;
	count(ARMED);
}

/*
 * Stalled 10 ms of 500: an event at most every 500 ms, of each. One after the
 * other is taken away and put up again, every 3 s.
 */
static const char *start_trigger(void)
{
	static const char *const files[] = { "cpu.pressure", "memory.pressure", "io.pressure",
					     "cpu",	     "memory",		"io" };
	const char *dirs[] = { TREE, tree.leaf[0], tree.mem[0], "/proc/pressure" };
	struct pollfd p[12];
	int64_t again;
	int next = 0;

	if (access("/proc/pressure/cpu", W_OK))
		return "no /proc/pressure (booted with psi=0?)";
	if (!begin(NULL, -1))
		return NULL;
	for (int i = 0; i < 12; i++) {
		p[i].fd = -1;
		arm(&p[i], dirs[i / 3], files[i < 9 ? i % 3 : i - 6]);
	}
	again = now_us() + 3000000;
	while (1) {
		poll(p, 12, 500);
		for (int i = 0; i < 12; i++) {
			if (p[i].revents & POLLERR)
				errx(1, "trigger %d is gone", i);
			if (p[i].revents & POLLPRI)
				count(EVENTS_CPU + i % 3);
		}
		if (now_us() >= again) {
			arm(&p[next], dirs[next / 3], files[next < 9 ? next % 3 : next - 6]);
			next = (next + 1) % 12;
			again += 3000000;
		}
	}
}

/* Not of a group that `trigger` watches, nor of one above it. */
static const char *start_toggle(void)
{
	const char *const groups[] = { TREE "/p1",   TREE "/p1/q3", tree.leaf[1], tree.leaf[2],
				       tree.leaf[3], tree.mem[1],   tree.cache };

	if (!tree.pressure)
		return "no cgroup.pressure";
	if (!begin(NULL, -1))
		return NULL;
	while (1) {
		const char *group = groups[between(0, sizeof(groups) / sizeof(groups[0]) - 1)];

		write_file(group, "cgroup.pressure", "0");
		sleep_us(between(1000, 30000));
		write_file(group, "cgroup.pressure", "1");
		count(TOGGLES);
		sleep_us(between(1000, 30000));
	}
}

static const char *start_group(void)
{
	if (!begin(NULL, -1))
		return NULL;
	while (1) {
		char dir[300];
		pid_t pid;

		snprintf(dir, sizeof(dir), "%s", tree.leaf[between(0, LEAVES - 1)]);
		strcpy(strrchr(dir, '/'), "/short");
		make_group(dir);
		pid = fork();
		if (pid == 0) {
			if (!move_to(dir, getpid()))
				err(1, "cannot move into %s", dir);
			for (int i = 0; i < 5; i++) {
				spin_us(between(100, 1000));
				sleep_us(between(100, 1000));
			}
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		while (rmdir(dir) && errno == EBUSY)
			sleep_us(1000);
		count(GROUPS);
		sleep_us(between(1000, 50000));
	}
}

static const struct part {
	const char *name, *what;
	const char *(*start)(void);
} parts[] = {
	{ "ring", "processes pass a byte on, on each CPU and across", start_ring },
	{ "hog", "never sleep, one on each CPU", start_hog },
	{ "duty", "work 0.1 to 0.5 ms, sleep 5 to 20", start_duty },
	{ "rt", "likewise under SCHED_FIFO, shorter", start_rt },
	{ "fork", "fork and exit, vfork and exec", start_fork },
	{ "move", "move processes between cgroups", start_move },
	{ "mem", "sleep in memory stalls, over memory.high", start_mem },
	{ "cache", "read more than memory.max lets be cached (-b)", start_cache },
	{ "io", "sleep in iowait for direct reads (-b)", start_io },
	{ "trigger", "wait for triggers: cgroups' and the system's", start_trigger },
	{ "toggle", "cgroup.pressure off and on", start_toggle },
	{ "group", "make cgroups, use and remove them", start_group },
};

#define PARTS ((int)(sizeof(parts) / sizeof(parts[0])))

/* --- main ------------------------------------------------------------------
 */

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

/* Mark the parts of @list; false where one is not known. */
static bool choose(char *list, bool *chosen)
{
	for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		bool all = !strcmp(word, "all"), known = all;

		for (int i = 0; i < PARTS; i++)
			if (all || !strcmp(word, parts[i].name))
				chosen[i] = known = true;
		if (!known) {
			warnx("no such part: '%s'", word);
			return false;
		}
	}
	return true;
}

/* Removed from the bottom up; a group is busy until its last process is gone.
 */
static void remove_tree(const char *dir)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *d = opendir(dir);

	if (!d)
		return;
	while ((entry = readdir(d)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
			remove_tree(path);
		}
	closedir(d);
	for (int tries = 0; rmdir(dir) && errno == EBUSY && tries < 1000; tries++)
		sleep_us(5000);
}

/* All processes end; true if none had ended before. */
static bool end_all(void)
{
	bool good = true;

	for (int i = 0; i < nr_started; i++)
		kill(started[i].pid, SIGKILL);
	try_write(TREE, "cgroup.kill", "1");
	for (int i = 0; i < nr_started; i++) {
		int status;

		if (waitpid(started[i].pid, &status, 0) < 0)
			err(1, "waitpid");
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
			continue;
		fprintf(stderr, "psi_load: part %s: a process ended early, status %#x\n",
			started[i].part, status);
		good = false;
	}
	return good;
}

static int usage(void)
{
	fputs("usage: psi_load [-t SECONDS] [-b DEVICE] [-d DEPTH] [-s SEED] [-k] "
	      "PART[,PART...]\n"
	      "\n"
	      "  -t SECONDS  run so long (default 10; 0: until SIGTERM)\n"
	      "  -b DEVICE   a block device, only read from (default /dev/nullb0)\n"
	      "  -d DEPTH    of the cgroups, 4 to 20 (default 5)\n"
	      "  -s SEED     of the random numbers (default 1)\n"
	      "  -k          keep the cgroups, " TREE "\n"
	      "\n"
	      "PART is `all`, or of\n",
	      stderr);
	for (int i = 0; i < PARTS; i++)
		fprintf(stderr, "  %-10s  %s\n", parts[i].name, parts[i].what);
	return 129;
}

static long number(const char *text, long min, long max)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end || n < min || n > max)
		errx(129, "'%s': not a number from %ld to %ld", text, min, max);
	return n;
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_signal };
	long seconds = 10, depth = 5;
	bool chosen[PARTS] = { false }, keep = false, good = true;
	int64_t end;
	int option;

	if (argc == 2 && !strcmp(argv[1], "--nothing"))
		return 0;
	while ((option = getopt(argc, argv, "t:b:d:s:k")) != -1)
		switch (option) {
		case 't':
			seconds = number(optarg, 0, 86400);
			break;
		case 'b':
			device = optarg;
			break;
		case 'd':
			depth = number(optarg, 4, 20);
			break;
		case 's':
			seed = number(optarg, 1, INT_MAX);
			break;
		case 'k':
			keep = true;
			break;
		default:
			return usage();
		}
	if (optind + 1 != argc || !choose(argv[optind], chosen))
		return usage();

	counts = mmap(NULL, COUNT * sizeof(*counts), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counts == MAP_FAILED)
		err(1, "mmap");
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	make_tree(&tree, depth);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);

	end = now_us() + seconds * 1000000;
	for (int i = 0; i < PARTS; i++) {
		const char *reason;

		if (!chosen[i])
			continue;
		starting = parts[i].name;
		reason = parts[i].start();
		if (reason) {
			fprintf(stderr, "psi_load: part %s cannot run: %s\n", starting, reason);
			good = false;
		}
	}
	while (!stop && (!seconds || now_us() < end))
		sleep_us(20000);

	good &= end_all();
	if (!keep)
		remove_tree(TREE);
	printf("psi_load:");
	for (int i = 0; i < COUNT; i++)
		printf(" %s=%ld", count_names[i], counts[i]);
	printf("\n");
	return good ? 0 : 1;
}
