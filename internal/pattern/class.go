package pattern

import (
	"unicode/utf8"

	"errorkb/internal/pattern/little"
)

// class is what a gap may hold: a sequence of atoms, each a repeated set.
type class struct {
	atoms []atom
	union byteSet
	any   bool // one atom that takes everything, line ends perhaps excepted
	lines bool // may hold line ends
}

// atom is a set of characters repeated min to max times; max is -1 for no end.
type atom struct {
	set      byteSet
	min, max int
}

// maxAtoms bounds the atoms of a class. The states of a sequence fit a uint32.
const maxAtoms = 16

// byteSet is a set of bytes. Characters beyond ASCII are in it all or none.
type byteSet [4]uint64

func (s *byteSet) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *byteSet) has(b byte) bool { return s[b>>6]>>(b&63)&1 != 0 }

func setOfBytes(bytes string) byteSet {
	var s byteSet
	for i := range len(bytes) {
		s.add(bytes[i])
	}
	return s
}

func allBut(bytes string) byteSet {
	s := setOfBytes(bytes)
	for i := range s {
		s[i] = ^s[i]
	}
	return s
}

const (
	digitBytes = "0123456789"
	upperBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lowerBytes = "abcdefghijklmnopqrstuvwxyz"
)

// known are the classes that expressions use most; a record holds their place
// in this list, which may have 15. The order is part of the format of an index.
var known = [...]*class{
	classOf(atom{allBut("\n"), 0, -1}),                                         // .
	classOf(atom{allBut(""), 0, -1}),                                           // (?s:.)
	classOf(atom{setOfBytes("+-"), 0, 1}, atom{setOfBytes(digitBytes), 1, -1}), // [-+]?\d+
	classOf(atom{setOfBytes(digitBytes + "abcdefABCDEF"), 1, -1}),              // [0-9A-Fa-f]+
	classOf(atom{setOfBytes("+-"), 0, 1}, atom{setOfBytes(digitBytes), 1, 1}, atom{setOfBytes(digitBytes + ".eE+-"), 0, -1}), // [-+]?\d[\d.eE+-]*
	classOf(atom{setOfBytes(digitBytes), 1, -1}),                                                                                               // \d+
	classOf(atom{allBut("\t\n\f\r "), 1, -1}),                                                                                                  // \S+
	classOf(atom{setOfBytes(digitBytes + upperBytes + lowerBytes + "_"), 1, -1}),                                                               // \w+
	classOf(atom{allBut("'"), 0, -1}), classOf(atom{allBut("'"), 1, -1}), classOf(atom{allBut(`"`), 0, -1}), classOf(atom{allBut(`"`), 1, -1}), // [^']*, [^']+ …
	classOf(atom{allBut("`"), 0, -1}), classOf(atom{allBut("`"), 1, -1}),
}

var anyLine, anyLines = known[0], known[1]

func classOf(atoms ...atom) *class {
	c := &class{atoms: atoms}
	c.finish()
	return c
}

// finish derives what the atoms imply.
func (c *class) finish() {
	c.union = byteSet{}
	for _, a := range c.atoms {
		for i := range c.union {
			c.union[i] |= a.set[i]
		}
	}
	c.lines = c.union.has('\n')
	c.any = len(c.atoms) == 1 && c.atoms[0].min == 0 && c.atoms[0].max < 0 && (c.union == allBut("") || c.union == allBut("\n"))
}

// shared returns the known class that equals c, or c.
func (c *class) shared() *class {
	for _, k := range known {
		if c.equal(k) {
			return k
		}
	}
	return c
}

func (c *class) equal(d *class) bool {
	if len(c.atoms) != len(d.atoms) {
		return false
	}
	for i := range c.atoms {
		if c.atoms[i] != d.atoms[i] {
			return false
		}
	}
	return true
}

// id is the place of a class among the known ones; beyond them when it is none.
func (c *class) id() int {
	for i, k := range known {
		if c == k {
			return i
		}
	}
	return tagBehind
}

func appendClass(dst []byte, c *class) []byte {
	dst = append(dst, byte(len(c.atoms)))
	for _, a := range c.atoms {
		for _, w := range a.set {
			dst = little.AppendUint64(dst, w)
		}
		dst = little.AppendUvarint(dst, uint64(a.min))
		dst = little.AppendUvarint(dst, uint64(a.max+1))
	}
	return dst
}

// class reads a class.
func (l *layout) class(r *reader) *class {
	if l.nclasses == len(l.classes) {
		l.classes = append(l.classes, &class{})
	}
	c := l.classes[l.nclasses]
	l.nclasses++
	c.atoms = c.atoms[:0]
	for range int(r.byte()) {
		var a atom
		for i := range a.set {
			a.set[i] = little.Uint64(r.bytes(8))
		}
		a.min = r.num()
		a.max = r.num() - 1
		c.atoms = append(c.atoms, a)
	}
	c.finish()
	return c
}

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

// closure adds the atoms that are reached by leaving optional ones out. An atom
// that takes a character must have min 0 or 1 and max 1 or none; Compile writes
// other repetitions out.
func (c *class) closure(state uint32) uint32 {
	for i := range c.atoms {
		if state>>i&1 != 0 && c.atoms[i].min == 0 {
			state |= 1 << (i + 1)
		}
	}
	return state
}

// begins reports whether a value that is not empty may begin with b.
func (c *class) begins(b byte) bool {
	for i := range c.atoms {
		if c.atoms[i].set.has(b) {
			return true
		}
		if c.atoms[i].min > 0 {
			return false
		}
	}
	return false
}

// least returns the least number of characters.
func (c *class) least() int {
	n := 0
	for i := range c.atoms {
		n += c.atoms[i].min
	}
	return n
}

// whole reports whether the class takes all of text.
func (c *class) whole(text []byte) bool { return c.any || c.prefix(text) == len(text) }

// suffix returns the start of the longest ending of text that the class takes.
func (c *class) suffix(text []byte) (int, bool) {
	low := len(text)
	for low > 0 && len(text)-low < maxShared && c.union.has(text[low-1]) {
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
