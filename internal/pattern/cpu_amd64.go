package pattern

// What the processor has, beyond what any has. Tests switch it off.
var (
	avx2   = HasAVX2()
	avx512 = avx2 && hasAVX512()
)

// HasAVX2 reports whether the processor and the system know AVX2, BMI1 and POPCNT,
// for the few loops, here and in internal/diagnose, that are written for them. Each of
// them has a portable twin.
func HasAVX2() bool {
	const (
		ymm  = 6      // state that the system saves
		bmi1 = 1 << 3 // leaf 7, bx
		avx2 = 1 << 5
	)
	return knows(ymm, bmi1|avx2, 0)
}

// hasAVX512 reports whether they know the parts of AVX-512 that the sieve is written
// for: F, DQ, BW, VL and VBMI2.
func hasAVX512() bool {
	const (
		zmm   = 0xe6                          // state that the system saves
		parts = 1<<16 | 1<<17 | 1<<30 | 1<<31 // leaf 7, bx
		bmi2  = 1 << 8
		vbmi2 = 1 << 6 // leaf 7, cx
	)
	return knows(zmm, bmi2|parts, vbmi2)
}

// knows reports whether the processor has POPCNT and the features of leaf 7, and
// the system saves the state.
func knows(state, bx, cx uint32) bool {
	const (
		osxsave = 1 << 27 // leaf 1, cx
		popcnt  = 1 << 23
	)
	if leaves, _, _ := cpuid(0, 0); leaves < 7 {
		return false
	}
	if _, _, c := cpuid(1, 0); c&osxsave == 0 || c&popcnt == 0 || xgetbv()&state != state {
		return false
	}
	_, b, c := cpuid(7, 0)
	return b&bx == bx && c&cx == cx
}

func cpuid(leaf, sub uint32) (ax, bx, cx uint32)

func xgetbv() uint32
