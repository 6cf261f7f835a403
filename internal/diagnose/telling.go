package diagnose

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// telling is the line that a person would look at first, as far as a text was read.
type telling struct {
	in      *reading
	line    *line
	score   int
	why     string
	written int // lines with text
}

// weigh weighs the next line. The first failure comes before the cascade: only more
// beats it.
func (t *telling) weigh(text []byte, l *line) bool {
	if l.fence || l.message >= l.end && l.body >= l.end {
		return false
	}
	t.written++
	least := -100
	if t.why != "" {
		least = t.score + 1
	}
	score, why := weighLine(text, l, least)
	if t.why != "" && score <= t.score {
		return false
	}
	t.score, t.why = score, why
	return true
}

// weighAll weighs the lines of a reading.
func (t *telling) weighAll(r *reading, late func() bool) {
	for i := range r.lines[:min(len(r.lines), MaxTelling)] {
		if i&0x3ff == 0x3ff && late() {
			return
		}
		if t.weigh(r.m.text, &r.lines[i]) {
			t.in, t.line = r, &r.lines[i]
		}
	}
}

// tellingLine is the line that a person would look at; none when there is nothing but
// blanks.
func (w *work) tellingLine() (t telling) {
	if w.large {
		return w.tellingLarge()
	}
	if len(w.texts) > 0 {
		t.weighAll(w.texts[0], w.late)
	}
	t.alone()
	return t
}

// alone gives the reason of a line that is the only one.
func (t *telling) alone() {
	if t.written == 1 {
		t.why = "it is the only line"
	}
}

// candidate is the most telling line of a part of a text, as its clear text has it.
type candidate struct {
	telling
	text []byte // the line
	at   spot   // of its beginning
}

// beatenBy reports whether the line of a part behind is more telling.
func (c *candidate) beatenBy(next *candidate) bool {
	return next.why != "" && (c.why == "" || next.score > c.score)
}

// follow makes of the candidates of two parts that of both.
func (c *candidate) follow(next *candidate) {
	written := c.written + next.written
	if c.beatenBy(next) {
		*c = *next
	}
	c.written = written
}

// candidate weighs the lines of a text that begins at base.
func (c *clear) candidate(text []byte, base spot, late func() bool) (best candidate) {
	for from := 0; from < len(text) && !late(); {
		to := min(from+blockSize, len(text))
		to = min(lineEndOf(text, to-1)+1, len(text))
		c.keep = true
		c.make(text[from:to], false)
		for at := 0; at < len(c.text); {
			end := lineEndOf(c.text, at)
			stop := end
			if stop > at && c.text[stop-1] == ' ' {
				stop--
			}
			l := readLine(c.text, at, stop)
			if best.weigh(c.text, &l) {
				start := from + c.rawOf(at)
				best.text = text[start:min(lineEndOf(text, from+c.rawOf(max(at, end-1)))+1, len(text))]
				best.at.bytes = start
			}
			at = end + 1
		}
		from = to
	}
	best.at = base.after(text[:best.at.bytes])
	return best
}

// tellingLarge looks for the telling line of a large text in its clear text, and then
// reads the line that won.
func (w *work) tellingLarge() telling {
	chunks := w.cutChunks(w.input[:startOfLine(w.input, MaxTelling)])
	list := make([]candidate, len(chunks))
	each(len(chunks), w.ctx, func(c *clear, k int) {
		s := chunks[k]
		list[k] = c.candidate(w.input[s.from:s.to], spot{bytes: s.from}, func() bool { return w.ctx.Err() != nil })
	})
	var won candidate
	for k := range list {
		won.follow(&list[k])
	}
	w.late()
	return w.readTelling(won, part(w.arena, w.input, won.at.bytes, won.at.bytes+len(won.text)))
}

// readTelling reads the line that won.
func (w *work) readTelling(won candidate, line *mapped) telling {
	t := telling{}
	if won.why != "" {
		r := readLines(line, 0, false)
		t.weighAll(r, w.late)
	}
	t.written = won.written
	t.alone()
	return t
}

// startOfLine is where a line begins, the end of the text when it has fewer.
func startOfLine(text []byte, line int) int {
	at := 0
	for ; at < len(text); line-- {
		if line <= 0 {
			return at
		}
		at = min(lineEndOf(text, at)+1, len(text))
	}
	return at
}

// each calls f for every number below n, on all processors, until the context ends.
func each(n int, ctx context.Context, f func(c *clear, k int)) {
	next := atomic.Int64{}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c := clears.Get().(*clear)
			defer clears.Put(c)
			for ctx.Err() == nil {
				k := int(next.Add(1)) - 1
				if k >= n {
					return
				}
				f(c, k)
			}
		}()
	}
	wg.Wait()
}

// clears are kept from one text to the next.
var clears = sync.Pool{New: func() any { return new(clear) }}
