/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markers for the instruction counter (test/vm/insn.c, which explains them):
 * long nops that tell it where a measured region begins and ends.
 */
#ifndef LEANACCT_MARKER_H
#define LEANACCT_MARKER_H

#define MARKER_BEGIN "0x01"
#define MARKER_END "0x02"
#define MARKER_ARM "0x03"

/* nopl imm32(%rax,%rax,1), byte by byte: no assembler may choose another form */
#define MARKER(number) \
	asm volatile(".byte 0x0f, 0x1f, 0x84, 0x00, " number ", 0x41, 0x45, 0x4c" ::: "memory")

static inline void marker_digit(char digit)
{
	/* clang-format off */
	switch (digit) {
	case '0': MARKER("0x10"); break;
	case '1': MARKER("0x11"); break;
	case '2': MARKER("0x12"); break;
	case '3': MARKER("0x13"); break;
	case '4': MARKER("0x14"); break;
	case '5': MARKER("0x15"); break;
	case '6': MARKER("0x16"); break;
	case '7': MARKER("0x17"); break;
	case '8': MARKER("0x18"); break;
	case '9': MARKER("0x19"); break;
	}
	/* clang-format on */
}

#endif
