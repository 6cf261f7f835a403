package diagnose

import (
	"encoding/binary"
	"math/bits"
)

// Eight bytes of text are looked at at once, in one number: highs has the highest
// bit of each.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

func eight(t []byte) uint64 { return binary.LittleEndian.Uint64(t) }

// zeros marks the bytes of x that are zero, with their highest bit; bytes behind
// such a one may be marked too.
func zeros(x uint64) uint64 { return (x - ones) &^ x & highs }

// below marks the bytes less than n, up to 0x80, in the same way.
func below(x uint64, n uint64) uint64 { return (x - ones*n) &^ x & highs }

func isASCII(t []byte) bool {
	i := 0
	for ; i+8 <= len(t); i += 8 {
		if eight(t[i:])&highs != 0 {
			return false
		}
	}
	for ; i < len(t); i++ {
		if t[i] >= 0x80 {
			return false
		}
	}
	return true
}

// hasControl reports whether there is a control byte other than line end and tab.
func hasControl(t []byte) bool {
	control := func(c byte) bool { return c < 0x20 && c != '\n' && c != '\t' && c != '\r' || c == 0x7f }
	i := 0
	for ; i+8 <= len(t); i += 8 {
		x := eight(t[i:])
		if below(x, 0x20)|zeros(x^ones*0x7f) == 0 {
			continue
		}
		for _, c := range t[i : i+8] {
			if control(c) {
				return true
			}
		}
	}
	for ; i < len(t); i++ {
		if control(t[i]) {
			return true
		}
	}
	return false
}

// nextSpace is the offset of the first blank at or behind i that is not a single
// one between two words, or of a tab; len(t) when there is none.
func nextSpace(t []byte, i int) int {
	odd := func(i int) bool {
		return t[i] == '\t' || t[i] == ' ' && (i+1 == len(t) || t[i+1] == ' ' || t[i+1] == '\t' || t[i+1] == '\n')
	}
	for ; i+9 <= len(t); i += 8 {
		x := eight(t[i:])
		after := below(eight(t[i+1:]), ' '+1) // a blank or a control byte
		found := zeros(x^ones*' ')&after | zeros(x^ones*'\t')
		for ; found != 0; found &= found - 1 {
			if k := i + bits.TrailingZeros64(found)/8; odd(k) {
				return k
			}
		}
	}
	for ; i < len(t); i++ {
		if odd(i) {
			return i
		}
	}
	return len(t)
}
