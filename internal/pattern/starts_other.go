//go:build !amd64

package pattern

func startsIn(text []byte, windows int, carry uint64, out []uint32) int {
	return startsPortable(text, windows, carry, out)
}
