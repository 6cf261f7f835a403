package diagnose

import (
	"regexp"
	"slices"
	"strings"
)

// Limits of the search for messages that are not there whole. It looks at the
// lines that could be one, and at the few messages that each resembles.
const (
	maxCutLines      = 200
	maxCutCandidates = 12
	maxCutLine       = 4 << 10 // bytes of a line that are looked at
	maxCutValue      = 300     // bytes of a value in a message that was cut
	minCutWords      = 4       // words of literal text that must be there
	minTitle         = 50      // bytes of literal text that are enough, however long the message is
	minCutWorth      = 3       // what they must be worth, unless nearly all of it is there
	minRecased       = 2.5     // what a message with other capitals must be worth: prose may have its words
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
	at       int // its place in the joined lines, -1 when it is none
}

// inLong is where the line begins in the joined lines, -1 when it does not, and where
// the next one does.
func (c *cutCandidate) inLong() (at, until int) {
	m := c.in.m
	if c.at < 0 || !m.runs[m.runAt(c.line.body)].copied {
		return -1, 0
	}
	at, until = c.long.places[c.at].at, len(c.long.m.text)
	if j := c.long.firstJoint(at+1, until); j >= 0 {
		until = c.long.joints[j].at
	}
	return at, until
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
			at := -1
			for next < len(long.places) && long.places[next].body < l.body {
				next++
			}
			if next < len(long.places) && long.places[next].body == l.body {
				at = next
			}
			if !w.mayHoldCut(l, len(r.lines)) || r.unwrapped && !r.m.isWrapped(l.body, l.end) {
				continue
			}
			if len(covered) > 0 {
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
			}
			if len(list) == maxCutLines {
				return list
			}
			list = append(w.arena.cuts.grow(list), cutCandidate{r, long, l, at})
		}
	}
	return list
}

// mayHoldCut reports whether a line is looked at for a message that was cut; many
// tells in how many lines it stands.
func (w *work) mayHoldCut(l *line, many int) bool {
	return l.end-l.body >= 12 && !l.frame && !l.fence && (l.level >= levelError || !w.large && many <= maxCutLines)
}

// covered are the starts of lines in which a message was found, ascending.
func (w *work) covered() []int {
	out := w.arena.numbers.take(len(w.hits))
	for i := range w.hits {
		h := &w.hits[i]
		if h.reading.joined {
			continue
		}
		l := h.reading.lineAt(h.start)
		if h.covers(l) {
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

// cutLine tries the messages that a line resembles.
func (w *work) cutLine(c cutCandidate) {
	r, long, l := c.in, c.long, c.line
	end := min(l.end, l.body+maxCutLine)
	text := r.m.text[l.body:end]
	inLong, until := c.inLong()
	if !w.mayBeCut(r, long, l, inLong, until) {
		return
	}
	kept := len(w.hits)
	for _, like := range w.engine.words.like(text, maxCutCandidates) {
		parts := w.engine.segments(like.owner)
		if parts == nil {
			continue
		}
		best, ok := alignHead(parts, r, l.body, end, end)
		if a, found := alignTail(parts, r, l.body, l.end); found && a.matched > best.matched {
			best, ok = a, true
		}
		if inLong >= 0 && best.matched < best.total {
			end := min(len(long.m.text), inLong+cutReach(best.total))
			if a, found := alignHead(parts, long, inLong, until, end); found && a.matched > best.matched {
				best, ok = a, true
			}
		}
		if ok {
			w.addCut(best, like.owner)
		}
	}
	markSeveral(w.hits[kept:])
}

// markSeveral marks the beginnings that several messages have in common: nothing tells
// which one was cut.
func markSeveral(hits []hit) {
	for i := range hits {
		for k := range hits {
			a, b := &hits[i], &hits[k]
			if a.entry != b.entry && a.kind == KindTruncated && b.kind == KindTruncated && a.share < b.share+0.3 &&
				a.from == b.from && a.literal == b.literal {
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
func (w *work) addCut(a aligned, owner int) {
	share, worth, ok := a.enough()
	if !ok || !a.fits(w.engine.segments(owner)) {
		return
	}
	h := a.hit
	h.owner, h.entry = owner, w.engine.owners[owner].entry
	h.kind, h.share = KindTruncated, share
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
// message has one, one of the words that it may be. The last one may be cut.
func (a *aligned) fits(parts []segment) bool {
	for i, c := range a.captures {
		if i+1 == len(a.captures) && c.End == a.end && a.matched < a.total {
			break
		}
		k := slices.IndexFunc(parts, func(p segment) bool { return p.gap == c.Name })
		if k < 0 || strings.HasPrefix(parts[k].expr, ".") || strings.HasPrefix(parts[k].expr, "(?-s") {
			continue
		}
		expr, err := regexp.Compile("^(?:" + parts[k].expr + ")$")
		if err != nil || !expr.Match(a.reading.m.text[c.Start:c.End]) {
			return false
		}
	}
	return true
}

// enough reports whether so much of a message is there that it can be called by
// its name, with the share that is there and what it is worth.
func (a *aligned) enough() (share, worth float64, ok bool) {
	share = float64(a.matched) / float64(a.total)
	if share < 0.5 && (a.head || a.matched < minTitle) || !a.finished && !a.stops {
		return share, 0, false
	}
	worth, words := a.worthOfLiterals()
	if words < minCutWords && share < 0.95 || words < minCutWords-1 || a.recased && worth < minRecased {
		return share, worth, false
	}
	return share, worth, share >= 0.9 || a.finished && worth >= minCutWorth
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
