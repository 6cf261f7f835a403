//go:build !amd64

package pattern

func startsIn(text []byte, windows int, carry uint64, out []uint32) int {
	return startsPortable(text, windows, carry, out)
}

func (f *finder) sieveWords([]byte) (passed, sieved int) { return 0, 0 }

func (f *finder) sieveKeys(n int) int { return n }
