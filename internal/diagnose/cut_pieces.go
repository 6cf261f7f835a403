package diagnose

import (
	"bytes"
	"slices"
	"sort"
)

// occurrence is a piece in a text.
type occurrence struct {
	at    int // of a head: where its message begins
	end   int // of the piece
	owner int32
	spot  uint16 // of a tail: see spotOf
}

// pieces are what was found of messages in the text of a reading, each list by
// place.
type pieces struct {
	heads []occurrence
	loose []occurrence // of heads of which it is not known where they begin
	tails []occurrence
	until int // how far was looked
}

// probe looks for pieces in the text of a reading, up to an offset at least.
func (w *work) probe(r *reading, to int) *pieces {
	arena := r.m.arena
	if r.pieces == nil {
		r.pieces = arena.found.one()
	}
	f := r.pieces
	text := r.m.text
	if to = min(to, len(text)); f.until >= to {
		return f
	}
	if len(text) <= maxJoinBytes {
		to = len(text)
	}
	p := w.engine.probes
	var inner []innerHead
	known := len(f.heads)
	s := startsBehind(text, f.until, to)
	for i := s.step(); i >= 0 && i+4 <= len(text); i = s.step() {
		h := hash4(text[i:])
		if !p.first.has(h) {
			continue
		}
		p.eachAt(text, i, len(text), h, func(at int, x *piece) bool {
			o := occurrence{at, at + int(x.size), x.owner, x.place}
			switch {
			case x.ends&tailEnd != 0:
				f.tails = append(arena.pieces.grow(f.tails), o)
			case x.ends&anyHead != 0:
				f.loose = append(arena.pieces.grow(f.loose), o)
			case x.ends&opening != 0:
				o.at -= x.ends.lead()
				f.heads = append(arena.pieces.grow(f.heads), o)
			default:
				inner = append(arena.inner.grow(inner), innerHead{o, x.place, x.ends.lead()})
			}
			return true
		})
	}
	if len(inner) > 0 {
		f.findHeads(r.m, max(0, f.until-cutReach(p.most)), inner)
	}
	if len(f.heads) > known {
		slices.SortFunc(f.heads, func(a, b occurrence) int { return a.at - b.at })
	}
	f.until = to
	return f
}

// innerHead is a piece of a head that does not begin with the word that tells where
// the message begins.
type innerHead struct {
	occurrence
	head uint16
	lead int
}

// word is where a word begins, and the word before it with a head like its own.
type word struct {
	at     int
	before int // its index, -1 when there is none
	head   uint16
}

// findHeads finds where messages may begin whose inner pieces are there.
func (p *pieces) findHeads(m *mapped, from int, inner []innerHead) {
	var words []word
	var last [256]int // one more than the index of the last word with a head like that
	s := startsIn(m.text, from, inner[len(inner)-1].at)
	i := s.step()
	for _, o := range inner {
		for ; i >= 0 && i < o.at; i = s.step() {
			head := wordHead(hash4(m.text[i:]))
			words = append(m.arena.words.grow(words), word{i, last[head>>8] - 1, head})
			last[head>>8] = len(words)
		}
		for k := last[o.head>>8] - 1; k >= 0; k = words[k].before {
			if words[k].head == o.head {
				p.heads = append(m.arena.pieces.grow(p.heads), occurrence{at: words[k].at - o.lead, end: o.end, owner: o.owner})
			}
		}
	}
}

// startingAt is the part of a list that begins at an offset.
func startingAt(list []occurrence, at int) []occurrence {
	return list[sort.Search(len(list), func(k int) bool { return list[k].at >= at }):]
}

// eachCut calls f for the messages of which enough may stand in a line, until f returns
// false, and reports whether it never did. It looks at the few whose pieces are there. F
// may get one several times.
func (w *work) eachCut(c *cutCandidate, f func(owner int32, at ends) bool) bool {
	p := w.engine.probes
	r, long, l := c.in, c.long, c.line
	line := r.m.text[l.body:l.end]
	inLong, until := c.at, c.until
	if !w.eachLoose(c, f) || !p.eachEnding(line, func(owner int32) bool { return f(owner, tailEnd) }) {
		return false
	}
	// All that is in the line is in the joined lines as well, unless it follows a
	// word without a blank: then its first word is another one.
	switch {
	case inLong < 0 && len(r.lines) == 1:
		long, inLong, until = r, l.body, l.end
	case inLong < 0 || inLong > 0 && isWord(long.m.text[inLong-1]):
		if !p.each(line, 0, len(line), func(at int, x *piece) bool {
			if x.ends&tailEnd != 0 {
				return !w.mayLayBack(x.owner, x.place, line, at) || f(x.owner, tailEnd)
			}
			return f(x.owner, headEnd)
		}) {
			return false
		}
		if inLong < 0 {
			return true
		}
	}
	stop := inLong + len(line)
	to := max(inLong+cutReach(p.most), stop)
	found := w.probe(long, to)
	for _, o := range startingAt(found.heads, inLong) {
		if o.at >= until {
			break
		}
		if w.mayLay(o.owner, long.m.text[o.at:]) && !f(o.owner, headEnd) {
			return false
		}
	}
	for _, o := range startingAt(found.loose, inLong) {
		if o.at >= to {
			break
		}
		if !f(o.owner, headEnd) {
			return false
		}
	}
	for _, o := range startingAt(found.tails, inLong) {
		if o.end > stop {
			break
		}
		if w.mayLayBack(o.owner, o.spot, line, o.at-inLong) && !f(o.owner, tailEnd) {
			return false
		}
	}
	return true
}

// eachLoose is eachCut for the messages without pieces.
func (w *work) eachLoose(c *cutCandidate, f func(owner int32, at ends) bool) bool {
	p := w.engine.probes
	if len(p.loose) == 0 {
		return true
	}
	var have pairSet
	have.add(c.in.m.text, c.line.body, c.line.end)
	if c.at >= 0 {
		have.add(c.long.m.text, c.at, c.until)
	}
	last := lastOf(c.in.m.text[c.line.end-1])
	for i := range p.loose {
		x := &p.loose[i]
		if at := x.mayHave(&have, last); at != 0 && !f(x.owner, at) {
			return false
		}
	}
	return true
}

// mayLay reports whether a message of whose head there is a piece may begin with a text:
// its first literal is there, or as much as has to be.
func (w *work) mayLay(owner int32, text []byte) bool {
	parts := w.engine.segments(int(owner))
	literal := parts[firstLiteral(parts)].text
	n := common(text, literal)
	return n == len(literal) || !tooLittle(n, literalLen(parts))
}

// mayLayBack reports whether a message of whose tail there is a piece in a line may be
// laid there: the rest of its literal is behind the piece, and before it up to where the
// message was cut.
func (w *work) mayLayBack(owner int32, spot uint16, line []byte, at int) bool {
	if spot == anySpot {
		return true
	}
	literal, off := w.engine.segments(int(owner))[spot>>8].text, int(spot&0xff)
	n := common(line[at:], literal[off:])
	if rest := literal[off+n:]; rest != "" && (rest != " " || at+n < len(line)) {
		return false
	}
	k := 0
	for k < off && k < at && same(line[at-k-1], literal[off-k-1]) {
		k++
	}
	return k == off || beginsAt(line, at-k)
}

// tryCut lays a message on a line, of which a piece may be there: its head, also where
// that goes on in the next lines, or its tail. The best of those that are enough is
// what counts; there may be none.
func (w *work) tryCut(c *cutCandidate, owner int32, at ends) (best aligned) {
	parts := w.engine.segments(int(owner))
	consider := func(a aligned, found bool) {
		if found && a.matched > best.matched {
			if _, _, ok := a.enough(); ok {
				best = a
			}
		}
	}
	l := c.line
	if at&headEnd != 0 {
		end := min(l.end, l.body+maxCutLine)
		consider(alignHead(parts, c.in, l.body, end, end))
		if total := literalLen(parts); c.at >= 0 && best.matched < total {
			consider(alignHead(parts, c.long, c.at, c.until, min(len(c.long.m.text), c.at+cutReach(total))))
		}
	}
	if at&tailEnd != 0 && (!c.goesOn || bytes.Contains(c.in.m.text[l.body:l.end], []byte("..."))) {
		consider(alignTail(parts, c.in, l.body, l.end))
	}
	return best
}
