package diagnose

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"errorkb/internal/pattern"
)

// Limits of the search for messages that are not there whole. It looks at the
// lines that could be one, and at the few messages that each resembles.
const (
	maxCutLines      = 200
	maxCutCandidates = 12
	maxCutLine       = 4 << 10 // bytes of a line that are looked at
	maxCutValue      = 300     // bytes of a value in a message that was cut
	minCutWords      = 4       // words of literal text that must be there
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
			if !w.mayHoldCut(l, len(r.lines)) {
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

// covers reports whether a hit says what its line is about.
func (h *hit) covers(l *line) bool {
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
	if share < 0.5 || !a.finished && !a.stops {
		return share, 0, false
	}
	worth, words := a.worthOfLiterals()
	if words < minCutWords && share < 0.95 || words < minCutWords-1 || a.recased && worth < minRecased {
		return share, worth, false
	}
	return share, worth, share >= 0.9 || a.finished && worth >= 3
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

// same reports whether two bytes are the same to a person who types them: any
// quote is a quote, and a capital is no other letter.
func same(a, b byte) bool {
	return a == b || a^b == 0x20 && isLetter(a) || isQuote(a) && isQuote(b)
}

func isQuote(c byte) bool { return c == '\'' || c == '"' || c == '`' }

// common is the length of the common head of text and literal.
func common(text []byte, literal string) int {
	n := min(len(text), len(literal))
	for i := 0; i < n; i++ {
		if !same(text[i], literal[i]) {
			return i
		}
	}
	return n
}

// isRecased reports whether a text that is the same as the head of a literal has
// other capitals.
func isRecased(text []byte, literal string) bool {
	for i, c := range text {
		if c != literal[i] && isLetter(c) {
			return true
		}
	}
	return false
}

// closesEarly reports whether a value that follows a quote holds the same quote
// where it would close.
func closesEarly(t []byte, from, to int) bool {
	if from == 0 || !isQuote(t[from-1]) {
		return false
	}
	for i := from; i < to; i++ {
		if t[i] == t[from-1] && i+1 < len(t) && (t[i+1] == ' ' || t[i+1] == ',' || t[i+1] == ';') {
			return true
		}
	}
	return false
}

// indexLiteral finds the head of a literal in text.
func indexLiteral(text []byte, head string) int {
	if !strings.ContainsAny(head, "'\"`") {
		if k := bytes.Index(text, []byte(head)); k >= 0 {
			return k
		}
	}
	for i := 0; i+len(head) <= len(text); i++ {
		if same(text[i], head[0]) && common(text[i:], head) == len(head) {
			return i
		}
	}
	return -1
}

// alignHead lays a message on text[from:to] from its first literal on, as far
// as it goes. It has to begin before until.
func alignHead(parts []segment, r *reading, from, until, to int) (aligned, bool) {
	t := r.m.text[:to]
	a := aligned{total: literalLen(parts)}
	a.reading = r
	if !canHead(parts) {
		return a, false
	}
	first := firstLiteral(parts)
	probe := probeOf(parts)
	k := indexLiteral(t[from:min(to, until+len(probe)-1)], probe)
	if k < 0 {
		return a, false
	}
	at := from + k
	if at > 0 && isWord(probe[0]) && isWord(t[at-1]) {
		return a, false
	}
	a.start = at
	if first == 1 {
		// The value in front reaches back to the last blank.
		for a.start > from && t[a.start-1] != ' ' {
			a.start--
		}
		a.captures = append(a.captures, pattern.Capture{Name: parts[0].gap, Start: a.start, End: at})
	}
	for i := first; i < len(parts); i++ {
		p := parts[i]
		if p.gap == "" {
			n := common(t[at:], p.text)
			a.recased = a.recased || isRecased(t[at:at+n], p.text)
			a.matched += n
			at += n
			if n < len(p.text) {
				break
			}
			continue
		}
		end := len(t)
		if i+1 < len(parts) {
			next := parts[i+1].text
			if at > a.start && t[at-1] == ' ' && next != "" && next[0] == ' ' && common(t[at-1:], next) == len(next) {
				// Nothing stands between two blanks, and one of them is gone.
				a.captures = append(a.captures, pattern.Capture{Name: p.gap, Start: at, End: at})
				at--
				continue
			}
			window := t[at:min(len(t), at+maxCutValue)]
			k := indexLiteral(window, next[:min(len(next), 8)])
			if k < 0 && len(next) > 0 {
				k = indexLiteral(window, next[:1])
				if isWord(next[0]) || next[0] == ' ' {
					k = -1
				}
			}
			if k < 0 {
				// The value itself was cut.
				end = len(t)
				if i > 0 && !mayBeCutValue(t[at:end], parts[i-1].text) {
					break
				}
				a.captures = append(a.captures, pattern.Capture{Name: p.gap, Start: at, End: trimEllipsis(t, at, end)})
				at = end
				break
			}
			end = at + k
			if closesEarly(t, at, end) {
				break
			}
		}
		a.captures = append(a.captures, pattern.Capture{Name: p.gap, Start: at, End: trimEllipsis(t, at, end)})
		at = end
	}
	a.end = at
	a.finished = r.finished(at)
	a.stops = r.stops(at)
	return a, a.matched > 0
}

// mayBeCutValue reports whether a text may be the head of a value: the quote before
// it did not close, and it does not go on with the words of another message.
func mayBeCutValue(value []byte, before string) bool {
	if n := len(before); n > 0 && isQuote(before[n-1]) {
		k := bytes.IndexByte(value, before[n-1])
		return k < 0 || k+1 < len(value) && isWord(value[k+1])
	}
	if n := len(value); n > 0 && value[n-1] == '.' && !bytes.HasSuffix(value, []byte("..")) {
		return false
	}
	return plainWords(value) == 0 || bytes.IndexByte(value, ' ') < 0
}

// plainWords counts the words of a text that are nothing but small letters; those
// of a list, "a, b and c", do not count.
func plainWords(t []byte) int {
	if bytes.Contains(t, []byte(", ")) && (bytes.Contains(t, []byte(" and ")) || bytes.Contains(t, []byte(" or "))) {
		return 0
	}
	n := 0
	for word := range bytes.FieldsSeq(t) {
		word = bytes.TrimRight(word, ".,;:!?")
		plain := len(word) > 1
		for _, c := range word {
			plain = plain && c >= 'a' && c <= 'z'
		}
		if plain {
			n++
		}
	}
	return n
}

// stops reports whether offset i is the end of a line, of a quoted part or of a
// sentence. Where a message goes on with other words it is another message.
func (r *reading) stops(i int) bool {
	t := r.m.text
	if i >= len(t) || bytes.IndexByte([]byte("\n\"'`)]}"), t[i]) >= 0 || r.firstJoint(i, i+1) >= 0 {
		return true
	}
	before := bytes.TrimRight(t[:i], " ")
	return len(before) < i && len(before) > 0 && bytes.IndexByte([]byte(".!?"), before[len(before)-1]) >= 0
}

// trimEllipsis takes dots of omission off the end of a value.
func trimEllipsis(t []byte, from, to int) int {
	for bytes.HasSuffix(t[from:to], []byte("...")) {
		to -= 3
	}
	return from + len(bytes.TrimRight(t[from:to], " "))
}

// alignTail lays a message on text[from:to] from its last literal back, as far
// as it goes: the head is missing.
func alignTail(parts []segment, r *reading, from, to int) (aligned, bool) {
	a := aligned{total: literalLen(parts), head: true}
	a.reading = r
	t := r.m.text
	at := to
	last := len(parts) - 1
	if parts[last].gap != "" {
		return a, false // its end is wherever the line ends
	}
	var back []pattern.Capture
	for i := last; i >= 0; i-- {
		p := parts[i]
		if p.gap == "" {
			n := 0
			for n < len(p.text) && at-n > from && same(t[at-n-1], p.text[len(p.text)-n-1]) {
				n++
			}
			if rest := p.text[len(p.text)-n:]; n > 0 && n < len(p.text) && rest[0] >= 'a' && t[at-n] < rest[0] {
				n = 0 // a capital where the message goes on in small letters: another one begins
			}
			a.matched += n
			at -= n
			if n < len(p.text) {
				break
			}
			continue
		}
		if i == 0 {
			break
		}
		prev := parts[i-1].text
		tail := prev[max(0, len(prev)-8):]
		k := -1
		for j := at - len(tail); j >= max(from, at-maxCutValue); j-- {
			if common(t[j:], tail) == len(tail) {
				k = j + len(tail)
				break
			}
		}
		if k < 0 {
			// The head was lost in the literal before the value, or in the value.
			n, k := lostHead(t[from:at], prev)
			if k >= 0 {
				back = append(back, pattern.Capture{Name: p.gap, Start: from + k, End: at})
				a.matched += n
				at = from + k - n
			}
			break
		}
		if closesEarly(t, k, at) {
			break
		}
		back = append(back, pattern.Capture{Name: p.gap, Start: k, End: at})
		at = k
	}
	a.start, a.end = at, to
	for i := len(back) - 1; i >= 0; i-- {
		a.captures = append(a.captures, back[i])
	}
	a.finished = len(bytes.TrimLeft(t[:at], " \"'`(\n")) == 0 || bytes.HasSuffix(t[from:at], []byte("..."))
	return a, a.matched > 0
}

// lostHead reads the start of a text as the rest of a message whose head is gone:
// the last n bytes of a literal and then a value from offset k on, or the value alone
// where it is one word. K is -1 when it is neither.
func lostHead(t []byte, literal string) (n, k int) {
	open := len(t) - len(bytes.TrimLeft(t, " \"'`(\n"))
	for n := len(literal) - 1; n > 1; n-- {
		tail := literal[len(literal)-n:]
		if isWord(tail[0]) && !isWord(literal[len(literal)-n-1]) && common(t[open:], tail) == n {
			return n, open + n
		}
	}
	if open < len(t) && bytes.IndexByte(t[open:], ' ') < 0 {
		return 0, open
	}
	return 0, -1
}

// finished reports whether the text ends at offset i: at its very end, or with
// dots of omission. One full stop is no cut: the sentence is another one.
func (r *reading) finished(i int) bool {
	t := r.m.text
	if bytes.HasPrefix(bytes.TrimLeft(t[i:], " "), []byte("...")) || bytes.HasSuffix(t[:i], []byte("...")) {
		return true
	}
	return len(bytes.TrimLeft(t[i:], " \"'`)\n")) == 0
}
