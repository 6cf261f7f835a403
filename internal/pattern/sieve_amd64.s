#include "textflag.h"

// places are the places of the bytes of a window.
DATA places<>+0x00(SB)/8, $0x0706050403020100
DATA places<>+0x08(SB)/8, $0x0f0e0d0c0b0a0908
DATA places<>+0x10(SB)/8, $0x1716151413121110
DATA places<>+0x18(SB)/8, $0x1f1e1d1c1b1a1918
DATA places<>+0x20(SB)/8, $0x2726252423222120
DATA places<>+0x28(SB)/8, $0x2f2e2d2c2b2a2928
DATA places<>+0x30(SB)/8, $0x3736353433323130
DATA places<>+0x38(SB)/8, $0x3f3e3d3c3b3a3938
GLOBL places<>(SB), RODATA|NOPTR, $64

// BROADCAST fills the register with a number, through AX.
#define BROADCASTD(N, Z) MOVL $N, AX; VPBROADCASTD AX, Z
#define BROADCASTQ(N, Z) MOVQ $N, AX; VPBROADCASTQ AX, Z

// LETTERS leaves in K a bit for each of the 64 bytes at ADDR that is an ASCII
// letter. Z8 holds 0x20, Z9 'a' and Z10 26, in every byte.
#define LETTERS(ADDR, Z, K) \
	VPORQ   ADDR, Z8, Z    \
	VPSUBB  Z9, Z, Z       \
	VPCMPUB $1, Z10, Z, K

// func startsAVX512(text *byte, windows int, carry uint64, out *uint32) int
TEXT ·startsAVX512(SB), NOSPLIT, $0-40
	MOVQ text+0(FP), SI
	MOVQ windows+8(FP), CX
	MOVQ carry+16(FP), BX  // whether the byte before is a letter
	MOVQ out+24(FP), DI
	MOVQ DI, R12
	BROADCASTD(0x20202020, Z8)
	BROADCASTD(0x61616161, Z9)
	BROADCASTD(0x1a1a1a1a, Z10)
	VMOVDQU64 places<>(SB), Z11
	VPXORD Z12, Z12, Z12   // place of the window, in every lane
	BROADCASTD(64, Z13)
	MOVBLZX (SI), AX       // whether the first byte is a letter
	ORL  $0x20, AX
	SUBL $0x61, AX
	CMPL AX, $26
	SBBL AX, AX
	NEGL AX

window:
	LETTERS(1(SI), Z0, K1)
	KMOVQ K1, R8           // letters one further on
	LEAQ (AX)(R8*2), R9    // letters
	LEAQ (BX)(R9*2), R10   // letters one further back
	MOVQ R8, AX
	SHRQ $63, AX
	MOVQ R9, BX
	SHRQ $63, BX
	ANDQ R9, R8
	ANDNQ R8, R10, R8      // a letter, followed by one, not behind one
	POPCNTQ R8, R13
	KMOVQ R8, K3
	VPCOMPRESSB Z11, K3, Z2
	VPMOVZXBD X2, Z3
	VPADDD Z12, Z3, Z3
	VMOVDQU32 Z3, (DI)
	CMPQ R13, $16
	JGT  more
next:
	LEAQ (DI)(R13*4), DI
	VPADDD Z13, Z12, Z12
	ADDQ $64, SI
	DECQ CX
	JNZ  window

	VZEROUPPER
	SUBQ R12, DI
	SHRQ $2, DI
	MOVQ DI, ret+32(FP)
	RET

more:
	VEXTRACTI128 $1, Y2, X2
	VPMOVZXBD X2, Z3
	VPADDD Z12, Z3, Z3
	VMOVDQU32 Z3, 64(DI)
	JMP  next

// LANES leaves in K1 as many ones as there are places left in CX, COUNT at most.
#define LANES(COUNT) \
	MOVL   $COUNT, R10  \
	CMPQ   CX, R10      \
	CMOVQLT CX, R10     \
	MOVL   $-1, R11     \
	BZHIL  R10, R11, R11 \
	KMOVW  R11, K1

// KEEP appends the places of Z0 or Y0 whose bit is in K to those that passed. K1 says how
// many there are to be read, so no more are written over.
#define KEEP(K, PLACES, T) \
	VPCOMPRESSD PLACES, K, T \
	VMOVDQU32 T, K1, (DX)    \
	KMOVW K, R11             \
	POPCNTL R11, R11         \
	LEAQ (DX)(R11*4), DX

// func wordsAVX512(text *byte, words *uint32, n int, out *uint32, small, long *byte, smallShift, longShift uint64) int
TEXT ·wordsAVX512(SB), NOSPLIT, $0-72
	MOVQ text+0(FP), SI
	MOVQ words+8(FP), DI
	MOVQ n+16(FP), CX
	MOVQ out+24(FP), DX
	MOVQ small+32(FP), R8
	MOVQ long+40(FP), R9
	VMOVQ smallShift+48(FP), X14
	VMOVQ longShift+56(FP), X15
	BROADCASTD(0x9e3779b1, Z8)
	BROADCASTD(0x85ebca6b, Z9)
	BROADCASTD(1, Z10)

sixteen:
	LANES(16)
	VMOVDQU32.Z (DI), K1, Z0
	KMOVW K1, K2
	VPGATHERDD (SI)(Z0*1), K2, Z1  // four bytes of the word
	KMOVW K1, K2
	VPGATHERDD 4(SI)(Z0*1), K2, Z2 // and four more
	VPMULLD Z8, Z1, Z3
	VPXORD Z3, Z2, Z2
	VPSRLD $16, Z2, Z4
	VPXORD Z4, Z2, Z2
	VPMULLD Z9, Z2, Z2
	VPSRLD X14, Z3, Z3             // slot in the first bitmap
	VPSRLD X15, Z2, Z2             // word and bits in the second
	VPSRLD $5, Z3, Z4
	VPSRLD $10, Z2, Z5
	KMOVW K1, K2
	VPGATHERDD (R8)(Z4*4), K2, Z6
	KMOVW K1, K2
	VPGATHERDD (R9)(Z5*4), K2, Z7
	VPRORVD Z3, Z6, Z6             // the bits asked for, lowest in each lane
	VPRORVD Z2, Z7, Z4
	VPSRLD $5, Z2, Z2
	VPRORVD Z2, Z7, Z7
	VPTERNLOGD $0xec, Z4, Z6, Z7   // one of the first, or both of the second
	VPTESTMD Z10, Z7, K1, K3
	KEEP(K3, Z0, Z4)
	ADDQ $64, DI
	SUBQ $16, CX
	JGT  sixteen

	VZEROUPPER
	SUBQ out+24(FP), DX
	SHRQ $2, DX
	MOVQ DX, ret+64(FP)
	RET

// ASK finds whether the filter has both bits of the keys in Z, and ors that to Z7.
#define ASK(Z) \
	VPSRLQ $32, Z, Z5            \
	VPXORQ Z5, Z, Z              \
	VPMULLQ Z15, Z, Z            \
	VPSRLQ X16, Z, Z             \
	VPSRLQ $12, Z, Z5            \
	KMOVB K1, K2                 \
	VPGATHERQQ (R8)(Z5*8), K2, Z6 \
	VPRORVQ Z, Z6, Z5            \
	VPSRLQ $6, Z, Z              \
	VPRORVQ Z, Z6, Z6            \
	VPTERNLOGQ $0xf8, Z5, Z6, Z7

// func keysAVX512(text *byte, words *uint32, n int, filter *byte, shift uint64, folds bool) int
TEXT ·keysAVX512(SB), NOSPLIT, $0-56
	MOVQ text+0(FP), SI
	MOVQ words+8(FP), DI
	MOVQ n+16(FP), CX
	MOVQ filter+24(FP), R8
	VMOVQ shift+32(FP), X16
	MOVBLZX folds+40(FP), R9
	MOVQ DI, DX
	BROADCASTQ(0xff51afd7ed558ccd, Z9)
	VPBROADCASTQ ·salts+8(SB), Z11
	VPBROADCASTQ ·salts+16(SB), Z12
	VPBROADCASTQ ·salts+24(SB), Z13
	VPBROADCASTQ ·salts+32(SB), Z14
	BROADCASTQ(0x9e3779b97f4a7c15, Z15)
	BROADCASTQ(1, Z10)
	BROADCASTQ(0x20202020, Z17)

eight:
	LANES(8)
	VMOVDQU32.Z (DI), K1, Y0
	KMOVB K1, K2
	VPGATHERDQ -8(SI)(Y0*1), K2, Z1 // before
	KMOVB K1, K2
	VPGATHERDQ (SI)(Y0*1), K2, Z2   // after
	VPXORQ Z7, Z7, Z7
	VPMULLQ Z9, Z1, Z3   // around8
	VPSRLQ $29, Z1, Z4
	VPXORQ Z4, Z3, Z3
	VPADDQ Z2, Z3, Z3
	VPXORQ Z11, Z3, Z3
	ASK(Z3)
	VPSRLQ $32, Z1, Z3   // around4
	VPSLLQ $32, Z2, Z4
	VPORQ Z4, Z3, Z3
	VPXORQ Z12, Z3, Z3
	ASK(Z3)
	VPMOVQD Z2, Y4
	VPMOVZXDQ Y4, Z4
	VPXORQ Z13, Z4, Z3   // after4
	ASK(Z3)
	ASK(Z2)              // after8
	TESTL R9, R9
	JZ   test
	VPORQ Z17, Z4, Z3    // folded4
	VPXORQ Z14, Z3, Z3
	ASK(Z3)
test:
	VPTESTMQ Z10, Z7, K1, K3
	KEEP(K3, Y0, Y4)
	ADDQ $32, DI
	SUBQ $8, CX
	JGT  eight

	VZEROUPPER
	SUBQ words+8(FP), DX
	SHRQ $2, DX
	MOVQ DX, ret+48(FP)
	RET
