#include "textflag.h"

// LETTERS leaves in OUT a bit for each of the 32 bytes at ADDR that is an ASCII
// letter. Y8 holds 0x20, Y9 'a' and Y10 25, in every byte.
#define LETTERS(ADDR, Y, T, OUT) \
	VPOR      ADDR, Y8, Y  \
	VPSUBB    Y9, Y, Y     \
	VPMINUB   Y10, Y, T    \
	VPCMPEQB  Y, T, Y      \
	VPMOVMSKB Y, OUT

// PLACE writes the place of the lowest bit of R8 and takes it away. Without a bit
// it writes what is overwritten next.
#define PLACE(I) \
	TZCNTQ R8, AX          \
	ADDL   DX, AX          \
	MOVL   AX, (4*I)(DI)   \
	BLSRQ  R8, R8

// func startsAVX2(text *byte, windows int, carry uint64, out *uint32) int
TEXT ·startsAVX2(SB), NOSPLIT, $0-40
	MOVQ text+0(FP), SI
	MOVQ windows+8(FP), CX
	MOVQ carry+16(FP), BX
	MOVQ out+24(FP), DI
	MOVQ DI, R12
	XORL DX, DX
	MOVL $0x20202020, AX
	MOVQ AX, X8
	VPBROADCASTD X8, Y8
	MOVL $0x61616161, AX
	MOVQ AX, X9
	VPBROADCASTD X9, Y9
	MOVL $0x19191919, AX
	MOVQ AX, X10
	VPBROADCASTD X10, Y10
	TESTQ CX, CX
	JZ   done

window:
	// R8: letters of the 64 bytes; R10: letters of the 64 bytes one further on
	LETTERS((SI), Y0, Y4, R8)
	LETTERS(32(SI), Y1, Y5, R9)
	LETTERS(1(SI), Y2, Y6, R10)
	LETTERS(33(SI), Y3, Y7, R11)
	SHLQ $32, R9
	ORQ  R9, R8
	SHLQ $32, R11
	ORQ  R11, R10
	LEAQ (BX)(R8*2), R9  // letters one further back
	MOVQ R8, BX
	SHRQ $63, BX         // the next carry
	ANDQ R10, R8
	ANDNQ R8, R9, R8     // a letter, followed by one, not behind one
	POPCNTQ R8, R13
	LEAQ (DI)(R13*4), R13

places:
	PLACE(0)
	PLACE(1)
	PLACE(2)
	PLACE(3)
	PLACE(4)
	PLACE(5)
	PLACE(6)
	PLACE(7)
	ADDQ $32, DI
	TESTQ R8, R8
	JNZ  places

	MOVQ R13, DI
	ADDQ $64, SI
	ADDL $64, DX
	DECQ CX
	JNZ  window

done:
	VZEROUPPER
	SUBQ R12, DI
	SHRQ $2, DI
	MOVQ DI, ret+32(FP)
	RET
