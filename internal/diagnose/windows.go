package diagnose

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
