package cpu

// AVX2 says that the processor and the system know AVX2, BMI1 and POPCNT.
var AVX2 = hasAVX2()

func cpuid(leaf, sub uint32) (ax, bx, cx uint32)

func xgetbv() uint32

func hasAVX2() bool {
	const (
		osxsave = 1 << 27 // leaf 1, cx
		popcnt  = 1 << 23
		bmi1    = 1 << 3 // leaf 7, bx
		avx2    = 1 << 5
		ymm     = 6 // state that the system saves
	)
	if leaves, _, _ := cpuid(0, 0); leaves < 7 {
		return false
	}
	if _, _, c := cpuid(1, 0); c&osxsave == 0 || c&popcnt == 0 || xgetbv()&ymm != ymm {
		return false
	}
	_, b, _ := cpuid(7, 0)
	return b&bmi1 != 0 && b&avx2 != 0
}
