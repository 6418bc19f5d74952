// SPDX-License-Identifier: GPL-2.0-only
/*
 * An invalid system call: into the kernel and out again, with nothing in
 * between. Three instructions in user space beside the SYSCALL.
 */
#include "bench.h"

static void run(uint64_t iterations)
{
	asm volatile("1:	mov	$-1, %%eax\n"
		     "	syscall\n"
		     "	dec	%0\n"
		     "	jnz	1b"
		     : "+r"(iterations)
		     :
		     : "rax", "rcx", "r11", "memory", "cc");
}

const struct op op_syscall = {
	.name = "syscall",
	.what = "an invalid system call",
	.iterations = 20000,
	.run = run,
};
