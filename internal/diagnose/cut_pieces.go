package diagnose

import (
	"slices"
	"sort"
)

// occurrence is a piece in a text.
type occurrence struct {
	at    int // of a head: where its message begins
	end   int // of the piece
	owner int32
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
	for i := s.next(); i >= 0 && i+4 <= len(text); i = s.next() {
		h := hash4(text[i:])
		if !p.first.has(h) {
			continue
		}
		p.eachAt(text, i, len(text), h, func(at int, x *piece) bool {
			o := occurrence{at, at + int(x.size), x.owner}
			if x.ends&tailEnd != 0 {
				f.tails = append(arena.pieces.grow(f.tails), o)
			}
			switch {
			case x.ends&headEnd == 0:
			case x.ends&anyHead != 0:
				f.loose = append(arena.pieces.grow(f.loose), o)
			case x.ends&opening != 0:
				o.at -= x.ends.lead()
				f.heads = append(arena.pieces.grow(f.heads), o)
			default:
				inner = append(arena.inner.grow(inner), innerHead{o, x.head, x.ends.lead()})
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
	i := s.next()
	for _, o := range inner {
		for ; i >= 0 && i < o.at; i = s.next() {
			head := wordHead(hash4(m.text[i:]))
			words = append(m.arena.words.grow(words), word{i, last[head>>8] - 1, head})
			last[head>>8] = len(words)
		}
		for k := last[o.head>>8] - 1; k >= 0; k = words[k].before {
			if words[k].head == o.head {
				p.heads = append(m.arena.pieces.grow(p.heads), occurrence{words[k].at - o.lead, o.end, o.owner})
			}
		}
	}
}

// startingAt is the part of a list that begins at an offset.
func startingAt(list []occurrence, at int) []occurrence {
	return list[sort.Search(len(list), func(k int) bool { return list[k].at >= at }):]
}

// mayBeCut reports whether the line holds enough of any message. It looks at the
// few whose pieces are there, and is much cheaper than looking for the messages
// that the line resembles.
func (w *work) mayBeCut(r, long *reading, l *line, inLong, until int) bool {
	p := w.engine.probes
	here := func(owner int32, at ends) bool { return w.cutHere(r, l, owner, at) }
	further := func(owner int32) bool { return w.cutFurther(long, owner, inLong, until) }
	if w.looseMayBeCut(r, long, l, inLong, until) || p.anyEnding(r.m.text[l.body:l.end], here) {
		return true
	}
	// All that is in the line is in the joined lines as well, unless it follows a
	// word without a blank: then its first word is another one.
	switch {
	case inLong < 0 && len(r.lines) == 1:
		return w.probe(r, l.end).any(l.body, l.end, func(o *occurrence, at ends) bool {
			return (at != headEnd || w.mayLay(o.owner, r, o.at, l.end)) && here(o.owner, at)
		})
	case inLong < 0 || inLong > 0 && isWord(long.m.text[inLong-1]):
		if !p.each(r.m.text, l.body, l.end, func(_ int, x *piece) bool { return !here(x.owner, x.ends) }) {
			return true
		}
		if inLong < 0 {
			return false
		}
	}
	stop := inLong + l.end - l.body
	to := max(inLong+cutReach(p.most), stop)
	found := w.probe(long, to)
	if len(found.heads)+len(found.loose)+len(found.tails) == 0 {
		return false
	}
	if found.any(inLong, stop, func(o *occurrence, at ends) bool {
		return (at != headEnd || w.mayLay(o.owner, r, o.at-inLong+l.body, l.end)) && here(o.owner, at)
	}) {
		return true
	}
	for _, o := range startingAt(found.heads, inLong) {
		if o.at >= until {
			break
		}
		if w.mayLay(o.owner, long, o.at, len(long.m.text)) && further(o.owner) {
			return true
		}
	}
	for _, o := range startingAt(found.loose, inLong) {
		if o.at >= to {
			break
		}
		if further(o.owner) {
			return true
		}
	}
	return false
}

// looseMayBeCut is mayBeCut for the messages without pieces.
func (w *work) looseMayBeCut(r, long *reading, l *line, inLong, until int) bool {
	p := w.engine.probes
	if len(p.loose) == 0 {
		return false
	}
	var have pairSet
	have.add(r.m.text, l.body, l.end)
	if inLong >= 0 {
		have.add(long.m.text, inLong, until)
	}
	last := lastOf(r.m.text[l.end-1])
	for i := range p.loose {
		x := &p.loose[i]
		at := x.mayHave(&have, last)
		if at != 0 && w.cutHere(r, l, x.owner, at) || at&headEnd != 0 && inLong >= 0 && w.cutFurther(long, x.owner, inLong, until) {
			return true
		}
	}
	return false
}

// mayLay reports whether a message whose head has a piece in a text may be laid where
// it would begin: its first literal is there, half of all, or enough of it.
func (w *work) mayLay(owner int32, r *reading, at, to int) bool {
	parts := w.engine.segments(int(owner))
	literal := parts[firstLiteral(parts)].text
	n := common(r.m.text[at:to], literal)
	return n == len(literal) || n >= minTitle || 2*n >= literalLen(parts)
}

// cutHere reports whether a line holds enough of a message: of its head, or of its
// tail.
func (w *work) cutHere(r *reading, l *line, owner int32, at ends) bool {
	parts := w.engine.segments(int(owner))
	if at&headEnd != 0 {
		end := min(l.end, l.body+maxCutLine)
		if a, ok := alignHead(parts, r, l.body, end, end); ok {
			if _, _, ok = a.enough(); ok {
				return true
			}
		}
	}
	if at&tailEnd == 0 {
		return false
	}
	a, ok := alignTail(parts, r, l.body, l.end)
	if ok {
		_, _, ok = a.enough()
	}
	return ok
}

// cutFurther reports whether the joined lines hold enough of a message whose head
// begins between two offsets.
func (w *work) cutFurther(long *reading, owner int32, from, until int) bool {
	parts := w.engine.segments(int(owner))
	end := min(len(long.m.text), from+cutReach(literalLen(parts)))
	a, ok := alignHead(parts, long, from, until, end)
	if ok {
		_, _, ok = a.enough()
	}
	return ok
}

// any reports whether f does of any piece in text[from:to].
func (p *pieces) any(from, to int, f func(o *occurrence, at ends) bool) bool {
	at := [...]ends{headEnd, headEnd | anyHead, tailEnd}
	for k, list := range [...][]occurrence{p.heads, p.loose, p.tails} {
		if n := len(list); n == 0 || list[0].at >= to || list[n-1].at < from {
			continue
		}
		list = startingAt(list, from)
		for i := range list {
			o := &list[i]
			if o.at >= to {
				break
			}
			if o.end <= to && f(o, at[k]) {
				return true
			}
		}
	}
	return false
}
