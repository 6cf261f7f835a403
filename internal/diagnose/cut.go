package diagnose

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Limits of the search for messages that are not there whole. It looks at the
// lines that could be one, and at the few messages that each resembles.
const (
	maxCutLines      = 200
	maxCutCandidates = 12
	maxCutTried      = 128     // messages of which is remembered that they were tried
	maxCutLine       = 4 << 10 // bytes of a line that are looked at
	maxCutValue      = 300     // bytes of a value in a message that was cut
	minCutWords      = 4       // words of literal text that must be there
	minCutWorth      = 3       // what they must be worth, unless nearly all of it is there
	minCutShare      = 0.5     // of the literal text
	mostCutShare     = 0.7     // from which on, where the head is missing,
	mostCutWorth     = 2.4     // this much worth will do
	minTitle         = 50      // bytes of the head that will do, however long the message is
	minPartWords     = 6       // the same three for the head of a message that is cut early
	minPartWorth     = 4.5
	minPartShare     = 0.3
	maxPlainValue    = 3   // plain words in a value at the end of a message whose head is lost
	minRecased       = 2.5 // what a message with other capitals must be worth: prose may have its words
)

// findCut looks for messages whose head or tail is missing, or that were typed
// with other quotes, in the lines that no message was found in.
func (w *work) findCut() {
	for _, c := range w.cutLines() {
		if w.late() {
			return
		}
		w.cutLine(c)
	}
}

// cutCandidate is a line that may hold a message that was cut.
type cutCandidate struct {
	in, long *reading // the lines, and the same lines joined if they are
	line     *line
	at       int  // where it begins in the joined lines, -1 when it does not
	until    int  // where the next one does
	goesOn   bool // it goes on with the line before, where the head of its message would be
}

// newCut is a line that has a place in the joined lines, or none when that is negative.
func newCut(in, long *reading, l *line, place int) cutCandidate {
	c := cutCandidate{in: in, long: long, line: l, at: -1}
	if place >= 0 {
		c.at, c.until = long.places[place].at, len(long.m.text)
		if j := long.firstJoint(c.at+1, c.until); j >= 0 {
			c.until = long.joints[j].at
		}
		if j := long.lastJoint(c.at-1, c.at+1); j >= 0 {
			c.goesOn = !long.joints[j].strong && !long.joints[j].stamped
		}
	}
	return c
}

// cutLines are the first lines that may hold a message that was cut.
func (w *work) cutLines() []cutCandidate {
	if len(w.engine.owners) == 0 {
		return nil
	}
	covered := w.covered()
	list := w.arena.cuts.take(16)
	for i, r := range w.texts {
		if r.joined || w.late() {
			continue
		}
		long := r
		if i+1 < len(w.texts) && w.texts[i+1].base == r {
			long = w.texts[i+1] // they are read one after the other
		}
		next := 0 // place of the joined reading
		k := 0    // run that the line begins in
		for i := range r.lines {
			l := &r.lines[i]
			if !w.mayHoldCut(l, len(r.lines)) {
				continue
			}
			for k+1 < len(r.m.runs) && r.m.runs[k+1].at <= l.body {
				k++
			}
			from := r.m.runs[k].from
			if r.m.runs[k].copied {
				from += l.body - r.m.runs[k].at
			}
			if _, ok := slices.BinarySearch(covered, from); ok {
				continue
			}
			for next < len(long.places) && long.places[next].body < l.body {
				next++
			}
			at := -1
			if next < len(long.places) && long.places[next].body == l.body && r.m.runs[k].copied {
				at = next
			}
			if len(list) == maxCutLines {
				return list
			}
			list = append(w.arena.cuts.grow(list), newCut(r, long, l, at))
		}
	}
	return list
}

// mayHoldCut reports whether a line is looked at for a message that was cut; many
// tells in how many lines it stands.
func (w *work) mayHoldCut(l *line, many int) bool {
	return l.end-l.body >= 12 && !l.frame && !l.fence && (l.level >= levelError || !w.large && many <= maxCutLines)
}

// covered are the starts of lines in which a message was found, ascending. Where the
// text ends behind a message, or in its last value, it may be a longer one that begins
// alike.
func (w *work) covered() []int {
	out := w.arena.numbers.take(len(w.hits))
	for i := range w.hits {
		h := &w.hits[i]
		if h.reading.joined {
			continue
		}
		l := h.reading.lineAt(h.start)
		open := !w.large && h.owner >= 0 && (h.end < l.end || w.engine.owners[h.owner].tail) && h.reading.finished(l.end)
		if h.covers(l) && !open {
			from, _ := h.reading.m.span(l.body, l.end)
			out = append(out, from)
		}
	}
	slices.Sort(out)
	return out
}

// covers reports whether a hit says what its line is about. A message behind which
// the line goes on with another sentence may be the first one of a longer message.
func (h *hit) covers(l *line) bool {
	if l.end-h.end > 20 && goesOn(h.reading.m.text, h.end) {
		return false
	}
	return h.worth >= 3 || h.worth >= 1.5 && h.literal*2 > l.end-l.message
}

// cutLine tries the messages of which pieces are in a line, and keeps the few of which
// most is there.
func (w *work) cutLine(c cutCandidate) {
	type candidate struct {
		owner int32
		aligned
	}
	var best []candidate
	tried := w.arena.numbers.take(8)
	before := func(a, b candidate) int {
		if a.matched == b.matched && a.recased != b.recased {
			if a.recased {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(b.matched, a.matched), cmp.Compare(a.total, b.total), cmp.Compare(a.owner, b.owner))
	}
	w.eachCut(&c, func(owner int32, at ends) bool {
		key := int(owner)<<2 | int(at&(headEnd|tailEnd))
		if slices.Contains(tried, key) {
			return true
		}
		if len(tried) < maxCutTried {
			tried = append(w.arena.numbers.grow(tried), key)
		}
		a := w.tryCut(&c, owner, at)
		if a.matched == 0 || !a.fits(w.engine.segments(int(owner))) {
			return true
		}
		x := candidate{owner, a}
		if k, _ := slices.BinarySearchFunc(best, x, before); k < maxCutCandidates {
			best = slices.Insert(best, k, x)
			best = best[:min(len(best), maxCutCandidates)]
		}
		return !w.late()
	})
	first := len(w.hits)
	for i := range best {
		w.addCut(&best[i].aligned, int(best[i].owner))
	}
	markSeveral(w.hits[first:])
}

// markSeveral marks the beginnings that several messages have in common: nothing tells
// which one was cut.
func markSeveral(hits []hit) {
	for i := range hits {
		for k := range hits {
			a, b := &hits[i], &hits[k]
			if a.entry != b.entry && a.kind == KindTruncated && b.kind == KindTruncated && a.share < b.share+0.3 &&
				a.from == b.from && a.literal == b.literal && (a.retyped || !b.retyped) {
				a.several = true
			}
		}
	}
}

// aligned is a message that is partly there.
type aligned struct {
	hit
	matched  int  // bytes of literal text
	total    int  // bytes of literal text of the whole message
	finished bool // the text ends where the message was cut
	stops    bool // a line or a sentence ends there
	head     bool // the head is missing
	recased  bool // some of its letters are capitals where the message has small ones, or the other way
}

// addCut keeps an alignment that is good enough to be called by the name of the
// message.
func (w *work) addCut(a *aligned, owner int) {
	share, worth, _ := a.enough()
	h := a.hit
	h.owner, h.entry = owner, w.engine.owners[owner].entry
	h.kind, h.share, h.retyped = KindTruncated, share, a.recased
	h.worth = worth
	if a.matched == a.total {
		// All of it is there, with other quotes, capitals or blanks.
		h.kind, h.retyped = KindNormalized, true
		if w.engine.owners[owner].historic {
			h.kind = KindHistoric
		}
	}
	w.add(h, false)
}

// fits reports whether the values are such as their gaps take: a number where the
// message has one, one of the words that it may be. The one at the cut may be a part.
func (a *aligned) fits(parts []segment) bool {
	t := a.reading.m.text
	for i, c := range a.captures {
		if a.matched < a.total && (!a.head && i+1 == len(a.captures) && len(bytes.Trim(t[c.End:a.end], " .…")) == 0 || a.head && i == 0 && c.Start == a.start) {
			continue
		}
		k := slices.IndexFunc(parts, func(p segment) bool { return p.gap == c.Name })
		if k < 0 || strings.HasPrefix(parts[k].expr, ".") || strings.HasPrefix(parts[k].expr, "(?-s") {
			continue
		}
		expr, err := regexp.Compile("^(?:" + parts[k].expr + ")$")
		if err != nil || !expr.Match(t[c.Start:c.End]) {
			return false
		}
	}
	return true
}

// enough reports whether so much of a message is there that it can be called by
// its name, with the share that is there and what it is worth.
func (a *aligned) enough() (share, worth float64, ok bool) {
	share = float64(a.matched) / float64(a.total)
	if tooLittle(a.matched, a.total) || share < minCutShare && a.head || !a.finished && !a.stops {
		return share, 0, false
	}
	worth, words := a.worthOfLiterals()
	if words < minCutWords && share < 0.95 || words < minCutWords-1 || a.recased && worth < minRecased {
		return share, worth, false
	}
	part := (share >= minCutShare || a.matched >= minTitle) && worth >= minCutWorth || a.head && share >= mostCutShare && worth >= mostCutWorth || words >= minPartWords && worth >= minPartWorth
	return share, worth, share >= 0.9 || a.finished && part
}

// tooLittle reports whether so many bytes of literal text are never enough.
func tooLittle(matched, total int) bool {
	return matched < minTitle && float64(matched) < minPartShare*float64(total)
}

// cutReach is how far a message with so many literal bytes may go on behind the
// line that it begins in.
func cutReach(literal int) int { return 4*literal + 400 }

// worthOfLiterals weighs the literal text that is there.
func (h *hit) worthOfLiterals() (float64, int) {
	t := h.reading.m.text
	at := h.start
	var parts []string
	for _, c := range h.captures {
		if c.Start > at {
			parts = append(parts, string(t[at:c.Start]))
		}
		at = max(at, c.End)
	}
	if h.end > at {
		parts = append(parts, string(t[at:h.end]))
	}
	return worthOf(parts)
}
