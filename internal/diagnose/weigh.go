package diagnose

import (
	"bytes"
	"context"
	"math"
	"sort"
)

// weigh gives a hit its score.
func (w *work) weigh(h *hit) {
	t := h.reading.m.text
	h.starts, h.level = h.reading.opens(h.start)
	h.starts = h.starts || w.inCell(h.from, -1)
	h.ends = closes(t, h.end) || w.inCell(h.to, 1) || h.reading.firstJoint(h.end, h.end+1) >= 0
	h.aside = isAside(w.input, h.from)
	o := &owner{}
	if h.owner >= 0 {
		o = &w.engine.owners[h.owner]
	}
	score := h.worth
	// A short message has to stand by itself: begin where a message begins and
	// end where one ends. A gap at an end begins and ends anywhere.
	short := h.worth < 3.5
	switch {
	case h.starts && !o.head && h.worth < 2 && behindDash(t, h.start):
		score += 0.3 // or the second half of a sentence
	case h.starts && !o.head:
		score += 0.8
	case o.head && o.telling && w.first(h):
		score += 0.5
	case !h.starts && short && !o.head:
		score -= 0.4
	}
	switch {
	case h.ends && !o.tail && short && goesOn(t, h.end):
		score += 0.2 // the first sentence of another message, perhaps
	case h.ends && !o.tail:
		score += 0.6
	case !h.ends && !o.tail && h.worth < 3 && !h.code && h.beside != besideOwn && runsOn(t, h.end):
		score -= 1.4 // its words begin what another program says
	case !h.ends && short:
		score -= 0.6
	}
	if h.level >= levelError {
		score += 0.4
	}
	if h.worth < 4 {
		score -= min(0.4*float64(h.prose()), 1.6)
	}
	if h.retyped {
		score -= 0.3
	}
	if h.owner >= 0 {
		score -= 0.02 * float64(h.spare(o))
	}
	if h.kind == KindTruncated && !h.starts && !o.head {
		score -= 1.5 // a sentence that happens to end like it
	}
	if h.beside != besideClass && h.beside != besideProgram && w.isWhole(h) {
		score += 0.5
		if o.telling || !o.head && (!o.tail || o.words >= 3) {
			score += 0.5
		} else if o.words >= 3 {
			score += 0.3
		}
	}
	switch {
	case h.beside == besideOwn:
		score++
	case h.beside == besideProgram && short:
		score -= 2
	case h.beside == besideClass && short:
		score -= 1.5
	case h.beside == besideRuntime && short && o.head && !h.code:
		score -= 1.2
	case h.beside == besideProgram || h.beside == besideClass:
		score -= 0.8
	}
	if h.code {
		score += 2
	}
	if h.kind == KindCode {
		w.weighCode(h)
		return
	}
	if h.owner >= 0 && o.weak && isConstant(t[h.start:h.end]) {
		score += 1.2 // a name that nothing else has
	} else if h.owner >= 0 && o.weak && h.beside != besideOwn && !h.code {
		if w.isWhole(h) && !o.head && !o.tail && o.words >= 2 {
			score = 2.5 // two words, and nothing but them
		} else {
			score = math.Min(score, 1)
		}
	}
	if h.owner >= 0 && o.words < 2 && !h.code && isMentioned(t, h.start, h.end) {
		score = math.Min(score, 1)
	}
	if h.kind == KindTruncated && h.several {
		score = min(score, oneOfSeveral+0.01*h.share)
		h.why = "other messages begin with the same words"
	}
	h.score = score
}

// oneOfSeveral is the score of a finding that may as well be another one.
const oneOfSeveral = 2.35

// isAside reports whether a label of what is said beside an error stands before
// offset i of the input: "DETAIL:  ", `"hint":"`, "= note: ".
func isAside(t []byte, i int) bool {
	before := bytes.TrimRight(t[max(0, i-24):i], " \t\\\"'")
	if len(before) == 0 || before[len(before)-1] != ':' {
		return false
	}
	before = bytes.TrimRight(before[:len(before)-1], "\\\"'")
	k := len(before)
	for k > 0 && isLetter(before[k-1]) {
		k--
	}
	switch lower(before[k:]) {
	case "detail", "details", "hint", "note", "help":
		return true
	}
	return false
}

// isMentioned reports whether the word at text[from:to] stands in quotes in the middle
// of a sentence, as a name does.
func isMentioned(t []byte, from, to int) bool {
	return from > 1 && to+1 < len(t) && isQuote(t[from-1]) && isQuote(t[to]) && (t[from-2] == ' ' || t[to+1] == ' ')
}

// spare counts what a message has and the text has not: empty values, and a full
// stop at the end. Of two messages that are there whole, the one without it is meant.
func (h *hit) spare(o *owner) int {
	n := 0
	for _, c := range h.captures {
		if c.Start == c.End {
			n++
		}
	}
	if h.end > h.start && h.reading.m.text[h.end-1] != '.' && o.stop {
		n++
	}
	return n
}

// prose counts the words in the values that are nothing but small letters, beyond
// the first of each: a few words with a sentence between them are another message. A
// value in quotes, one behind a colon, one that others follow at the start of a
// message, and one that begins with a capital, as titles do, may well be a sentence.
func (h *hit) prose() int {
	t := h.reading.m.text
	n := 0
	for i, c := range h.captures {
		before := bytes.TrimRight(t[h.start:c.Start], " ")
		if i == 0 && len(before) == 0 && len(h.captures) > 1 {
			if h.worth < 2 {
				n += max(plainWords(t[c.Start:c.End])-3, 0)
			}
			continue
		}
		if k := len(before); k > 0 && (before[k-1] == ':' || before[k-1] == '.' || isQuote(before[k-1])) {
			continue
		}
		if c.Start < c.End && t[c.Start] >= 'A' && t[c.Start] <= 'Z' {
			continue // "Failed to start A high performance web server."
		}
		n += max(plainWords(t[c.Start:c.End])-1, 0)
	}
	return n
}

// behindDash reports whether a dash between blanks stands before offset i.
func behindDash(t []byte, i int) bool {
	return i > 2 && t[i-1] == ' ' && t[i-2] == '-' && t[i-3] == ' '
}

// inCell reports whether a column of a table begins or ends at an offset of the
// input: a tab or several blanks stand there.
func (w *work) inCell(at, step int) bool {
	k := at
	if step < 0 {
		k--
	}
	if k < 0 || k >= len(w.input) {
		return false
	}
	return w.input[k] == '\t' || w.input[k] == ' ' && k+step >= 0 && k+step < len(w.input) && w.input[k+step] == ' '
}

// isConstant reports whether a message is a single name in capitals, long enough to be
// nobody else's even where it is no telling word: "KRAKEN_2026_01".
func isConstant(t []byte) bool {
	return len(t) >= 12 && bytes.IndexByte(t, '_') > 0 && isCode(t)
}

// first reports whether a message with a gap in front begins where the message of the
// line or a column does, and the value there is one word.
func (w *work) first(h *hit) bool {
	if len(h.captures) == 0 {
		return false
	}
	_, message, _ := h.reading.lineOf(h.start)
	c := h.captures[0]
	return (h.start <= message || w.inCell(h.from, -1)) && bytes.IndexByte(h.reading.m.text[c.Start:c.End], ' ') < 0
}

// isWhole reports whether a hit is all there is in the input.
func (w *work) isWhole(h *hit) bool {
	if w.large || len(w.input) > 4<<10 || h.from > 200 {
		return false
	}
	rest := bytes.TrimRight(w.input[h.to:], " \t\r\n.\"'`")
	if len(rest) > 0 {
		return false
	}
	if len(bytes.TrimLeft(w.input[:h.from], " \t\r\n\"'`")) == 0 {
		return true
	}
	if h.reading.joined || bytes.IndexByte(w.input[:h.from], '\n') >= 0 {
		return false
	}
	return h.start <= h.reading.lineAt(h.start).message || lastColumn(w.input[:h.from]) == h.from-1
}

// weighCode gives a code that stands alone its score. Where its line holds the
// message of another record, the words decide.
func (w *work) weighCode(h *hit) {
	line := clip(h.reading.m.text[h.line.body:h.line.end], maxCutLine)
	h.score = 3.2
	switch {
	case isErrno(h.mention):
		// Many messages carry it: words or values have to speak for this one.
		h.score = 1.6 + 2*w.similarity(h.entry, line, h.mention)
		if len(h.captures) > 0 {
			h.score += 1.2
		}
	case h.several:
		h.score = oneOfSeveral - 0.1
	case isNumber(h.mention):
		h.score = 2.6
		if w.knownWords(line) >= 4 && w.similarity(h.entry, line, h.mention) < 0.2 {
			h.score = 1 // the sentence beside it is another one
		}
	}
	if w.saysOther(h) {
		h.score = 1.4
		h.why = "its code " + h.mention + " is in the text, but the words are those of another message"
	}
}

// knownWords counts the words of a text that messages use.
func (w *work) knownWords(text []byte) int {
	n := 0
	eachWord(text, func(from, to int) {
		if to-from > 2 && w.engine.words.has(lower(text[from:to])) {
			n++
		}
	})
	return n
}

// saysOther reports whether the line of a code holds the message of another
// record.
func (w *work) saysOther(h *hit) bool {
	if w.telling == nil {
		w.telling = map[*reading][]span{}
		for i := range w.hits {
			if o := &w.hits[i]; o.kind != KindCode && o.worth >= 1.5 {
				w.telling[o.reading] = append(w.telling[o.reading], span{o.start, o.end})
			}
		}
		for _, list := range w.telling {
			sort.Slice(list, func(i, j int) bool { return list[i].from < list[j].from })
		}
	}
	list := w.telling[h.reading]
	k := sort.Search(len(list), func(k int) bool { return list[k].from >= h.line.start })
	return k < len(list) && list[k].from < h.line.end || k > 0 && list[k-1].to > h.line.start
}

// span is a stretch of a text.
type span struct{ from, to int }

// opens reports whether a message begins at offset i: at the start of a line,
// behind its labels, after a colon, a quote or a bracket. The level is that of
// the line.
func (r *reading) opens(i int) (bool, severity) {
	t := r.m.text
	level := levelNone
	_, message, l := r.lineOf(i)
	level = l.level
	if i <= message {
		return true, level
	}
	if i == 0 || t[i-1] == '\n' {
		return true, level
	}
	k := i
	for k > 0 && t[k-1] == ' ' {
		k--
	}
	if k == 0 {
		return true, level
	}
	switch t[k-1] {
	case '\n', '|', '>':
		return true, level
	case ':', ';', ']', ')', '.', '!', '-', '=':
		return k < i || t[k-1] == ':' || t[k-1] == '=', level
	case '"', '\'', '`', '(', '[', '{', '*', '_':
		return k == i, level
	}
	if isDigit(t[k-1]) && k < i {
		// "General error: 1614 message"
		for k > 0 && isDigit(t[k-1]) {
			k--
		}
		return k > 1 && t[k-1] == ' ' && t[k-2] == ':', level
	}
	return false, level
}

// lineOf is the line that offset i came from, and where it and its message
// begin in the text of the reading.
func (r *reading) lineOf(i int) (start, message int, l *line) {
	if !r.joined {
		l = r.lineAt(i)
		return l.body, l.message, l
	}
	k := sort.Search(len(r.places), func(k int) bool { return r.places[k].at > i }) - 1
	p := &r.places[max(k, 0)]
	return p.at, p.at + max(p.line.message-p.body, 0), &p.line
}

// lineAt is the line that holds offset i.
func (r *reading) lineAt(i int) *line {
	k := sort.Search(len(r.lines), func(k int) bool { return r.lines[k].start > i }) - 1
	return &r.lines[max(k, 0)]
}

// closes reports whether a message ends at offset i: the line ends, or a quote
// or bracket closes, or a sentence ends.
func closes(t []byte, i int) bool {
	rest := t[i:min(len(t), i+8)]
	if len(rest) > 1 && rest[0] == '<' && (rest[1] == '/' || rest[1] == 'b') {
		return true // of an HTML element
	}
	if len(rest) > 0 && bytes.IndexByte([]byte("\"'`)]}"), rest[0]) >= 0 {
		return len(rest) == 1 || !isWord(rest[1])
	}
	rest = bytes.TrimLeft(rest, "*_,;.!")
	if len(rest) > 2 && rest[0] == ' ' && rest[1] == '(' && isWord(rest[2]) {
		return true // something is added: "(SQL: …)"
	}
	if len(rest) == 0 || rest[0] == '\n' {
		return true
	}
	return rest[0] == ' ' && i > 0 && bytes.IndexByte([]byte(".;!\"'`)]}"), t[i+min(len(t)-i, 8)-len(rest)-1]) >= 0
}

// goesOn reports whether another sentence follows a message that ends at offset i
// in the same line.
func goesOn(t []byte, i int) bool {
	rest := t[i:lineEndOf(t, i)]
	rest = bytes.TrimLeft(rest, ".!")
	return len(rest) > 1 && rest[0] == ' ' && isLetter(rest[1])
}

// runsOn reports whether the sentence that a message stands in goes on behind its
// end at offset i: with a word, a value or a reason.
func runsOn(t []byte, i int) bool {
	rest := t[i:lineEndOf(t, i)]
	if len(rest) > 2 && rest[0] == ':' {
		rest = rest[1:]
	}
	return len(rest) > 1 && rest[0] == ' ' && rest[1] != ' ' && rest[1] != '-' && rest[1] != '|'
}

// Weight is the raw score of a record that was found in a text. Confidence is a
// monotone function of it, fitted by the program in eval/calibrate.
type Weight struct {
	ID    string
	Score float64
}

// Weights are the raw scores of everything found in a text that nothing else
// explains, best first; one for each record.
func (e *Engine) Weights(ctx context.Context, text []byte) []Weight {
	w := e.newWork(ctx, text, 0)
	defer w.release()
	w.search()
	var out []Weight
	for _, g := range w.tally.ranked(w.roleRank) {
		out = append(out, Weight{ID: e.entries[g.entry].Ref.ID, Score: g.score})
	}
	return out
}
