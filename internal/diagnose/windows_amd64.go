package diagnose

import "errorkb/internal/pattern"

var fastWindows = pattern.HasAVX2()

// windows sets the bits of special and ends of all bytes of a text, 64 in a word. What
// lies ahead bytes behind in memory is brought near the processor on the way.
func windows(text []byte, ahead int, special, ends []uint64) {
	n := 0
	if fastWindows && len(text) > 64 {
		n = (len(text) - 1) / 64 // the byte behind the last one is looked at, too
		_, _ = special[n-1], ends[n-1]
		windowsAVX2(&text[0], n, ahead, &special[0], &ends[0])
	}
	windowsPortable(text, n, special, ends)
}

// classes sets the bits of out for the bytes of a text that are of a class, 64 in a
// word.
func classes(text []byte, c *class, out []uint64) {
	n := 0
	if fastWindows && len(text) >= 64 {
		n = len(text) / 64
		_ = out[n-1]
		classesAVX2(&text[0], n, &c.halves, &out[0])
	}
	classesPortable(text, n, c, out)
}

//go:noescape
func windowsAVX2(text *byte, n, ahead int, special, ends *uint64)

//go:noescape
func classesAVX2(text *byte, n int, tables *[2][16]byte, out *uint64)
