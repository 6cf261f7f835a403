package pattern

import "unicode/utf8"

// prefix returns the length of the longest beginning of text that the class
// takes, or -1 when it does not even take the empty text.
func (c *class) prefix(text []byte) int {
	if len(c.atoms) == 1 {
		n, chars := 0, 0
		a := &c.atoms[0]
		for n < len(text) && a.set.has(text[n]) && (a.max < 0 || chars < a.max) {
			n += charLen(text[n:])
			chars++
		}
		if chars < a.min {
			return -1
		}
		return n
	}
	// The state is the set of atoms that may take the next character; the bit
	// behind the last one says that the class may end here.
	state := c.closure(1)
	last := -1
	for n := 0; ; {
		if state>>len(c.atoms)&1 != 0 {
			last = n
		}
		if n == len(text) || state == 0 {
			return last
		}
		var next uint32
		for i := range c.atoms {
			a := &c.atoms[i]
			if state>>i&1 != 0 && a.set.has(text[n]) {
				if a.max < 0 {
					next |= 1<<i | 1<<(i+1)
				} else {
					next |= 1 << (i + 1)
				}
			}
		}
		state = c.closure(next)
		n += charLen(text[n:])
	}
}

// closure adds the atoms that are reached by leaving optional ones out.
func (c *class) closure(state uint32) uint32 {
	for i := range c.atoms {
		if state>>i&1 != 0 && c.atoms[i].min == 0 {
			state |= 1 << (i + 1)
		}
	}
	return state
}

// whole reports whether the class takes all of text.
func (c *class) whole(text []byte) bool { return c.any || c.prefix(text) == len(text) }

// suffix returns the start of the longest ending of text that the class takes.
func (c *class) suffix(text []byte) (int, bool) {
	low := len(text)
	for low > 0 && len(text)-low < 256 && c.union.has(text[low-1]) {
		low--
	}
	for ; low <= len(text); low++ {
		if c.whole(text[low:]) {
			return low, true
		}
	}
	return 0, false
}

func charLen(b []byte) int {
	if b[0] < utf8.RuneSelf {
		return 1
	}
	_, n := utf8.DecodeRune(b)
	return n
}
