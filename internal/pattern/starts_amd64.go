package pattern

// fastStarts says that startsAVX2 may be used.
var fastStarts = HasAVX2()

// startsIn writes the places of the word starts of windows of 64 bytes each to
// out, and returns how many there are. The carry is 1 when the byte before the
// text is a letter. One more byte of text must follow the windows, and out must
// have eight more places than there are word starts.
func startsIn(text []byte, windows int, carry uint64, out []uint32) int {
	if windows == 0 || !fastStarts {
		return startsPortable(text, windows, carry, out)
	}
	_, _ = text[windows*64], out[windows*32+7]
	return startsAVX2(&text[0], windows, carry, &out[0])
}

//go:noescape
func startsAVX2(text *byte, windows int, carry uint64, out *uint32) int

func cpuid(leaf, sub uint32) (ax, bx, cx uint32)

func xgetbv() uint32

// HasAVX2 reports whether the processor and the system know AVX2, BMI1 and POPCNT,
// for the few loops, here and in internal/diagnose, that are written for them. Each of
// them has a portable twin.
func HasAVX2() bool {
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
