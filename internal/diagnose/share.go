package diagnose

import (
	"bytes"
	"sync"
	"sync/atomic"
)

// chunk is a part of a large text that is read by itself: whole entries.
type chunk struct {
	number int // from 0 on
	text   []byte
	base   spot // where it begins
}

// spot is a place in a text.
type spot struct {
	bytes  int
	lines  int // line ends before it
	column int // bytes since the last one
}

// after is the place behind a text that begins at s.
func (s spot) after(text []byte) spot {
	next := spot{s.bytes + len(text), s.lines, s.column + len(text)}
	if n := bytes.Count(text, newline); n > 0 {
		next.lines += n
		next.column = len(text) - bytes.LastIndexByte(text, '\n') - 1
	}
	return next
}

// place is the place of line and column, both counted from 1, in a text that begins
// at s.
func (s spot) place(line, column int) (int, int) {
	if line == 1 {
		column += s.column
	}
	return s.lines + line, column
}

// share is the work on a chunk. Its places are those in the chunk.
type share struct {
	work
	chunk chunk
	cuts  []cutCandidate // lines to be looked at for messages that were cut
	found []hit          // what was found before that was done
	told  candidate      // for the line of an unknown text
}

// finish does what can be done before the chunks in front are finished.
func (p *share) finish() {
	p.findCodes()
	p.cuts, p.found = p.cutLines(), p.hits
	p.judge()
}

// order takes the shares in the order of the text.
type order struct {
	sync.Mutex
	whole *work
	ready map[int]*share // that came before their turn
	next  int
	cuts  int // lines that were looked at for messages that were cut
	free  []*share

	// Of a text that is not kept:
	done  func(text []byte) // takes a chunk's text back; nil when the text is kept
	known atomic.Bool       // something was found, so the telling line is not asked for
	told  candidate
}

func newOrder(whole *work) *order { return &order{whole: whole, ready: map[int]*share{}} }

// share is a new share, in the memory of an old one if there is any.
func (o *order) share(c chunk) *share {
	o.Lock()
	defer o.Unlock()
	p := &share{}
	if n := len(o.free); n > 0 {
		p, o.free = o.free[n-1], o.free[:n-1]
	}
	w := o.whole
	p.chunk = c
	p.work = work{
		engine: w.engine, ctx: w.ctx, input: c.text, before: c.base.bytes, arena: arenas.Get().(*arena), large: true, ends: w.ends,
		short: p.short[:0], hits: p.found[:0], texts: p.texts[:0], lines: p.lines[:0],
	}
	return p
}

// take takes a share, and those behind it that wait for it.
func (o *order) take(p *share) {
	o.Lock()
	defer o.Unlock()
	o.ready[p.chunk.number] = p
	for ; o.ready[o.next] != nil; o.next++ {
		o.add(o.ready[o.next])
		delete(o.ready, o.next)
	}
}

// rest takes the shares behind some of n that are missing.
func (o *order) rest(n int) {
	for ; o.next < n; o.next++ {
		if p := o.ready[o.next]; p != nil {
			o.add(p)
		} else {
			o.whole.partial = true
		}
	}
}

func (o *order) add(p *share) {
	p.cuts = p.cuts[:min(len(p.cuts), maxCutLines-o.cuts)]
	o.cuts += len(p.cuts)
	if len(p.cuts) > 0 {
		judged := p.hits
		p.hits = p.found
		for _, c := range p.cuts {
			if p.late() {
				break
			}
			p.cutLine(c)
		}
		if len(p.hits) > len(p.found) {
			p.judge()
		} else {
			p.hits = judged
		}
	}
	o.whole.partial = o.whole.partial || p.partial
	o.count(p)
	if o.done != nil {
		o.tell(&p.told)
		o.done(p.chunk.text)
	}
	p.release()
	p.cuts, p.told = nil, candidate{}
	o.free = append(o.free, p)
}

// count counts what a share found.
func (o *order) count(p *share) {
	t := o.whole.tally
	t.base = p.chunk.base.bytes
	if o.done != nil {
		t.passing = p
	}
	if len(p.hits) > 0 {
		t.addAll(append(p.hits, p.short...))
		return
	}
	for i := range p.short {
		t.add(&p.short[i])
	}
}

// tell keeps the more telling of two lines, and knows when none is asked for.
func (o *order) tell(c *candidate) {
	if o.known.Load() {
		return
	}
	if o.told.beatenBy(c) {
		c.text = bytes.Clone(c.text)
	}
	o.told.follow(c)
	groups := o.whole.tally.groups
	for k := range groups {
		if confidenceOf(groups[k].score) >= likelyConfidence {
			o.known.Store(true)
			o.told = candidate{}
			return
		}
	}
}
