package diagnose

import (
	"bytes"
	"sort"

	"errorkb/internal/pattern"
)

// hit is one message found in one reading.
type hit struct {
	owner    int // index into Engine.owners; -1 for a code
	entry    int
	reading  *reading
	start    int // in the text of the reading
	end      int
	captures []pattern.Capture
	kind     Kind
	from, to int // in the input
	literal  int // bytes of literal text
	worth    float64
	extended bool    // a value at an end goes on over wrapped lines
	share    float64 // of the message that is there; 1 unless it was cut
	retyped  bool    // it is there with other quotes, capitals or blanks
	score    float64
	starts   bool // nothing but labels stands before it in its line or sentence
	ends     bool // nothing stands behind it in its line or sentence
	level    severity
	code     bool   // its code stands in the text
	beside   beside // what stands before it and says whose message it is
	several  bool   // several messages have its code, or begin like it, and nothing tells which
	// Of a code that stands alone:
	line    *line
	mention string        // the code
	given   []CaptureSpan // values that came with it, without a place of their own
	twin    bool          // explained by one with the very same words
	folded  bool          // explained by another hit
	why     string
	follows bool    // it only says that something before it failed
	aside   bool    // it stands behind the label of a detail or a hint
	coded   float64 // score if its code stands elsewhere; of an entry that was read the short way
}

// maxHits bounds what one text can bring up; beyond it the answer is partial.
const maxHits = 200_000

// find lays the patterns on a reading.
func (w *work) find(r *reading) {
	if w.late() {
		return
	}
	if w.visit == nil {
		w.visit = w.visitMatch
	}
	w.finding, w.found = r, 0
	w.engine.index.Find(r.m.text, w.visit)
}

// visitMatch keeps a match in the reading that patterns are laid on, and reports
// whether to go on.
func (w *work) visitMatch(id int, m pattern.Match) bool {
	w.found++
	if w.found&0xff == 0 && w.late() {
		return false
	}
	if len(w.hits) >= maxHits {
		w.partial = true
		return false
	}
	w.addMatch(w.finding, id, m)
	return true
}

// addMatch keeps a match in a reading.
func (w *work) addMatch(r *reading, id int, m pattern.Match) {
	o := &w.engine.owners[id]
	h := hit{
		owner: id, entry: o.entry, reading: r,
		start: m.Start, end: m.End, captures: m.Captures, share: 1, worth: o.worth,
	}
	if r.joined && !r.settleJoined(&h) {
		return
	}
	r.trim(&h)
	w.trimCell(&h)
	if r.unwrapped && !r.settleUnwrapped(&h) {
		return
	}
	w.add(h, o.historic)
}

// settleUnwrapped reports whether a match in wrapped lines goes over several of them, or
// stands in a string that does.
func (r *reading) settleUnwrapped(h *hit) bool {
	if !r.enclosed && !r.m.isWrapped(h.start, h.end) {
		return false
	}
	for _, c := range h.captures {
		h.extended = h.extended || (c.Start == h.start || c.End == h.end) && r.m.isWrapped(c.Start, c.End)
	}
	return true
}

// add finishes a hit and keeps it.
func (w *work) add(h hit, historic bool) {
	m := h.reading.m
	h.from, h.to = m.span(h.start, h.end)
	h.literal = h.end - h.start
	for _, c := range h.captures {
		h.literal -= c.End - c.Start
	}
	if t := m.text; h.end > h.start && h.end < len(t) && t[h.end-1] == '.' && isWord(t[h.end]) {
		h.literal-- // no full stop, but one in a value
	}
	if h.kind == "" {
		switch {
		case historic:
			h.kind = KindHistoric
		case m.undone(h.start, h.end)&^(1<<layerSpace) != 0:
			h.kind = KindNormalized
		default:
			h.kind = KindExact
		}
	}
	w.hits = append(w.hits, h)
}

// settleJoined decides whether a match in joined lines is one: it has to go
// over a joint with its literal text, and its values must not go over many.
func (r *reading) settleJoined(h *hit) bool {
	// Values at the outer ends stay on their own line.
	if n := len(h.captures); n > 0 {
		if c := &h.captures[0]; c.Start == h.start {
			if j := r.lastJoint(c.Start, c.End); j >= 0 {
				h.start = r.after(j)
				c.Start = h.start
			}
		}
		if c := &h.captures[n-1]; c.End == h.end {
			if j := r.lastJoint(h.start, c.Start); j >= 0 && r.after(j) == c.Start && j == r.firstJoint(h.start, c.Start) && r.apart(j, c) {
				// The message ends with its line: the value is empty.
				c.Start, c.End, h.end = r.joints[j].at, r.joints[j].at, r.joints[j].at
				return c.Start > h.start
			}
			if j := r.firstJoint(c.Start, c.End); j >= 0 {
				c.End = r.joints[j].at
				h.end = c.End
			}
		}
	}
	crossed := 0
	for j := r.firstJoint(h.start, h.end); j >= 0 && j < len(r.joints) && r.joints[j].at < h.end; j++ {
		if r.joints[j].at > h.start {
			crossed++
		}
	}
	if crossed == 0 {
		return false
	}
	for i := range h.captures {
		c := &h.captures[i]
		inside := 0
		for j := r.firstJoint(c.Start, c.End); j >= 0 && j < len(r.joints) && r.joints[j].at < c.End; j++ {
			if r.joints[j].strong {
				return false
			}
			inside++
		}
		if inside > 8 || inside > 0 && c.End-c.Start > 600 {
			return false
		}
	}
	return true
}

// apart reports whether the line that begins at joint j does not go on with the value
// that it would be: it is an entry of its own, or several words.
func (r *reading) apart(j int, c *pattern.Capture) bool {
	k := &r.joints[j]
	if k.strong || k.stamped {
		return true
	}
	end := c.End
	if next := r.firstJoint(c.Start, c.End); next >= 0 {
		end = r.joints[next].at
	}
	return bytes.IndexByte(r.m.text[c.Start:end], ' ') >= 0
}

// firstJoint is the first joint in text[from:to], -1 if there is none.
func (r *reading) firstJoint(from, to int) int {
	lo, hi := 0, len(r.joints)
	for lo < hi {
		mid := (lo + hi) / 2
		if r.joints[mid].at < from {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(r.joints) && r.joints[lo].at < to {
		return lo
	}
	return -1
}

func (r *reading) lastJoint(from, to int) int {
	j := r.firstJoint(from, to)
	if j < 0 {
		return -1
	}
	for j+1 < len(r.joints) && r.joints[j+1].at < to {
		j++
	}
	return j
}

// after is the offset of the first byte behind joint j.
func (r *reading) after(j int) int {
	at := r.joints[j].at
	if at < len(r.m.text) && r.m.text[at] == ' ' {
		at++
	}
	return at
}

// trim takes off the ends of values what a person would not count to them.
func (r *reading) trim(h *hit) {
	n := len(h.captures)
	if n == 0 {
		return
	}
	t := r.m.text
	if c := &h.captures[0]; c.Start == h.start {
		// The labels of the line are no part of a value.
		if body, message, _ := r.lineOf(h.start); c.Start < message {
			if at := body + labelsLen(t[body:c.End]); c.Start < at {
				c.Start, h.start = at, at
			}
		}
		// Nor is the number of the error.
		if k := digits(t, c.Start); k > c.Start && k < c.End && t[k] == ' ' && isNumberedError(t, c.Start, k) {
			c.Start, h.start = k+1, k+1
		}
		if n := openingTag(t[c.Start:c.End]); n > 0 {
			c.Start, h.start = c.Start+n, h.start+n
		}
	}
	if c := &h.captures[n-1]; c.End == h.end {
		// Emphasis that was opened before the message closes behind it.
		start, _, _ := r.lineOf(h.start)
		if k := bytes.Index(t[c.Start:c.End], []byte("**")); k >= 0 && bytes.Count(t[start:h.start], []byte("**"))%2 == 1 {
			c.End = c.Start + k
		}
		// So does the element of a page that it stands in.
		if k := closingTag(t[start:h.start], t[c.Start:c.End]); k >= 0 {
			c.End = c.Start + k
		}
		if k := markupEnd(t[c.Start:c.End]); k > 0 {
			c.End = c.Start + k
		}
		// So do the fields of a logger.
		if k := bytes.Index(t[c.Start:c.End], []byte(` {"`)); k > 0 && t[c.End-1] == '}' {
			c.End = c.Start + k
		}
		// So does the statement that a library adds.
		for _, added := range [...]string{" (SQL: ", " (SQLSTATE"} {
			if k := bytes.LastIndex(t[c.Start:c.End], []byte(added)); k >= 0 && t[c.End-1] == ')' {
				c.End = c.Start + k
			}
		}
		// So does the class in brackets that Ruby puts there, and the reason behind an
		// address.
		if k := classBehind(t[c.Start:c.End]); k >= 0 {
			c.End = c.Start + k
		}
		if k := reasonBehind(t[h.start:c.End], c.Start-h.start); k > 0 {
			c.End = c.Start + k
		}
		// Another script's punctuation glued to the end is not the program's.
		if k := wideStop(t[c.Start:c.End]); k >= 0 {
			c.End = c.Start + k
		}
		for c.End > c.Start {
			last := t[c.End-1]
			if last == ' ' || last == '\n' || last == '*' && bytes.Count(t[c.Start:c.End], []byte{'*'})%2 == 1 {
				c.End--
				continue
			}
			break
		}
		h.end = c.End
	}
}

// classBehind is the offset in a value of the class in brackets that it ends with,
// "… (ActiveRecord::StatementInvalid)", -1 if there is none.
func classBehind(value []byte) int {
	k := bytes.LastIndex(value, []byte(" ("))
	if k <= 0 || value[len(value)-1] != ')' {
		return -1
	}
	name := value[k+2 : len(value)-1]
	if !isClass(name) && !(bytes.Contains(name, []byte("::")) && isPath(name)) {
		return -1
	}
	return k
}

// isPath reports whether names with two colons between them are all there is.
func isPath(t []byte) bool {
	for _, c := range t {
		if !isWord(c) && c != ':' {
			return false
		}
	}
	return len(t) > 0 && t[0] >= 'A' && t[0] <= 'Z'
}

// reasonBehind is the length of the address or path that the last value of a message
// begins with, where a word introduces it and a reason follows it: "at
// unix:///var/run/docker.sock: Get …". It is 0 where there is none. The value begins
// at from.
func reasonBehind(message []byte, from int) int {
	if from < 2 || message[from-1] != ' ' || !isLetter(message[from-2]) {
		return 0
	}
	value := message[from:]
	k := bytes.Index(value, []byte(": "))
	if k <= 0 || bytes.IndexByte(value[:k], ' ') >= 0 {
		return 0
	}
	if kind := kindOfValue(value[:k]); kind != "url" && kind != "path" {
		return 0
	}
	return k
}

// trimCell keeps the values at the ends of a message in their column, where a tab
// stands in the input, or three blanks before the first one.
func (w *work) trimCell(h *hit) {
	n := len(h.captures)
	if n == 0 {
		return
	}
	if c := &h.captures[0]; c.Start == h.start && c.End > c.Start {
		from, to := h.reading.m.span(c.Start, c.End)
		k := max(bytes.LastIndexByte(w.input[from:to], '\t'), lastColumn(w.input[from:to]))
		if k >= 0 && from+k+1 < to {
			if at := h.reading.find(from + k + 1); at >= c.Start && at < c.End {
				c.Start, h.start = at, at
			}
		}
	}
	if h.captures[n-1].End != h.end || h.captures[n-1].Start == h.end {
		return
	}
	c := &h.captures[n-1]
	from, to := h.reading.m.span(c.Start, c.End)
	k := bytes.IndexByte(w.input[from:to], '\t')
	if k <= 0 {
		return
	}
	if at := h.reading.find(from + k - 1); at >= c.Start && at < c.End {
		c.End, h.end = at+1, at+1
	}
}

// lastColumn is the offset of the last of three blanks that a column stands behind,
// -1 where there are none.
func lastColumn(t []byte) int {
	if k := bytes.LastIndex(t, []byte("   ")); k >= 0 {
		return k + 2
	}
	return -1
}

// openingTag is the length of the tag of a page that a value begins with.
func openingTag(value []byte) int {
	for _, tag := range [...]string{"<pre>", "<code>", "<p>", "<b>", "<td>", "<li>", "<h1>", "<div>", "<span>"} {
		if bytes.HasPrefix(value, []byte(tag)) {
			return len(tag)
		}
	}
	return 0
}

// closingTag is the offset in a value of the tag that closes the element which was
// opened last before its message, -1 if there is none.
func closingTag(before, value []byte) int {
	if len(before) == 0 || before[len(before)-1] != '>' {
		return -1
	}
	k := bytes.LastIndexByte(before, '<')
	if k < 0 {
		return -1
	}
	n := k + 1
	for n < len(before) && isWord(before[n]) {
		n++
	}
	return bytes.Index(value, []byte("</"+string(before[k+1:n])+">"))
}

// markupEnd is the offset in a value of the first line break or end of an element of a
// page, -1 when an element begins in the value before it.
func markupEnd(value []byte) int {
	k := bytes.IndexByte(value, '<')
	if k < 0 || k+2 >= len(value) || !(value[k+1] == '/' && isLetter(value[k+2]) || bytes.HasPrefix(value[k:], []byte("<br"))) {
		return -1
	}
	return k
}

// wideStop is the offset of the first full-width punctuation mark, -1 if there
// is none.
func wideStop(t []byte) int {
	for i := 0; i+2 < len(t); i++ {
		if t[i] != 0xef && t[i] != 0xe3 {
			continue
		}
		r, n := decodeRune(t[i:])
		if n != 3 {
			continue
		}
		switch r {
		case '\uff0c', '\uff1a', '\uff1b', '\uff1f', '\uff01', '\uff09', '\u3002', '\u3001':
			return i
		}
	}
	return -1
}

// find is the offset in the text of the reading that stands for an offset of the
// input, -1 when there is none.
func (r *reading) find(from int) int {
	runs := r.m.runs
	k := sort.Search(len(runs), func(k int) bool { return runs[k].to > from })
	for ; k < len(runs) && runs[k].from <= from; k++ {
		if runs[k].copied && from < runs[k].to {
			return runs[k].at + from - runs[k].from
		}
	}
	return -1
}
