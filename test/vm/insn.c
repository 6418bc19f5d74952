// SPDX-License-Identifier: GPL-2.0-only
/*
 * QEMU TCG plugin: counts, exactly, the instructions that one virtual CPU
 * executes between two marker instructions, by address and by kind.
 *
 *	cc -O2 -Wall -Wextra -shared -fPIC -o insn.so insn.c
 *	qemu-system-x86_64 ... -plugin insn.so,out=FILE[,shared=FROM-TO]...
 *
 * A marker is the 8-byte nop 0f 1f 84 00 imm32, with one of the values below
 * as imm32 (scripts/bench/marker.h has the same). Outside of QEMU it does
 * nothing, so a marked program runs anywhere.
 *
 *	ARM		from here on all code is translated anew, with counters in it
 *	DIGIT+0..9	appends a digit to this vCPU's id
 *	BEGIN		opens a region under that id; the id starts anew
 *	END		closes it and writes it to FILE
 *
 * What FILE gets for each region, in the order in which they ended:
 *
 *	region SEQ id ID vcpu N insns TOTAL waited WAITED
 *	ADDRESS COUNT KINDS [CALLER]	a line an address, in order of address
 *	end SEQ
 *
 * ADDRESS is 16 hex digits, `user` for all of user space. KINDS is `-` or some
 * of r (reads the TSC), l (locked), s (serialising), p (PAUSE). What goes wrong
 * is said in a line that begins with `error`.
 *
 * Code that many call is told apart by CALLER. It lies in the ranges that
 * `shared=` names (hex, TO is past the end); CALLER is the last address outside
 * of them before the code was entered.
 *
 * Waiting is not counted: how long a loop around PAUSE spins for another CPU is
 * up to how the host schedules the threads of QEMU. Of such a loop the last
 * round counts; WAITED is the number of instructions of the others.
 *
 * Until the first ARM no instruction is instrumented, so a boot is as fast as
 * without the plugin. A marked program says ARM when it starts, and BEGIN later,
 * after a warm-up: translating anew begins when the vCPUs come to a stop.
 *
 * One region at a time: the counters belong to the vCPU that has opened it.
 * From ARM on each instruction carries a condition on a flag of its vCPU, tested
 * in translated code: with no open region that is a load and a branch, and blocks
 * that were translated before BEGIN count as well as later ones.
 *
 * An instruction counts when it starts: one that faults and is run again counts
 * twice, and each repetition of a `rep` string instruction may count.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The plugin interface of QEMU 10 (version 4 of it, and it takes 2 and later),
 * as far as it is used here: Debian has no package with its header.
 */
#define EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;

struct qemu_plugin_u64 {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
};

struct qemu_info {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus;
		int max_vcpus;
	} system;
};

enum {
	CB_NO_REGS = 0
};
enum {
	COND_NE = 3
};

typedef void (*simple_cb)(uint64_t plugin);
typedef void (*tb_trans_cb)(uint64_t plugin, struct qemu_plugin_tb *tb);
typedef void (*exec_cb)(unsigned int vcpu, void *data);

void qemu_plugin_reset(uint64_t plugin, simple_cb done);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t plugin, tb_trans_cb cb);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t len);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, exec_cb cb, int flags,
					    void *data);
void qemu_plugin_register_vcpu_insn_exec_cond_cb(struct qemu_plugin_insn *insn, exec_cb cb,
						 int flags, int cond, struct qemu_plugin_u64 entry,
						 uint64_t imm, void *data);
struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t size);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned int vcpu);

EXPORT int qemu_plugin_version = 4;
EXPORT int qemu_plugin_install(uint64_t plugin, const struct qemu_info *info, int argc,
			       char **argv);

/* Markers; "LEA" in the upper bytes. */
#define MARKER 0x4c454100u
#define MARKER_BEGIN 0x01
#define MARKER_END 0x02
#define MARKER_ARM 0x03
#define MARKER_DIGIT 0x10 /* to 0x19 */

enum kind {
	KIND_RDTSC = 1,
	KIND_LOCKED = 2,
	KIND_SERIALISING = 4,
	KIND_PAUSE = 8,
};

/* An instruction of the guest; one for each address, kind and caller seen there. */
struct site {
	struct site *next; /* in its hash bucket */
	uint64_t addr;	   /* 0: user space */
	uint64_t caller;   /* 0: not shared, or not known yet */
	uint64_t count;	   /* in the open region */
	unsigned int kinds;
	bool shared; /* count for the caller's site instead */
	bool touched;
};

static struct range {
	uint64_t from, to;
} shared[16];
static size_t shared_count;

struct cpu {
	uint64_t counting; /* the flag that translated code tests */
	uint64_t id;	   /* as far as its digits have come */
};

#define SITE_BITS 20
static struct site *sites[1 << SITE_BITS];
static pthread_mutex_t sites_lock = PTHREAD_MUTEX_INITIALIZER;

static struct qemu_plugin_scoreboard *cpus;
static uint64_t plugin_id;
static enum {
	DISARMED,
	ARMING,
	ARMED
} armed;
static FILE *out;

/* The open region. Written by its vCPU alone, but for `owner`. */
static int owner = -1;
static pthread_mutex_t owner_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t region_id;
static unsigned int region_seq;
static struct site **touched;
static size_t touched_count, touched_room;
static uint64_t caller;

/* The last instructions; a round of waiting is shorter. */
#define RECENT 32
static struct site *recent[RECENT];
static uint64_t executed, waited;
static const struct site *last_pause;
static uint64_t last_pause_at;

/* What the instruction starting at @b is, for the kinds that are told apart. */
static unsigned int decode(const uint8_t *b, size_t len)
{
	unsigned int kinds = 0, rex = 0;
	bool opsize = false, rep = false;
	uint8_t mod, reg;
	size_t i = 0;

	for (; i < len; i++) {
		if (b[i] == 0xf0)
			kinds |= KIND_LOCKED;
		else if (b[i] == 0x66)
			opsize = true;
		else if (b[i] == 0xf2 || b[i] == 0xf3)
			rep = true;
		else if (b[i] != 0x2e && b[i] != 0x36 && b[i] != 0x3e && b[i] != 0x26 &&
			 b[i] != 0x64 && b[i] != 0x65 && b[i] != 0x67)
			break;
	}
	if (i < len && (b[i] & 0xf0) == 0x40)
		rex = b[i++];
	if (i < len && b[i] == 0x90 && b[0] == 0xf3)
		return KIND_PAUSE;
	if (i + 1 >= len)
		return i < len && b[i] == 0xcf ? kinds | KIND_SERIALISING : kinds;

	mod = b[i + 1] >> 6;
	switch (b[i]) {
	case 0x86:
	case 0x87: /* xchg with memory locks by itself */
		return mod != 3 ? kinds | KIND_LOCKED : kinds;
	case 0xcf: /* iret */
		return kinds | KIND_SERIALISING;
	case 0x0f:
		break;
	default:
		return kinds;
	}

	/*
	 * Two-byte opcodes. Serialising is what the Intel manual (volume 3,
	 * "Serializing Instructions") lists; lfence and mfence, which wait
	 * for what stands before them, are taken in.
	 */
	b += i + 1;
	len -= i + 1;
	mod = len > 1 ? b[1] >> 6 : 0;
	reg = len > 1 ? (b[1] >> 3) & 7 : 0;
	switch (b[0]) {
	case 0x31: /* rdtsc */
		return kinds | KIND_RDTSC;
	case 0x01:
		if (mod == 3 && b[1] == 0xf9) /* rdtscp */
			return kinds | KIND_RDTSC;
		if (mod == 3 && b[1] == 0xe8 && !rep && !opsize) /* serialize */
			return kinds | KIND_SERIALISING;
		if (mod != 3 && (reg == 2 || reg == 3 || reg == 7)) /* lgdt, lidt, invlpg */
			return kinds | KIND_SERIALISING;
		return kinds;
	case 0x00: /* lldt, ltr */
		return reg == 2 || reg == 3 ? kinds | KIND_SERIALISING : kinds;
	case 0x22: /* mov to a control register, but for CR8 */
		return reg == 0 && (rex & 4) ? kinds : kinds | KIND_SERIALISING;
	case 0x08:
	case 0x09: /* invd, wbinvd */
	case 0x23: /* mov to a debug register */
	case 0x30: /* wrmsr */
	case 0xa2: /* cpuid */
	case 0xaa: /* rsm */
		return kinds | KIND_SERIALISING;
	case 0xae: /* lfence, mfence */
		if (mod == 3 && !rep && !opsize && (reg == 5 || reg == 6))
			return kinds | KIND_SERIALISING;
		return kinds;
	case 0x38: /* invept, invvpid, invpcid */
		if (opsize && len > 1 && b[1] >= 0x80 && b[1] <= 0x82)
			return kinds | KIND_SERIALISING;
		return kinds;
	}
	return kinds;
}

static struct site *site_get(uint64_t addr, unsigned int kinds, uint64_t from)
{
	uint64_t key = (addr ^ from << 24) << 4 | kinds;
	struct site **bucket = &sites[key * 0x9e3779b97f4a7c15ull >> (64 - SITE_BITS)];
	struct site *s;

	pthread_mutex_lock(&sites_lock);
	for (s = *bucket; s; s = s->next)
		if (s->addr == addr && s->kinds == kinds && s->caller == from)
			break;
	if (!s) {
		s = calloc(1, sizeof(*s));
		if (!s)
			abort();
		s->addr = addr;
		s->kinds = kinds;
		s->caller = from;
		s->next = *bucket;
		*bucket = s;
	}
	pthread_mutex_unlock(&sites_lock);
	return s;
}

/* At a PAUSE: if the last one was this one, take back what ran since. */
static void forget_waiting(const struct site *pause)
{
	uint64_t round = executed - last_pause_at;
	uint64_t i;

	if (pause == last_pause && round <= RECENT) {
		for (i = last_pause_at; i < executed; i++)
			recent[i % RECENT]->count--;
		waited += round;
	}
	last_pause = pause;
	last_pause_at = executed;
}

/* Called for each instruction that the vCPU of the open region starts. */
static void count(unsigned int vcpu, void *data)
{
	struct site *s = data;

	(void)vcpu;
	if (s->shared)
		s = site_get(s->addr, s->kinds, caller);
	else
		caller = s->addr;
	if (s->kinds & KIND_PAUSE)
		forget_waiting(s);
	recent[executed++ % RECENT] = s;
	s->count++;
	if (s->touched)
		return;
	s->touched = true;
	if (touched_count == touched_room) {
		touched_room = touched_room ? 2 * touched_room : 1 << 14;
		touched = realloc(touched, touched_room * sizeof(*touched));
		if (!touched)
			abort();
	}
	touched[touched_count++] = s;
}

static int by_address(const void *a, const void *b)
{
	const struct site *x = *(struct site *const *)a, *y = *(struct site *const *)b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	return (int)x->kinds - (int)y->kinds;
}

static void region_write(unsigned int vcpu)
{
	uint64_t total = 0;
	size_t i;

	qsort(touched, touched_count, sizeof(*touched), by_address);
	for (i = 0; i < touched_count; i++)
		total += touched[i]->count;
	fprintf(out, "region %u id %" PRIu64 " vcpu %u insns %" PRIu64 " waited %" PRIu64 "\n",
		region_seq, region_id, vcpu, total, waited);
	for (i = 0; i < touched_count; i++) {
		struct site *s = touched[i];

		s->touched = false;
		if (!s->count)
			continue;
		if (s->addr)
			fprintf(out, "%016" PRIx64 " ", s->addr);
		else
			fputs("user ", out);
		fprintf(out, "%" PRIu64 " %s%s%s%s%s", s->count, s->kinds ? "" : "-",
			s->kinds & KIND_RDTSC ? "r" : "", s->kinds & KIND_LOCKED ? "l" : "",
			s->kinds & KIND_SERIALISING ? "s" : "", s->kinds & KIND_PAUSE ? "p" : "");
		if (s->caller)
			fprintf(out, " %016" PRIx64, s->caller);
		fputc('\n', out);
		s->count = 0;
	}
	fprintf(out, "end %u\n", region_seq++);
	fflush(out);
	touched_count = 0;
}

static void begin(unsigned int vcpu, struct cpu *cpu)
{
	int other;

	if (armed != ARMED) {
		fprintf(out, "error: vcpu %u: BEGIN before the counters are armed\n", vcpu);
		fflush(out);
		return;
	}

	pthread_mutex_lock(&owner_lock);
	other = owner;
	if (other < 0)
		owner = (int)vcpu;
	pthread_mutex_unlock(&owner_lock);
	if (other >= 0) {
		fprintf(out, "error: vcpu %u: BEGIN while a region of vcpu %d is open\n", vcpu,
			other);
		fflush(out);
		return;
	}
	region_id = cpu->id;
	caller = 0;
	executed = 0;
	waited = 0;
	last_pause = NULL;
	cpu->id = 0;
	cpu->counting = 1;
}

static void end(unsigned int vcpu, struct cpu *cpu)
{
	if (!cpu->counting) {
		fprintf(out, "error: vcpu %u: END without a region of its own\n", vcpu);
		fflush(out);
		return;
	}
	cpu->counting = 0;
	region_write(vcpu);
	pthread_mutex_lock(&owner_lock);
	owner = -1;
	pthread_mutex_unlock(&owner_lock);
}

static void translate(uint64_t plugin, struct qemu_plugin_tb *tb);

static void armed_now(uint64_t plugin)
{
	armed = ARMED;
	qemu_plugin_register_vcpu_tb_trans_cb(plugin, translate);
}

/* Throw away all translated code, as soon as every vCPU has left it. */
static void arm(void)
{
	pthread_mutex_lock(&owner_lock);
	if (armed == DISARMED) {
		armed = ARMING;
		qemu_plugin_reset(plugin_id, armed_now);
	}
	pthread_mutex_unlock(&owner_lock);
}

static void marker(unsigned int vcpu, void *data)
{
	struct cpu *cpu = qemu_plugin_scoreboard_find(cpus, vcpu);
	uintptr_t what = (uintptr_t)data;

	if (what == MARKER_ARM)
		arm();
	else if (what == MARKER_BEGIN)
		begin(vcpu, cpu);
	else if (what == MARKER_END)
		end(vcpu, cpu);
	else if (what >= MARKER_DIGIT && what <= MARKER_DIGIT + 9)
		cpu->id = cpu->id * 10 + (what - MARKER_DIGIT);
}

/* The marker's number if this is one, else 0. */
static unsigned int is_marker(const uint8_t *b, size_t len)
{
	uint32_t imm;

	if (len != 8 || memcmp(b, "\x0f\x1f\x84\x00", 4))
		return 0;
	memcpy(&imm, b + 4, sizeof(imm));
	return (imm & ~0xffu) == MARKER ? imm & 0xff : 0;
}

static bool is_shared(uint64_t addr)
{
	size_t i;

	for (i = 0; i < shared_count; i++)
		if (addr >= shared[i].from && addr < shared[i].to)
			return true;
	return false;
}

static void translate(uint64_t plugin, struct qemu_plugin_tb *tb)
{
	struct qemu_plugin_u64 counting = { cpus, offsetof(struct cpu, counting) };
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	(void)plugin;
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t addr = qemu_plugin_insn_vaddr(insn);
		uint8_t bytes[15];
		size_t len = qemu_plugin_insn_data(insn, bytes, sizeof(bytes));
		uintptr_t what = is_marker(bytes, len);
		struct site *s;

		if (what) {
			qemu_plugin_register_vcpu_insn_exec_cb(insn, marker, CB_NO_REGS,
							       (void *)what);
			continue;
		}
		if (armed != ARMED)
			continue;
		if (!(addr >> 63))
			addr = 0;
		s = site_get(addr, decode(bytes, len), 0);
		s->shared = is_shared(addr);
		qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, count, CB_NO_REGS, COND_NE,
							    counting, 0, s);
	}
}

/* shared=FROM-TO */
static bool shared_add(const char *word)
{
	struct range *range = &shared[shared_count];

	if (shared_count == sizeof(shared) / sizeof(*shared) ||
	    sscanf(word, "shared=%" SCNx64 "-%" SCNx64, &range->from, &range->to) != 2)
		return false;
	shared_count++;
	return true;
}

int qemu_plugin_install(uint64_t plugin, const struct qemu_info *info, int argc, char **argv)
{
	const char *path = NULL;
	int i;

	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4)) {
			path = argv[i] + 4;
		} else if (!shared_add(argv[i])) {
			fprintf(stderr, "insn.so: cannot read `%s'\n", argv[i]);
			return -1;
		}
	}
	if (!path) {
		fputs("insn.so: say where to write: -plugin insn.so,out=FILE\n", stderr);
		return -1;
	}
	if (!info->system_emulation || strcmp(info->target_name, "x86_64")) {
		fputs("insn.so: for qemu-system-x86_64\n", stderr);
		return -1;
	}
	out = fopen(path, "w");
	if (!out) {
		perror(path);
		return -1;
	}
	cpus = qemu_plugin_scoreboard_new(sizeof(struct cpu));
	plugin_id = plugin;
	qemu_plugin_register_vcpu_tb_trans_cb(plugin, translate);
	return 0;
}
