package diagnose

import (
	"bytes"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"

	"errorkb/internal/pattern"
)

// A large text is a log, and nearly all of it is ordinary. It is read in entries:
// a line that begins with a time is one, with the lines without a time behind it.
// Entries of one line in which nothing stands are passed over: whether something
// does is seen in the clear text, which has the same words as what undoing makes
// of the line, without the way back (clear.go). All others are read as a small
// text is, each on its own.
const (
	largeText  = 64 << 10 // bytes from which on a text is large
	chunkSize  = 1 << 20  // bytes that one goroutine reads at a time
	cutText    = 1 << 20  // bytes in which messages that were cut are looked for
	maxSeamGap = 64 << 10 // how far a chunk may go on to the next entry
)

// searchLarge is search for a large text.
func (w *work) searchLarge() {
	w.large = true
	chunks := cutChunks(w.input)
	parts := make([]*work, len(chunks))
	next := atomic.Int64{}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(chunks)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var c clear
			for {
				k := int(next.Add(1)) - 1
				if k >= len(chunks) || w.ctx.Err() != nil {
					return
				}
				p := &work{engine: w.engine, ctx: w.ctx, input: w.input, arena: &arena{}, large: true}
				p.readChunk(&c, chunks[k].from, chunks[k].to)
				p.findCodes()
				parts[k] = p
			}
		}()
	}
	wg.Wait()
	texts, hits := 0, 0
	for _, p := range parts {
		if p != nil {
			texts, hits = texts+len(p.texts), hits+len(p.hits)
		}
	}
	w.texts, w.hits = make([]*reading, 0, texts), make([]hit, 0, hits)
	for _, p := range parts {
		if p == nil {
			w.partial = true
			continue
		}
		w.partial = w.partial || p.partial
		w.texts = append(w.texts, p.texts...)
		w.hits = append(w.hits, p.hits...)
	}
	if len(w.hits) > maxHits {
		w.hits, w.partial = w.hits[:maxHits], true
	}
	w.findCut()
}

// cutChunks cuts a text before lines that begin an entry, or failing that before
// any line.
func cutChunks(text []byte) []span {
	var chunks []span
	for from := 0; from < len(text); {
		to := min(from+chunkSize, len(text))
		if to < len(text) {
			to = nextEntry(text, to)
		}
		chunks = append(chunks, span{from, to})
		from = to
	}
	return chunks
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

// readChunk finds what stands in a part of the input that holds whole entries.
func (w *work) readChunk(c *clear, from, to int) {
	c.make(w.input[from:to], w.engine.slashes)
	w.mark(c)
	hinted := 0 // marks that were passed
	end := min(lineEndOf(w.input, from)+1, to)
	next, opens := end, opensEntry(w.input[from:end])
	for at := from; at < to; {
		alone := opens // a line with a time, and nothing behind it
		lines := 1
		for {
			end = next
			if end == to {
				break
			}
			next = min(lineEndOf(w.input, end)+1, to)
			opens = opensEntry(w.input[end:next])
			if opens || lines == maxJoinLines || end-at >= maxJoinBytes {
				break
			}
			alone = false
			lines++
		}
		for hinted < len(c.marks) && c.marks[hinted].to <= at-from {
			hinted++
		}
		marked := hinted < len(c.marks) && c.marks[hinted].from < end-from
		if marked || !alone || w.telltale(at, end) {
			if w.late() {
				return
			}
			w.readEntry(at, end)
		}
		at = end
	}
}

// telltale reports whether a piece of a message stands in a line, so that it may
// hold one that was cut.
func (w *work) telltale(from, to int) bool {
	return from < cutText && !w.engine.probes.each(w.input, from, to, func(int, *piece) bool { return false })
}

// opensEntry reports whether a line begins with a time, behind what containers,
// terminals and loggers put before it.
func opensEntry(t []byte) bool {
	for range 8 {
		t = bytes.TrimLeft(t, " ")
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
					return dateTimeLen(t[i:]) > 0
				}
			}
			return false
		case isLetter(c):
			if timeLen(t) > 0 {
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

// mark notes the places of the chunk in which a message or a code stands.
func (w *work) mark(c *clear) {
	w.engine.index.Find(c.text, func(id int, m pattern.Match) bool {
		c.mark(m.Start, m.End)
		return true
	})
	if len(w.engine.codes) > 0 {
		eachCode(c.text, func(m mention) bool {
			if len(w.engine.codes[m.code]) > 0 {
				c.mark(m.from, m.to)
			}
			return true
		})
	}
	sort.Slice(c.marks, func(i, j int) bool { return c.marks[i].from < c.marks[j].from })
}
