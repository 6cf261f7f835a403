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

// tellingLine is the line that a person would look at, the reading it is in, and
// why; nil when there is nothing but blanks.
func (w *work) tellingLine() (in *reading, best *line, why string) {
	var t telling
	if w.large {
		t = w.tellingLarge()
	} else if len(w.texts) > 0 {
		t.weighAll(w.texts[0], w.late)
	}
	if t.written == 1 {
		t.why = "it is the only line"
	}
	return t.in, t.line, t.why
}

// tellingLarge looks for the telling line of a large text in its clear text, and then
// reads the line that won.
func (w *work) tellingLarge() telling {
	chunks := cutChunks(w.input[:w.startOfLine(MaxTelling)])
	type candidate struct {
		telling
		at span
	}
	list := make([]candidate, len(chunks))
	each(len(chunks), w.ctx, func(c *clear, k int) {
		best := &list[k]
		for from := chunks[k].from; from < chunks[k].to && w.ctx.Err() == nil; {
			to := min(from+blockSize, chunks[k].to)
			to = min(lineEndOf(w.input, to-1)+1, chunks[k].to)
			c.keep = true
			c.make(w.input[from:to], false)
			for at := 0; at < len(c.text); {
				end := lineEndOf(c.text, at)
				stop := end
				if stop > at && c.text[stop-1] == ' ' {
					stop--
				}
				l := readLine(c.text, at, stop)
				if best.weigh(c.text, &l) {
					best.at = span{from + c.rawOf(at), min(lineEndOf(w.input, from+c.rawOf(max(at, end-1)))+1, len(w.input))}
				}
				at = end + 1
			}
			from = to
		}
	})
	var won candidate
	for k := range list {
		c := &list[k]
		c.written += won.written
		if c.why != "" && (won.why == "" || c.score > won.score) {
			won = *c
		}
		won.written = c.written
	}
	w.late()
	if won.why == "" {
		return telling{}
	}
	r, _ := readLines(part(w.arena, w.input, won.at.from, won.at.to), 0, false)
	t := telling{}
	t.weighAll(r, w.late)
	t.written = won.written
	return t
}

// startOfLine is where a line begins, the end of the text when it has fewer.
func (w *work) startOfLine(line int) int {
	at := 0
	for ; at < len(w.input); line-- {
		if line == 0 {
			return at
		}
		at = min(lineEndOf(w.input, at)+1, len(w.input))
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
