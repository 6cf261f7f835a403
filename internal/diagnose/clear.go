package diagnose

import (
	"bytes"
	"math/bits"
	"sort"

	"errorkb/internal/pattern"
)

// clear is the clear text of a part of the input: colours, control bytes,
// entities, typography, escapes and runs of blanks undone in one pass, prefixes
// left where they are. It serves to see whether something stands in a line, and
// where; what exactly is then read from the line itself.
type clear struct {
	text     []byte
	pins     []pin
	later    []int  // starts of the lines of the part that begin no entry
	odd      []int  // where more was undone in the part than what keeps its lines
	timeless bool   // no line of the part begins an entry
	marks    []mark // where something stands
	spare    [2][]byte
	short    short
	arena    arena // for lines that are joined
	joined   []byte
	seams    []int

	special, ends []uint64 // of the part
	slashes       bool     // messages hold back slashes
	keep          bool     // escapes are left as they are
	plain         int      // end of a line without escapes
	// Of what is being made clear:
	from   int // what stands before it is done
	raw    int // where it begins in the part
	blanks int // left out so far
	fixed  bool
}

// mark is a place where something stands.
type mark struct {
	owner int  // whose message it is; -1 for something else
	piece bool // only a piece of a message
	match pattern.Match
	raw   span // of the part
}

// pin is where the clear text goes on with byte raw of the part. What follows a
// fixed one all comes from the line there.
type pin struct {
	at, raw int
	blanks  int // that were left out of the lines up to here
	fixed   bool
}

// make makes the clear text of a part of the input. Slashes says that messages
// hold back slashes, so that lines with escapes are kept as they are as well.
func (c *clear) make(part []byte, slashes bool) {
	c.text, c.pins, c.marks, c.later, c.odd = c.text[:0], c.pins[:0], c.marks[:0], c.later[:0], c.odd[:0]
	c.slashes, c.plain = slashes, 0
	if cap(c.text) < len(part)+len(part)/4 {
		c.text = make([]byte, 0, len(part)+len(part)/4)
	}
	c.look(part)
	c.findLater(part)
	c.from, c.raw, c.blanks, c.fixed = 0, 0, 0, false
	c.pin(0)
	next := 0
	for k, found := range c.special[:windowsOf(len(part))] {
		for ; found != 0; found &= found - 1 {
			i := 64*k + bits.TrailingZeros64(found)
			if i < next {
				continue
			}
			if part[i] == '\\' {
				next = c.slash(part, i)
			} else {
				next = c.undo(part, i)
			}
		}
	}
	c.copyTo(part, len(part))
}

// look finds the special bytes and line ends of a text.
func (c *clear) look(text []byte) {
	n := windowsOf(len(text))
	if len(c.special) < n {
		c.special, c.ends = make([]uint64, n), make([]uint64, n)
	}
	windows(text, c.special, c.ends)
}

// nextSpecial is the first special byte of the part from i on, end when there is
// none before it.
func (c *clear) nextSpecial(i, end int) int {
	for i < end {
		if found := c.special[i>>6] >> (i & 63); found != 0 {
			return min(i+bits.TrailingZeros64(found), end)
		}
		i = i&^63 + 64
	}
	return end
}

// findLater notes the lines that begin no entry.
func (c *clear) findLater(part []byte) {
	c.timeless = true
	note := func(i int) {
		if opensEntry(part[i:lineEndOf(part, i)]) {
			c.timeless = false
		} else {
			c.later = append(c.later, i)
		}
	}
	note(0)
	for k, ends := range c.ends[:windowsOf(len(part))] {
		for ; ends != 0; ends &= ends - 1 {
			i := 64*k + bits.TrailingZeros64(ends) + 1
			if i+8 <= len(part) && isDay(eight(part[i:])) {
				c.timeless = false
			} else if i < len(part) {
				note(i)
			}
		}
	}
}

// isDay reports whether eight bytes are those of a year and a month, the most
// frequent start of a line: "2026-03-".
func isDay(x uint64) bool {
	const digits, dashes = 0x00f0f000f0f0f0f0, 0xff0000ff00000000
	return x&dashes == 0x2d00002d00000000 && x&digits == 0x0030300030303030 && (x+0x0006060006060606)&digits == x&digits
}

// slash makes the line with a back slash at i clear, and returns where to go on.
func (c *clear) slash(part []byte, i int) int {
	if c.keep || i < c.plain {
		return i + 1
	}
	start, end := bytes.LastIndexByte(part[:i], '\n')+1, lineEndOf(part, i)
	line := c.unescape(part[start:end])
	if line == nil {
		c.plain = end
		return i + 1
	}
	c.odd = append(c.odd, i)
	if c.slashes {
		c.rest(part, i, end)
		c.text = append(c.text, '\n')
	} else {
		// What is there of the line goes.
		c.copyTo(part, i)
		c.text = c.text[:bytes.LastIndexByte(c.text, '\n')+1]
		for len(c.pins) > 0 && c.pins[len(c.pins)-1].at > len(c.text) {
			c.pins = c.pins[:len(c.pins)-1]
		}
	}
	c.from, c.raw, c.fixed = 0, start, true
	c.pin(0)
	c.rest(line, 0, len(line))
	c.from, c.raw, c.fixed = end, 0, false
	c.pin(end)
	return end
}

// rest makes t[i:end] clear, looking at each byte.
func (c *clear) rest(t []byte, i, end int) {
	for t = t[:end]; i < end; {
		if isSpecial(t, i) {
			i = c.undo(t, i)
		} else {
			i++
		}
	}
	c.copyTo(t, end)
}

// unescape is a line with all levels of escapes undone, nil when it has none.
func (c *clear) unescape(line []byte) []byte {
	was := line
	for level := range maxEscapes {
		out := c.spare[level&1][:0]
		last := 0
		for i := 0; i+1 < len(line); {
			k := bytes.IndexByte(line[i:len(line)-1], '\\')
			if k < 0 {
				break
			}
			if i += k; isDrive(line, i) {
				break // nothing of the rest of the line is escaped
			}
			with, n := escape(line[i:])
			if n == 0 {
				i++
				continue
			}
			out = append(append(out, line[last:i]...), with...)
			i += n
			last = i
		}
		if last == 0 {
			break
		}
		line = append(out, line[last:]...)
		c.spare[level&1] = line
	}
	if len(line) == len(was) {
		return nil
	}
	return line
}

// pin says that what comes next in the clear text comes from byte i of what is
// made clear.
func (c *clear) pin(i int) {
	if n := len(c.pins); n > 0 && c.pins[n-1].at == len(c.text) {
		c.pins = c.pins[:n-1]
	}
	c.pins = append(c.pins, pin{len(c.text), c.raw + i, c.blanks, c.fixed})
}

// copyTo copies what stands before to.
func (c *clear) copyTo(t []byte, to int) {
	for c.from < to && t[c.from] == ' ' && len(c.text) > 0 && c.text[len(c.text)-1] == ' ' {
		c.from++ // what stood between two blanks is gone
		c.blanks++
		if !c.fixed {
			c.pin(c.from)
		}
	}
	c.text = append(c.text, t[c.from:to]...)
	c.from = to
}

// undo undoes what the special byte at i stands for, and returns where to go on.
func (c *clear) undo(t []byte, i int) int {
	n, with := 1, ""
	switch b := t[i]; {
	case b == ' ' || b == '\t':
		for i+n < len(t) && (t[i+n] == ' ' || t[i+n] == '\t') {
			n++
		}
		with = " "
		c.blanks += n - 1
	case b == '\r':
		if i+1 >= len(t) || t[i+1] != '\n' {
			with = "\n"
			c.isOdd(i)
		}
	case b == 0x1b:
		n = escapeSequence(t[i:])
	case b == '\b':
		c.isOdd(i)
		c.copyTo(t, i)
		if k := len(c.text); k > 0 && c.text[k-1] != '\n' {
			c.text = c.text[:lastRune(c.text)]
		}
	case b == '&':
		if with, n = entity(t[i:]); n == 0 {
			return i + 1
		}
	case b == '[':
		k := i + 1
		for k < len(t) && k < i+17 && (isDigit(t[k]) || t[k] == ';') {
			k++
		}
		if k == i+1 || k >= len(t) || t[k] != 'm' || closed(t[k+1:]) {
			return i + 1
		}
		c.copyTo(t, i)
		for _, escape := range writtenEscapes {
			c.text = bytes.TrimSuffix(c.text, escape)
		}
		n = k + 1 - i
	case b == '\\':
		return i + 1
	case b >= 0x80:
		r, size := decodeRune(t[i:])
		plain, ok := typography[r]
		if !ok {
			return i + size
		}
		if with, n = plain, size; with == "\n" {
			c.isOdd(i)
		}
	}
	c.copyTo(t, i)
	if with == " " && len(c.text) > 0 && c.text[len(c.text)-1] == ' ' {
		c.blanks++
	} else {
		c.text = append(c.text, with...)
	}
	c.from = i + n
	if !c.fixed {
		c.pin(c.from)
	}
	return c.from
}

// mark notes that something stands in the text.
func (c *clear) mark(owner int, m pattern.Match) {
	raw := span{c.rawOf(m.Start), c.rawOf(max(m.Start, m.End-1)) + 1}
	c.marks = append(c.marks, mark{owner: owner, match: m, raw: raw})
}

// isOdd notes that the lines of the part are others than those of the clear text.
func (c *clear) isOdd(i int) {
	if !c.fixed {
		c.odd = append(c.odd, i)
	}
}

// clearOf is where byte raw of the part stands in the clear text, and the pin before
// it.
func (c *clear) clearOf(raw int) (at, k int) {
	k = max(0, sort.Search(len(c.pins), func(k int) bool { return c.pins[k].raw > raw })-1)
	at = c.pins[k].at + max(0, raw-c.pins[k].raw) // nothing may be left of what is in front
	if k+1 < len(c.pins) {
		at = min(at, c.pins[k+1].at)
	}
	return at, k
}

func (c *clear) rawOf(at int) int {
	k := sort.Search(len(c.pins), func(k int) bool { return c.pins[k].at > at }) - 1
	if k < 0 {
		return 0
	}
	p := c.pins[k]
	if p.fixed {
		return p.raw
	}
	return p.raw + at - p.at
}
