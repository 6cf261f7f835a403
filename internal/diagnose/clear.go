package diagnose

import (
	"bytes"
	"math/bits"
	"sort"

	"errorkb/internal/pattern"
)

// clear is the clear text of a part of the input: colours, control bytes,
// entities, typography, escapes and runs of blanks undone in one pass, prefixes
// left where they are. It serves to see whether something stands in a line; what
// exactly is then read from the line itself.
type clear struct {
	text     []byte
	pins     []pin
	later    []int  // starts of the lines of the part that begin no entry
	odd      []int  // where more was undone in the part than what keeps its lines
	timeless bool   // no line of the part begins an entry
	marks    []mark // where something stands
	short    short
	arena    arena // for lines that are joined
	joined   []byte
	seams    []int

	special, ends []uint64 // of the part
	slashes       bool     // messages hold back slashes
	keep          bool     // escapes are left as they are
	plain         int      // end of a line without escapes
	escaped       escaped
	// Of what is being made clear:
	from   int // what stands before it is done
	line   int // where the line begins in the part if its escapes were undone, else -1
	blanks int // left out so far
}

// mark is a place where something stands.
type mark struct {
	owner int  // whose message it is; -1 for something else
	piece bool // only a piece of a message
	match pattern.Match
	raw   span // of the part
}

// pin is where the clear text goes on with byte raw of the part. If it is fixed, what
// follows comes from the line that begins there.
type pin struct {
	at, raw int32
	blanks  int32 // that were left out of the lines up to here
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
	n := windowsOf(len(part))
	if len(c.special) < n {
		c.special, c.ends = make([]uint64, n), make([]uint64, n)
	}
	windows(part, blockSize, c.special, c.ends)
	c.findLater(part)
	c.from, c.line, c.blanks = 0, -1, 0
	c.escaped.lines = c.escaped.lines[:0]
	c.pin(0)
	c.undoAll(part, c.special, 0, len(part))
}

// findLater notes the lines that begin no entry.
func (c *clear) findLater(part []byte) {
	c.timeless = true
	start := 0
	note := func(end int) {
		if start+8 <= end && isDay(eight(part[start:])) || opensEntry(part[start:end]) {
			c.timeless = false
		} else {
			c.later = append(c.later, start)
		}
		start = end + 1
	}
	for k, ends := range c.ends[:windowsOf(len(part))] {
		for ; ends != 0; ends &= ends - 1 {
			note(64*k + bits.TrailingZeros64(ends))
		}
	}
	if start < len(part) {
		note(len(part))
	}
}

// endsIn counts the line ends between two bytes of the part.
func (c *clear) endsIn(from, to int) int {
	n := 0
	for _, ends := range c.ends[from>>6 : windowsOf(to)] {
		n += bits.OnesCount64(ends)
	}
	n -= bits.OnesCount64(c.ends[from>>6] & (1<<(from&63) - 1))
	if rest := to & 63; rest > 0 {
		n -= bits.OnesCount64(c.ends[to>>6] >> rest)
	}
	return n
}

// nextBit is the first byte from i on whose bit is set, end when there is none before
// it.
func nextBit(words []uint64, i, end int) int {
	for i < end {
		if found := words[i>>6] >> (i & 63); found != 0 {
			return min(i+bits.TrailingZeros64(found), end)
		}
		i = i&^63 + 64
	}
	return end
}

// lastBit is the last byte before i whose bit is set, -1 when there is none.
func lastBit(words []uint64, i int) int {
	found := words[i>>6] & (1<<(i&63) - 1)
	for i >>= 6; found == 0 && i > 0; {
		i--
		found = words[i]
	}
	return 64*i + bits.Len64(found) - 1
}

// isDay reports whether eight bytes are those of a year and a month, the most
// frequent start of a line: "2026-03-".
func isDay(x uint64) bool {
	const digits, dashes = 0x00f0f000f0f0f0f0, 0xff0000ff00000000
	return x&dashes == 0x2d00002d00000000 && x&digits == 0x0030300030303030 && (x+0x0006060006060606)&digits == x&digits
}

// slash makes the line with a back slash at i clear, and returns where to go on.
func (c *clear) slash(part []byte, i int) int {
	if c.keep || i < c.plain || c.line >= 0 {
		return i + 1
	}
	l := c.escaped.lineAt(part, c.ends, i)
	if !l.changed {
		c.plain = l.end
		return i + 1
	}
	c.odd = append(c.odd, i)
	if c.slashes {
		c.plain = l.end
		c.undoAll(part, c.special, i, l.end)
		c.text = append(c.text, '\n')
	} else {
		// What is there of the line goes.
		c.copyTo(part, i)
		c.text = c.text[:bytes.LastIndexByte(c.text, '\n')+1]
		for len(c.pins) > 0 && int(c.pins[len(c.pins)-1].at) > len(c.text) {
			c.pins = c.pins[:len(c.pins)-1]
		}
	}
	c.from, c.line = l.at, l.start
	c.pin(0)
	c.undoAll(c.escaped.text, c.escaped.special, l.at, l.at+len(l.text))
	c.from, c.line = l.end, -1
	c.pin(l.end)
	return l.end
}

// undoAll makes t[i:end] clear.
func (c *clear) undoAll(t []byte, special []uint64, i, end int) {
	t = t[:end]
	skip := ^uint64(0) << (i & 63) // of the first window, what is not before i
	for k := i >> 6; k<<6 < end; k++ {
		found := special[k] & skip
		for skip = ^uint64(0); found != 0; found &= found - 1 {
			at := k<<6 + bits.TrailingZeros64(found)
			if at < i {
				continue
			}
			if at >= end {
				break
			}
			switch t[at] {
			case ' ':
				for i = at + 1; i < end && (t[i] == ' ' || t[i] == '\t'); i++ {
					c.blanks++
				}
				c.copyTo(t, at+1) // the first one stays
				c.goOn(i)
			case 0x1b:
				c.copyTo(t, at)
				i = c.passBlanks(t, at+escapeSequence(t[at:]))
				c.goOn(i)
			case '\\':
				i = c.slash(t, at)
			default:
				i = c.undo(t, at)
			}
		}
	}
	c.copyTo(t, end)
}

// pin says that what comes next in the clear text comes from byte i of the part.
func (c *clear) pin(i int) {
	p := pin{int32(len(c.text)), int32(i), int32(c.blanks), c.line >= 0}
	if p.fixed {
		p.raw = int32(c.line)
	}
	if n := len(c.pins); n > 0 && c.pins[n-1].at == p.at {
		c.pins[n-1] = p
	} else {
		c.pins = append(c.pins, p)
	}
}

// copyTo copies what stands before to.
func (c *clear) copyTo(t []byte, to int) {
	from, at := c.from, len(c.text)
	c.from = to
	if to-from <= 32 && from+32 <= len(t) && at+32 <= cap(c.text) {
		// A few bytes are copied fastest together with those behind them.
		c.text = c.text[:at+32]
		*(*[32]byte)(c.text[at:]) = [32]byte(t[from:])
		c.text = c.text[:at+to-from]
		return
	}
	c.text = append(c.text, t[from:to]...)
}

// undo undoes what the special byte at i stands for, and returns where to go on.
func (c *clear) undo(t []byte, i int) int {
	n, with := 1, ""
	switch t[i] {
	case '\t':
		for i+n < len(t) && (t[i+n] == ' ' || t[i+n] == '\t') {
			n++
		}
		with = " "
		c.blanks += n - 1
	case '\r':
		if i+1 >= len(t) || t[i+1] != '\n' {
			with = "\n"
			c.isOdd(i)
		}
	case '\b':
		c.isOdd(i)
		c.copyTo(t, i)
		if k := len(c.text); k > 0 && c.text[k-1] != '\n' {
			c.text = c.text[:lastRune(c.text)]
		}
	case '&':
		if with, n = entity(t[i:]); n == 0 {
			return i + 1
		}
	case '[':
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
	default:
		if t[i] >= 0x80 {
			var ok bool
			if with, n, ok = typographic(t[i:]); !ok {
				return i + n
			}
			if with == "\n" {
				c.isOdd(i)
			}
		}
	}
	c.copyTo(t, i)
	if with == " " && c.endsBlank() {
		c.blanks++
	} else if with != "" {
		c.text = append(c.text, with...)
	}
	i = c.passBlanks(t, i+n)
	c.goOn(i)
	return i
}

// goOn goes on with byte i of what is made clear.
func (c *clear) goOn(i int) {
	if c.from = i; c.line < 0 {
		c.pin(i)
	}
}

// passBlanks passes the blanks from i on if they follow one in the clear text, because
// what stood between them is gone.
func (c *clear) passBlanks(t []byte, i int) int {
	for i < len(t) && t[i] == ' ' && c.endsBlank() {
		i++
		c.blanks++
	}
	return i
}

// endsBlank reports whether the clear text ends with a blank, so far.
func (c *clear) endsBlank() bool { return len(c.text) > 0 && c.text[len(c.text)-1] == ' ' }

// mark notes that something stands in the text.
func (c *clear) mark(owner int, m pattern.Match) {
	first := c.pinOf(m.Start)
	last, end := first, max(m.Start, m.End-1)
	if k := first + 1; k < len(c.pins) && int(c.pins[k].at) <= end {
		last = c.pinOf(end)
	}
	raw := span{c.pins[first].rawOf(m.Start), c.pins[last].rawOf(end) + 1}
	c.marks = append(c.marks, mark{owner: owner, match: m, raw: raw})
}

// isOdd notes that the lines of the part are others than those of the clear text.
func (c *clear) isOdd(i int) {
	if c.line < 0 {
		c.odd = append(c.odd, i)
	}
}

// clearOf is where byte raw of the part stands in the clear text, and the pin before
// it.
func (c *clear) clearOf(raw int) (at, k int) {
	k = max(0, sort.Search(len(c.pins), func(k int) bool { return int(c.pins[k].raw) > raw })-1)
	p := &c.pins[k]
	at = int(p.at) + max(0, raw-int(p.raw)) // nothing may be left of what is in front
	if k+1 < len(c.pins) {
		at = min(at, int(c.pins[k+1].at))
	}
	return at, k
}

// rawOf is where a byte of the clear text stands in the part.
func (c *clear) rawOf(at int) int { return c.pins[c.pinOf(at)].rawOf(at) }

// pinOf is the pin before a byte of the clear text.
func (c *clear) pinOf(at int) int {
	return max(0, sort.Search(len(c.pins), func(k int) bool { return int(c.pins[k].at) > at })-1)
}

// rawOf is where a byte of the clear text behind a pin stands in the part.
func (p *pin) rawOf(at int) int {
	if p.fixed {
		return int(p.raw)
	}
	return int(p.raw) + at - int(p.at)
}
