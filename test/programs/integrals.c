// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hold memory for a while, and say what taskstats makes of it.
 *
 *	integrals MEGABYTES MILLISECONDS CPU
 *
 * On that CPU, touches so many megabytes, then uses so much CPU time, a third of
 * it in system calls. Reads its own taskstats (a real client: generic netlink,
 * family TASKSTATS) at the beginning and the end, and prints, of the time in
 * between:
 *
 *	cpu_us		user and system time
 *	core_mb_us	coremem, Mbyte-microseconds
 *	virt_mb_us	virtmem
 *	rss_kb vm_kb	what it held, from /proc/self/statm, the mean of both ends
 */
#define _GNU_SOURCE
#include <err.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* One request, one attribute; and the answer to it. */
struct message {
	struct nlmsghdr head;
	struct genlmsghdr genl;
	char attributes[4096];
};

static int netlink_socket;

/* The attribute @type in @length bytes of attributes, NULL if there is none. */
static struct nlattr *find(void *attributes, int length, int type)
{
	struct nlattr *a = attributes;

	while (length >= (int)sizeof(*a) && a->nla_len >= sizeof(*a) && a->nla_len <= length) {
		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a;
		length -= NLA_ALIGN(a->nla_len);
		a = (void *)((char *)a + NLA_ALIGN(a->nla_len));
	}
	return NULL;
}

static void *payload(struct nlattr *a)
{
	return (char *)a + NLA_HDRLEN;
}

/* Ask @family for @command with one attribute; the answer replaces it in @m. */
static int ask(struct message *m, int family, int command, int type, const void *data, int size)
{
	struct nlattr *a = (void *)m->attributes;
	int got;

	memset(m, 0, sizeof(*m));
	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + size;
	memcpy(payload(a), data, size);
	m->head.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN) + NLA_ALIGN(a->nla_len);
	m->head.nlmsg_type = family;
	m->head.nlmsg_flags = NLM_F_REQUEST;
	m->genl.cmd = command;
	m->genl.version = 1;
	if (send(netlink_socket, m, m->head.nlmsg_len, 0) < 0)
		err(1, "netlink, send");
	got = recv(netlink_socket, m, sizeof(*m), 0);
	if (got < (int)NLMSG_LENGTH(GENL_HDRLEN))
		err(1, "netlink, receive");
	if (m->head.nlmsg_type == NLMSG_ERROR)
		errx(1, "netlink: error %d", *(int *)&m->genl);
	return m->head.nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN);
}

static int family(void)
{
	static const char name[] = TASKSTATS_GENL_NAME;
	struct message m;
	struct nlattr *a;
	int length;

	length = ask(&m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, name,
		     sizeof(name));
	a = find(m.attributes, length, CTRL_ATTR_FAMILY_ID);
	if (!a)
		errx(1, "this kernel has no taskstats");
	return *(uint16_t *)payload(a);
}

static void read_stats(int id, struct taskstats *stats)
{
	uint32_t pid = getpid();
	struct nlattr *a, *inner;
	struct message m;
	int length;

	length = ask(&m, id, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_PID, &pid, sizeof(pid));
	a = find(m.attributes, length, TASKSTATS_TYPE_AGGR_PID);
	inner = a ? find(payload(a), a->nla_len - NLA_HDRLEN, TASKSTATS_TYPE_STATS) : NULL;
	if (!inner)
		errx(1, "taskstats answered without figures");
	length = inner->nla_len - NLA_HDRLEN;
	memset(stats, 0, sizeof(*stats));
	memcpy(stats, payload(inner), length < (int)sizeof(*stats) ? length : (int)sizeof(*stats));
}

static void read_memory(double *vm_kb, double *rss_kb)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long vm, rss;

	if (!f || fscanf(f, "%ld %ld", &vm, &rss) != 2)
		err(1, "/proc/self/statm");
	fclose(f);
	*vm_kb = vm * (getpagesize() / 1024.0);
	*rss_kb = rss * (getpagesize() / 1024.0);
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	double vm[2], rss[2], until;
	struct taskstats begin, end;
	cpu_set_t set;
	size_t size;
	int id;

	if (argc != 4) {
		fputs("usage: integrals MEGABYTES MILLISECONDS CPU\n", stderr);
		return 129;
	}
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[3]), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "CPU %s", argv[3]);
	netlink_socket = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (netlink_socket < 0)
		err(1, "netlink socket");
	id = family();

	size = atol(argv[1]) << 20;
	if (mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1,
		 0) == MAP_FAILED)
		err(1, "%s megabytes", argv[1]);
	/* More than a tick, so that what came before has been added. */
	for (until = cpu_ms() + 20; cpu_ms() < until;)
		;

	read_memory(&vm[0], &rss[0]);
	read_stats(id, &begin);
	for (until = cpu_ms() + atof(argv[2]); cpu_ms() < until;)
		for (volatile int i = 0; i < 2000; i++)
			if (i % 200 == 0)
				syscall(-1);
	read_stats(id, &end);
	read_memory(&vm[1], &rss[1]);

	printf("cpu_us=%llu core_mb_us=%llu virt_mb_us=%llu rss_kb=%.0f vm_kb=%.0f\n",
	       (unsigned long long)(end.ac_utime + end.ac_stime - begin.ac_utime - begin.ac_stime),
	       (unsigned long long)(end.coremem - begin.coremem),
	       (unsigned long long)(end.virtmem - begin.virtmem), (rss[0] + rss[1]) / 2,
	       (vm[0] + vm[1]) / 2);
	return 0;
}
