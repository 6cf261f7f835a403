//go:build !amd64

package pattern

func startsIn(text []byte, windows int, carry uint64, out []uint32) int {
	return startsPortable(text, windows, carry, out)
}

func (s *segment) wordsIn(text []byte, starts, out []uint32) int {
	return s.wordsPortable(text, starts, out)
}

func (f *finder) sieveKeys(n int) int { return n }
