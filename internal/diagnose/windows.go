package diagnose

import "slices"

// A text is looked at in windows of 64 bytes, with a bit for each of them in a word.

// windowsOf is how many windows n bytes have.
func windowsOf(n int) int { return (n + 63) / 64 }

// windowsPortable sets the words of the windows from the first on.
func windowsPortable(text []byte, first int, special, ends []uint64) {
	for k := first; k < windowsOf(len(text)); k++ {
		s, e := uint64(0), uint64(0)
		i := 64 * k
		last := min(i+64, len(text))
		for ; i+8 <= last && i+9 <= len(text); i += 8 {
			x := eight(text[i:])
			pairs := zeroBytes(x^ones*' ') & zeroBytes(eight(text[i+1:])^ones*' ')
			end := zeroBytes(x ^ ones*'\n')
			found := x&highs | lowBytes(x)&^end | zeroBytes(x^ones*0x7f) | pairs |
				zeroBytes(x^ones*'&') | zeroBytes(x^ones*'[') | zeroBytes(x^ones*'\\')
			s |= bitOfEach(found) << (i & 63)
			e |= bitOfEach(end) << (i & 63)
		}
		for ; i < last; i++ {
			if isSpecial(text, i) {
				s |= 1 << (i & 63)
			}
			if text[i] == '\n' {
				e |= 1 << (i & 63)
			}
		}
		special[k], ends[k] = s, e
	}
}

// zeroBytes marks the bytes of x that are zero, with their highest bit, and no others.
func zeroBytes(x uint64) uint64 { return ^((x&^highs + (highs - ones)) | x) & highs }

// lowBytes marks the control bytes in the same way.
func lowBytes(x uint64) uint64 { return ^(x | (x | highs) - ones*' ') & highs }

// bitOfEach gathers the highest bits of eight bytes.
func bitOfEach(x uint64) uint64 { return (x >> 7) * 0x0102040810204080 >> 56 }

// isSpecial reports whether the byte at i may not stand in clear text as it is:
// control bytes, bytes beyond ASCII, &, [, \ and the first of two blanks.
func isSpecial(t []byte, i int) bool {
	switch b := t[i]; {
	case b == ' ':
		return i+1 < len(t) && t[i+1] == ' '
	case b < 0x20:
		return b != '\n'
	}
	return t[i] == '&' || t[i] == '[' || t[i] == '\\' || t[i] >= 0x7f
}

// class is a set of bytes, as a table and as one for each half of a byte: a byte is in
// it when both tables have a bit in common.
type class struct {
	has    [256]bool
	halves [2][16]byte
}

// newClass makes a class. The upper halves of its bytes may go with at most eight
// different sets of lower ones.
func newClass(in func(b byte) bool) *class {
	c := &class{}
	var sets []uint16
	for upper := range 16 {
		set := uint16(0)
		for lower := range 16 {
			b := byte(upper<<4 | lower)
			if c.has[b] = in(b); c.has[b] {
				set |= 1 << lower
			}
		}
		if set == 0 {
			continue
		}
		k := slices.Index(sets, set)
		if k < 0 {
			k = len(sets)
			sets = append(sets, set)
		}
		c.halves[1][upper] = 1 << k
		for lower := range 16 {
			c.halves[0][lower] |= byte(set >> lower & 1 << k)
		}
	}
	if len(sets) > 8 {
		panic("a class of bytes has too many kinds")
	}
	return c
}

// The bytes of words, and those that the word of a code may begin with: see codeAt.
var (
	wordClass = newClass(isWord)
	codeClass = newClass(func(b byte) bool {
		return isDigit(b) || b >= 'A' && b <= 'Z' || b == 'h' || b == 't'
	})
)

// classesPortable sets the words of the windows from the first on.
func classesPortable(text []byte, first int, c *class, out []uint64) {
	for k := first; k < windowsOf(len(text)); k++ {
		x := uint64(0)
		for i, b := range text[64*k : min(64*k+64, len(text))] {
			if c.has[b] {
				x |= 1 << i
			}
		}
		out[k] = x
	}
}
