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
	text  []byte
	pins  []pin
	marks []mark // where something stands
	spare [2][]byte
	short short
}

// mark is a place where something stands.
type mark struct {
	owner int // whose message it is; -1 for a code
	match pattern.Match
	raw   span // of the part
}

// pin is where the clear text goes on with byte raw of the part. What follows a
// fixed one all comes from the line there.
type pin struct {
	at, raw int
	fixed   bool
}

// make makes the clear text of a part of the input. Slashes says that messages
// hold back slashes, so that lines with escapes are kept as they are as well.
func (c *clear) make(part []byte, slashes bool) {
	c.text, c.pins, c.marks = c.text[:0], c.pins[:0], c.marks[:0]
	if cap(c.text) < len(part)+len(part)/4 {
		c.text = make([]byte, 0, len(part)+len(part)/4)
	}
	from := 0
	for at := 0; at < len(part); {
		k := bytes.IndexByte(part[at:], '\\')
		if k < 0 {
			break
		}
		start := bytes.LastIndexByte(part[:at+k], '\n') + 1
		end := lineEndOf(part, at+k)
		if line := c.unescape(part[start:end]); line != nil {
			if slashes {
				c.clean(part[from:end], from, false)
				c.text = append(c.text, '\n')
			} else {
				c.clean(part[from:start], from, false)
			}
			c.clean(line, start, true)
			from = end
		}
		at = end
	}
	c.clean(part[from:], from, false)
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
			i += k
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

func (c *clear) pin(raw int, fixed bool) {
	if n := len(c.pins); n > 0 && c.pins[n-1].at == len(c.text) {
		c.pins = c.pins[:n-1]
	}
	c.pins = append(c.pins, pin{len(c.text), raw, fixed})
}

// clean appends the clear form of t, which begins at byte raw of the part.
func (c *clear) clean(t []byte, raw int, fixed bool) {
	c.pin(raw, fixed)
	from := 0
	copyTo := func(to int) {
		for from < to && t[from] == ' ' && len(c.text) > 0 && c.text[len(c.text)-1] == ' ' {
			from++ // what stood between two blanks is gone
			if !fixed {
				c.pin(raw+from, false)
			}
		}
		c.text = append(c.text, t[from:to]...)
	}
	for i := 0; ; {
		i = special(t, i)
		if i == len(t) {
			copyTo(len(t))
			return
		}
		n, with := 1, ""
		switch b := t[i]; {
		case b == ' ' || b == '\t':
			for i+n < len(t) && (t[i+n] == ' ' || t[i+n] == '\t') {
				n++
			}
			with = " "
		case b == '\r':
			if i+1 >= len(t) || t[i+1] != '\n' {
				with = "\n"
			}
		case b == 0x1b:
			n = escapeSequence(t[i:])
		case b == '\b':
			copyTo(i)
			if k := len(c.text); k > 0 && c.text[k-1] != '\n' {
				c.text = c.text[:lastRune(c.text)]
			}
			from = i
		case b == '&':
			if with, n = entity(t[i:]); n == 0 {
				i++
				continue
			}
		case b == '[':
			k := i + 1
			for k < len(t) && k < i+17 && (isDigit(t[k]) || t[k] == ';') {
				k++
			}
			if k == i+1 || k >= len(t) || t[k] != 'm' || closed(t[k+1:]) {
				i++
				continue
			}
			copyTo(i)
			from = i
			for _, escape := range writtenEscapes {
				c.text = bytes.TrimSuffix(c.text, escape)
			}
			n = k + 1 - i
		case b >= 0x80:
			r, size := decodeRune(t[i:])
			plain, ok := typography[r]
			if !ok {
				i += size
				continue
			}
			with, n = plain, size
		}
		copyTo(i)
		if with != " " || len(c.text) == 0 || c.text[len(c.text)-1] != ' ' {
			c.text = append(c.text, with...)
		}
		i += n
		from = i
		if !fixed {
			c.pin(raw+i, false)
		}
	}
}

// special is the offset of the first byte at or behind i that may not stand in
// clear text as it is, len(t) if there is none: control bytes, bytes beyond ASCII,
// & and [, and the first of two blanks.
func special(t []byte, i int) int {
	for ; i+9 <= len(t); i += 8 {
		x := eight(t[i:])
		pairs := x ^ ones*' ' | eight(t[i+1:]) ^ ones*' '
		found := x&highs | below(x, 0x20) | zeros(x^ones*0x7f) | zeros(x^ones*'&') | zeros(x^ones*'[') | zeros(pairs)
		for ; found != 0; found &= found - 1 {
			if k := i + bits.TrailingZeros64(found)/8; isSpecial(t, k) {
				return k
			}
		}
	}
	for ; i < len(t); i++ {
		if isSpecial(t, i) {
			return i
		}
	}
	return len(t)
}

func isSpecial(t []byte, i int) bool {
	switch b := t[i]; {
	case b == ' ':
		return i+1 < len(t) && (t[i+1] == ' ' || t[i+1] == '\t')
	case b < 0x20:
		return b != '\n'
	}
	return t[i] == '&' || t[i] == '[' || t[i] >= 0x7f
}

// mark notes that something stands in the text.
func (c *clear) mark(owner int, m pattern.Match) {
	raw := span{c.rawOf(m.Start), c.rawOf(max(m.Start, m.End-1)) + 1}
	c.marks = append(c.marks, mark{owner, m, raw})
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
