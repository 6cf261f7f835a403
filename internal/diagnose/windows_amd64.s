#include "textflag.h"

// Classes of bytes by their lower and upper half: a byte is of every class whose bit
// both tables hold for it.
//
//	1 upper half 0, but for the line end     8 the ampersand
//	2 upper half 1                          16 [ and \
//	4 the delete byte                       64 upper half 8 and more
DATA lower<>+0(SB)/8, $0x434b434343434343
DATA lower<>+8(SB)/8, $0x4743435353424343
GLOBL lower<>(SB), RODATA|NOPTR, $16
DATA upper<>+0(SB)/8, $0x0400100000080201
DATA upper<>+8(SB)/8, $0x4040404040404040
GLOBL upper<>(SB), RODATA|NOPTR, $16

// CLASSIFY leaves in SPECIAL a bit for each of the 32 bytes at ADDR that is special,
// or a blank before the blank at NEXT, and in END one for each line end. Y8 and Y9
// hold the tables, Y10 0x0f, Y11 blanks, Y12 line ends, Y13 zeros.
#define CLASSIFY(ADDR, NEXT, SPECIAL, END) \
	VMOVDQU   ADDR, Y0          \
	VPSRLW    $4, Y0, Y1        \
	VPAND     Y10, Y1, Y1       \
	VPAND     Y10, Y0, Y2       \
	VPSHUFB   Y2, Y8, Y2        \
	VPSHUFB   Y1, Y9, Y1        \
	VPAND     Y1, Y2, Y1        \
	VPCMPEQB  Y13, Y1, Y1       \
	VPCMPEQB  Y11, Y0, Y2       \
	VPCMPEQB  NEXT, Y11, Y3     \
	VPAND     Y2, Y3, Y2        \
	VPANDN    Y1, Y2, Y1        \
	VPMOVMSKB Y1, SPECIAL       \
	NOTL      SPECIAL           \
	VPCMPEQB  Y12, Y0, Y0       \
	VPMOVMSKB Y0, END

// func windowsAVX2(text *byte, n, ahead int, special, ends *uint64)
TEXT ·windowsAVX2(SB), NOSPLIT, $0-40
	MOVQ text+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ ahead+16(FP), R10
	MOVQ special+24(FP), DI
	MOVQ ends+32(FP), DX
	VBROADCASTI128 lower<>(SB), Y8
	VBROADCASTI128 upper<>(SB), Y9
	MOVL $0x0f0f0f0f, AX
	MOVQ AX, X10
	VPBROADCASTD X10, Y10
	MOVL $0x20202020, AX
	MOVQ AX, X11
	VPBROADCASTD X11, Y11
	MOVL $0x0a0a0a0a, AX
	MOVQ AX, X12
	VPBROADCASTD X12, Y12
	VPXOR Y13, Y13, Y13
	TESTQ CX, CX
	JZ   done

window:
	PREFETCHT1 (SI)(R10*1)
	CLASSIFY((SI), 1(SI), AX, R8)
	CLASSIFY(32(SI), 33(SI), BX, R9)
	SHLQ $32, BX
	ORQ  BX, AX
	MOVQ AX, (DI)
	SHLQ $32, R9
	ORQ  R9, R8
	MOVQ R8, (DX)
	ADDQ $64, SI
	ADDQ $8, DI
	ADDQ $8, DX
	DECQ CX
	JNZ  window

done:
	VZEROUPPER
	RET

// func classesAVX2(text *byte, n int, tables *[2][16]byte, out *uint64)
TEXT ·classesAVX2(SB), NOSPLIT, $0-32
	MOVQ text+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ tables+16(FP), BX
	MOVQ out+24(FP), DI
	VBROADCASTI128 (BX), Y8
	VBROADCASTI128 16(BX), Y9
	MOVL $0x0f0f0f0f, AX
	MOVQ AX, X10
	VPBROADCASTD X10, Y10
	VPXOR Y13, Y13, Y13
	TESTQ CX, CX
	JZ   classed

class:
	VMOVDQU   (SI), Y0
	VMOVDQU   32(SI), Y4
	VPSRLW    $4, Y0, Y1
	VPSRLW    $4, Y4, Y5
	VPAND     Y10, Y1, Y1
	VPAND     Y10, Y5, Y5
	VPAND     Y10, Y0, Y2
	VPAND     Y10, Y4, Y6
	VPSHUFB   Y2, Y8, Y2
	VPSHUFB   Y6, Y8, Y6
	VPSHUFB   Y1, Y9, Y1
	VPSHUFB   Y5, Y9, Y5
	VPAND     Y1, Y2, Y1
	VPAND     Y5, Y6, Y5
	VPCMPEQB  Y13, Y1, Y1
	VPCMPEQB  Y13, Y5, Y5
	VPMOVMSKB Y1, AX
	VPMOVMSKB Y5, DX
	SHLQ $32, DX
	ORQ  DX, AX
	NOTQ AX
	MOVQ AX, (DI)
	ADDQ $64, SI
	ADDQ $8, DI
	DECQ CX
	JNZ  class

classed:
	VZEROUPPER
	RET
