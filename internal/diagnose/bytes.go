package diagnose

import "errorkb/internal/pattern/little"

// Eight bytes of text are looked at at once, in one number: highs has the highest
// bit of each.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

func eight(t []byte) uint64 { return little.Uint64(t) }

// zeros marks the bytes of x that are zero, with their highest bit; bytes behind
// such a one may be marked too.
func zeros(x uint64) uint64 { return (x - ones) &^ x & highs }

func isASCII(t []byte) bool {
	for ; len(t) >= 32; t = t[32:] {
		if (eight(t)|eight(t[8:])|eight(t[16:])|eight(t[24:]))&highs != 0 {
			return false
		}
	}
	for _, c := range t {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// hasControl reports whether there is a control byte other than line end and tab.
func hasControl(t []byte) bool {
	for ; len(t) >= 8; t = t[8:] {
		x := eight(t)
		y := x&^highs | highs // so that nothing is borrowed from the next byte
		plain := y - ones*0x20 | ^(y ^ ones*('\n'|0x80) + ones*0x7f)
		if (^plain|zeros(x^ones*0x7f))&^x&highs == 0 {
			continue
		}
		for _, c := range t[:8] {
			if isControl(c) {
				return true
			}
		}
	}
	for _, c := range t {
		if isControl(c) {
			return true
		}
	}
	return false
}

func isControl(c byte) bool {
	return c < 0x20 && c != '\n' && c != '\t' && c != '\r' || c == 0x7f
}

// nextSpace is the offset of the first blank at or behind i that is not a single
// one between two words, or of a tab; len(t) when there is none.
func nextSpace(t []byte, i int) int {
	odd := func(i int) bool {
		return t[i] == '\t' || t[i] == ' ' && (i+1 == len(t) || t[i+1] == ' ' || t[i+1] == '\t' || t[i+1] == '\n')
	}
	begin := i
	carry := uint64(0) // the byte before is a blank or a control byte
	for ; i+8 <= len(t); i += 8 {
		x := eight(t[i:])
		low := ^(x&^highs | highs - ones*(' '+1)) &^ x & highs
		second := low & (low<<8 | carry)
		carry = low >> 56
		if second|zeros(x^ones*'\t') == 0 {
			continue
		}
		for k := max(begin, i-1); k < i+8; k++ {
			if odd(k) {
				return k
			}
		}
	}
	for i = max(begin, i-1); i < len(t); i++ {
		if odd(i) {
			return i
		}
	}
	return len(t)
}
