//go:build !amd64

package diagnose

func windows(text []byte, special, ends []uint64) { windowsPortable(text, 0, special, ends) }
