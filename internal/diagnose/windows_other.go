//go:build !amd64

package diagnose

func windows(text []byte, _ int, special, ends []uint64) { windowsPortable(text, 0, special, ends) }

func classes(text []byte, c *class, out []uint64) { classesPortable(text, 0, c, out) }
