package pattern

import "testing"

// eachWay calls f with all that the processor has, and with ever less of it.
func eachWay(f func(way string)) {
	two, five := avx2, avx512
	defer func() { avx2, avx512 = two, five }()
	if avx512 {
		f("AVX-512")
	}
	avx512 = false
	if avx2 {
		f("AVX2")
	}
	avx2 = false
	f("portable")
}

// BenchmarkFindWays is BenchmarkFind without what only some processors have.
func BenchmarkFindWays(b *testing.B) {
	eachWay(func(way string) { b.Run(way, BenchmarkFind) })
}
