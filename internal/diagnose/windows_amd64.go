package diagnose

import "errorkb/internal/cpu"

// windows sets the bits of special and ends of all bytes of a text, 64 in a word.
func windows(text []byte, special, ends []uint64) {
	n := 0
	if cpu.AVX2 && len(text) > 64 {
		n = (len(text) - 1) / 64 // the byte behind the last one is looked at, too
		_, _ = special[n-1], ends[n-1]
		windowsAVX2(&text[0], n, &special[0], &ends[0])
	}
	windowsPortable(text, n, special, ends)
}

//go:noescape
func windowsAVX2(text *byte, n int, special, ends *uint64)
