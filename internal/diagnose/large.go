package diagnose

import (
	"bytes"
	"slices"
	"sync/atomic"

	"errorkb/internal/pattern"
)

// A large text is a log, and nearly all of it is ordinary. It is read in entries:
// a line that begins with a time is one, with the lines without a time behind it.
// Entries of one line in which nothing stands are passed over: whether something
// does is seen in the clear text, which has the same words as what undoing makes
// of the line, without the way back (clear.go). A line that something stands in is
// read the short way if it is as simple as most are (short.go), and lines without a
// time are read one by one where no message goes over several (apart.go). All others
// are read as a small text is, each entry on its own. Every chunk counts what it
// found, in the order of the text (tally.go).
const (
	largeText  = 64 << 10  // bytes from which on a text is large
	chunkSize  = 128 << 10 // bytes that one goroutine reads at a time
	blockSize  = 64 << 10  // bytes that are looked at together
	cutText    = 1 << 20   // bytes in which messages that were cut are looked for
	maxSeamGap = 64 << 10  // how far a chunk may go on to the next entry
)

// searchLarge is search for a large text.
func (w *work) searchLarge() {
	w.large, w.tally.forget = true, true
	chunks := w.cutChunks(w.input)
	o := newOrder(w)
	w.ends = make([]atomic.Int32, (len(w.input)+stepSize-1)/stepSize)
	each(len(chunks), w.ctx, func(c *clear, k int) {
		s := chunks[k]
		p := o.share(chunk{number: k, text: w.input[s.from:s.to:s.to], base: spot{bytes: s.from}})
		p.readChunk(c)
		p.finish()
		o.take(p)
	})
	o.rest(len(chunks))
	if !w.partial {
		w.lines = make([]int, len(w.ends))
		for k := 1; k < len(w.ends); k++ {
			w.lines[k] = w.lines[k-1] + int(w.ends[k-1].Load())
		}
	}
}

// cutChunks cuts a text before lines that begin an entry, or failing that before
// lines that no message goes over.
func (w *work) cutChunks(text []byte) []span {
	var chunks []span
	for from := 0; from < len(text); {
		to := from + w.cutChunk(text[from:], chunkSize)
		chunks = append(chunks, span{from, to})
		from = to
	}
	return chunks
}

// cutChunk is the length of the chunk of about a size that a text begins with, as
// far as the text goes. It looks no further than maxSeamGap behind that size.
func (w *work) cutChunk(text []byte, size int) int {
	if len(text) <= size {
		return len(text)
	}
	text = text[:min(len(text), size+maxSeamGap)]
	n := nextEntry(text, size)
	if n == len(text) || opensEntry(text[n:lineEndOf(text, n)]) {
		return n
	}
	return w.border(text, max(0, n-seamBytes), n)
}

// nextEntry is the start of the first entry at or behind an offset.
func nextEntry(text []byte, at int) int {
	most := min(len(text), at+maxSeamGap)
	first := most
	for i := at; i < most; {
		k := bytes.IndexByte(text[i:most], '\n')
		if k < 0 {
			break
		}
		i += k + 1
		if first == most {
			first = i
		}
		if i < len(text) && opensEntry(text[i:lineEndOf(text, i)]) {
			return i
		}
	}
	return first
}

// lineStartOf is the start of the line that at is in, or the place most bytes
// before it.
func lineStartOf(text []byte, at, most int) int {
	low := max(0, at-most)
	return low + bytes.LastIndexByte(text[low:at], '\n') + 1
}

func lineEndOf(text []byte, from int) int {
	if k := bytes.IndexByte(text[from:], '\n'); k >= 0 {
		return from + k
	}
	return len(text)
}

// readChunk finds what stands in a chunk, which holds whole entries. It reads blocks of
// it, which stay near the processor.
func (w *work) readChunk(c *clear) {
	c.timeless = !opensEntry(w.input[:lineEndOf(w.input, 0)]) // it seldom changes within a text
	for from, to := 0, len(w.input); from < to && !w.partial; {
		end := min(from+blockSize, to)
		if end < to && c.timeless {
			end = min(lineEndOf(w.input, end-1)+1, to)
		} else if end < to {
			end = min(nextEntry(w.input, end), to)
		}
		end = w.readBlock(c, from, end)
		w.countEnds(c, from, end)
		from = end
	}
}

// countEnds counts the line ends of what was read of a block, for the steps of the
// whole text.
func (w *work) countEnds(c *clear, base, end int) {
	if w.ends == nil {
		return // of a text that is not kept
	}
	for at := base; at < end; {
		step := (w.before + at) / stepSize
		to := min((step+1)*stepSize-w.before, end)
		w.ends[step].Add(int32(c.endsIn(at-base, to-base)))
		at = to
	}
}

// readBlock looks at the entries in which something stands, and at those of several
// lines. It returns how far it came: lines without a time at the end of the block are
// left to the next one, which knows the lines behind them.
func (w *work) readBlock(c *clear, base, end int) int {
	block := w.input[base:end]
	c.keep = false
	c.make(block, w.engine.slashes)
	w.mark(c, base, end)
	marks, later := c.marks, c.later
	reach := 0 // end of the marks that were passed
	for at := 0; at < len(block); {
		// Where the next entry begins that is to be looked at.
		from, lined := at, false
		switch {
		case reach > at: // something goes on from the entry before
		case len(marks) > 0 && (len(later) == 0 || marks[0].raw.from < later[0]):
			from = lineStartOf(block, marks[0].raw.from, marks[0].raw.from-at)
		case len(later) > 0:
			if from = later[0]; from > at {
				from = lineStartOf(block, from-1, from-1-at)
			}
		default:
			return end
		}
		if len(later) > 0 && later[0] == from {
			later, lined = later[1:], true // no line with a time
		}
		to := min(lineEndOf(block, from)+1, len(block))
		group := later
		for lines := 1; len(later) > 0 && later[0] == to && lines < maxJoinLines-nearLines && to-from < maxJoinBytes; lines++ {
			to = min(lineEndOf(block, to)+1, len(block))
			later, lined = later[1:], true
		}
		apart := false
		switch {
		case len(later) > 0 && later[0] == to:
			if apart = w.closeApart(c, from, linesBehind(block, to, len(block), nearLines), marks); apart {
				break // no message goes over the border either
			}
			to = w.seam(c, block, from, to, marks)
			for later = group; later[0] < to; later = later[1:] {
			}
		case lined && to == len(block) && from > 0 && end < len(w.input) && !opensEntry(w.input[end:lineEndOf(w.input, end)]):
			return base + from
		}
		reached, n := reach > from, 0
		for n < len(marks) && marks[n].raw.from < to {
			reach = max(reach, marks[n].raw.to)
			n++
		}
		if w.late() {
			return end
		}
		switch {
		case reached || lined && !apart && !w.apart(c, from, to, marks[:n]):
			w.readEntry(base+from, base+to)
		case lined:
			w.readLinesOf(c, base, from, to, marks[:n])
		case !w.readShort(c, base, base+from, base+to, marks[:n]):
			w.readEntry(base+from, base+to)
		}
		marks, at = marks[n:], to
	}
	return end
}

// readLinesOf reads the lines of a part of a block in which something stands, each by
// itself.
func (w *work) readLinesOf(c *clear, base, from, to int, marks []mark) {
	for len(marks) > 0 {
		from = lineStartOf(w.input, base+marks[0].raw.from, marks[0].raw.from-from) - base
		end := min(lineEndOf(w.input, base+from)+1-base, to)
		n := 1
		for n < len(marks) && marks[n].raw.from < end {
			n++
		}
		if !w.readShort(c, base, base+from, base+end, marks[:n]) {
			w.readEntry(base+from, base+end)
		}
		marks, from = marks[n:], end
	}
}

// opensEntry reports whether a line begins with a time, behind what containers,
// terminals and loggers put before it.
func opensEntry(t []byte) bool {
	for range 8 {
		for len(t) > 0 && t[0] == ' ' {
			t = t[1:]
		}
		if len(t) < 8 {
			return false
		}
		switch c := t[0]; {
		case isDigit(c):
			if t[4] == '-' && t[7] == '-' && digits(t[:4], 0) == 4 {
				return true // the most frequent form
			}
			return timeLen(t) > 0
		case c == '[' || c == '(':
			return timeLen(t) > 0
		case c == 0x1b:
			t = t[escapeSequence(t):]
		case c == '>':
			t = t[1:]
		case c == '{':
			// A logger's object holds the time or a line with one.
			for i := 1; i+8 < len(t) && i < 100; i++ {
				if isDigit(t[i]) && !isWord(t[i-1]) {
					return isISO(t[i:]) || dateTimeLen(t[i:]) > 0
				}
			}
			return false
		case isLetter(c):
			if byteKinds[c]&opensTime != 0 && (isSyslog(t) || timeLen(t) > 0) {
				return true
			}
			n := columnLen(t)
			if n == 0 {
				return false
			}
			t = t[n:]
		default:
			return false
		}
	}
	return false
}

// isSyslog reports whether a line begins with a time in the form of syslog, with a word
// in small letters behind it: "Mar  1 08:15:04 host".
func isSyslog(t []byte) bool {
	return len(t) > 16 && t[3] == ' ' && t[6] == ' ' && t[9] == ':' && t[12] == ':' && t[15] == ' ' && t[16] >= 'a' &&
		isDigit(t[5]) && (t[4] == ' ' || isDigit(t[4])) && isOneOf(t[:3], months) &&
		areDigits(eight(t[7:])&^(0xff<<16|0xff<<40)|'0'<<16|'0'<<40)
}

// readEntry reads an entry as a small text is read, and keeps its readings when
// something was found in them.
func (w *work) readEntry(from, to int) {
	if to > from && w.input[to-1] == '\n' {
		to--
	}
	if to == from {
		return
	}
	kept := len(w.texts)
	w.read(part(w.arena, w.input, from, to), 0, false)
	for _, r := range w.texts[kept:] {
		w.find(r)
	}
}

// mark notes the places of a block in which a message or a code stands, or a piece of
// a message that may have been cut.
func (w *work) mark(c *clear, base, end int) {
	w.engine.index.Find(c.text, func(id int, m pattern.Match) bool {
		c.mark(id, m)
		return true
	})
	if w.engine.codes.len() > 0 {
		w.engine.eachCode(c.text, func(m mention) bool {
			c.mark(-1, pattern.Match{Start: m.from, End: m.to})
			return true
		})
	}
	if w.before+base < cutText {
		block := w.input[base:end]
		note := func(at int) {
			c.marks = append(c.marks, mark{owner: -1, piece: true, raw: span{at, at + 1}})
		}
		w.engine.probes.each(block, 0, len(block), func(at int, _ *piece) bool {
			note(at)
			return true
		})
		w.engine.probes.eachEnd(block, note)
	}
	slices.SortStableFunc(c.marks, func(a, b mark) int { return a.raw.from - b.raw.from })
}
