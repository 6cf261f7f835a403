package diagnose

import "bytes"

// reading is one way to read the input, or a part of it: its lines without
// their prefixes, the same lines joined where they may have been wrapped, or
// the content of a string inside it.
type reading struct {
	m         *mapped
	lines     []line  // of m.text; for a joined reading, of the text it was made from
	joints    []joint // where lines were joined, ascending; empty for a reading of lines
	depth     int     // how many levels of escapes were undone
	enclosed  bool    // the content of a quoted string, whole
	joined    bool
	unwrapped bool     // made of lines that were put together because they were wrapped
	base      *reading // for a joined reading: the lines it was made of
	places    []place  // for a joined reading: where its lines begin
	pieces    *pieces  // of messages in it, as far as they were looked for
}

// isLong reports whether lines of the input were put together.
func (r *reading) isLong() bool { return r.joined || r.unwrapped }

// joint is a place where two lines were put together.
type joint struct {
	at      int  // offset of the blank between them, or of the first byte of the second
	strong  bool // the lines do not look like one: blank line between, a new time, a level
	stamped bool // the second line begins with a time
}

// place is where a line begins in a joined reading.
type place struct {
	at   int
	line line
	body int // in the text of the lines: what stands at at
}

// Limits of joining: a message of a hundred lines is a document.
const (
	maxJoinLines = 64
	maxJoinBytes = 8 << 10
	minWrapWidth = 20 // nobody wraps narrower than this
)

// read adds the readings of a text to the work: lines, joined lines, strings
// inside. It is called again for each string, up to three levels deep.
func (w *work) read(m *mapped, depth int, enclosed bool) {
	if len(m.text) == 0 {
		return
	}
	undone, lines, whole := undoneLines(m)
	var long *mapped
	if !w.unwrapped && undone == whole {
		long = w.undoWraps(undone, lines, depth)
	}
	base := newReading(undone, lines, depth, enclosed)
	base.unwrapped = w.unwrapped
	w.texts = append(w.texts, base)
	if len(base.lines) > 1 {
		if j := w.joinLines(base.m, base.lines); j != nil {
			j.depth, j.base, j.unwrapped = depth, base, w.unwrapped
			w.texts = append(w.texts, j)
		}
	}
	if depth < maxEscapes && !w.late() {
		w.readStrings(whole, depth)
	}
	if long != nil && !w.late() {
		w.unwrapped = true
		w.read(long, depth, enclosed)
		w.unwrapped = false
	}
}

// readLines is the reading of the lines of a text.
func readLines(m *mapped, depth int, enclosed bool) *reading {
	m, lines, _ := undoneLines(m)
	return newReading(m, lines, depth, enclosed)
}

// newReading is the reading of the lines of a text without their prefixes.
func newReading(m *mapped, lines []line, depth int, enclosed bool) *reading {
	r := m.arena.readings.one()
	r.m, r.lines = dropPrefixes(m, lines)
	r.depth, r.enclosed = depth, enclosed
	return r
}

// undoneLines is a text with all undone but prefixes and wraps, its lines, and the same
// text without the line ends that were put into lines too long to be read.
func undoneLines(m *mapped) (undone *mapped, lines []line, whole *mapped) {
	normal := normalize(m)
	broken := breakLines(normal)
	undone = undoSpace(broken)
	whole = undone
	if broken != normal {
		whole = undoSpace(normal)
	}
	lines = splitLines(undone)
	setWidths(lines, undone.text, broken.text)
	return undone, lines, whole
}

// setWidths measures every line of a text, before blanks were squeezed. The right side
// of a box, and what stands before it to reach that, is no part of its width.
func setWidths(lines []line, squeezed, text []byte) {
	ascii := isASCII(text)
	for i := range lines {
		l := &lines[i]
		end, next := lineEndOf(text, 0), len(squeezed)
		if i+1 < len(lines) {
			next = lines[i+1].start - 1
		}
		t := text[:end]
		l.gapped = end > 0 && t[end-1] == ' '
		for l.end < next && len(t) > 0 {
			n := boxSuffix(t)
			if n == 0 {
				break
			}
			t = t[:len(t)-n]
		}
		l.width = len(t)
		if !ascii {
			l.width = characters(t)
		}
		if l.indented {
			l.indent = skipBlank(t, 0, len(t))
		}
		text = text[min(end+1, len(text)):]
	}
}

func characters(t []byte) int {
	n := 0
	for _, c := range t {
		if c&0xc0 != 0x80 {
			n++
		}
	}
	return n
}

// dropPrefixes is the text without the furniture at the sides of its lines.
func dropPrefixes(m *mapped, lines []line) (*mapped, []line) {
	dropped := false
	for i := range lines {
		l := &lines[i]
		next := len(m.text)
		if i+1 < len(lines) {
			next = lines[i+1].start - 1
		}
		dropped = dropped || l.body > l.start || l.end < next
	}
	if !dropped {
		return m, lines
	}
	b := newBuilder(m)
	for i := range lines {
		l := &lines[i]
		lineEnd, next := len(m.text), len(m.text)
		if i+1 < len(lines) {
			next = lines[i+1].start
			lineEnd = next - 1
		}
		if l.body > l.start {
			kind := layerPrefix
			if l.layers&(1<<layerQuote) != 0 {
				kind = layerQuote
			}
			b.replace(l.start, l.body, "", kind)
		}
		start, size := len(b.text), l.end-l.body
		if l.end < lineEnd {
			b.copy(l.body, l.end)
			b.replace(l.end, lineEnd, "", layerQuote)
			b.copy(lineEnd, next)
		} else {
			b.copy(l.body, next)
		}
		l.start, l.body, l.message, l.end = start, start, start+l.message-l.body, start+size
	}
	return b.mapped(), lines
}

// joinLines puts lines together that may be one message: everything but where
// a stack frame or a fence stands, in stretches of bounded size that are kept
// apart by line ends.
func (w *work) joinLines(m *mapped, lines []line) *reading {
	b := newBuilder(m)
	r := m.arena.readings.one()
	r.lines, r.joined = lines, true
	for i := 0; i < len(lines); {
		n := stretch(lines[i:])
		if n > 1 {
			if len(b.text) > 0 {
				b.replace(lines[i].body, lines[i].body, "\n", layerWrap)
			}
			w.joinStretch(b, r, m, lines[i:i+n])
		}
		i += max(n, 1)
	}
	if len(r.joints) == 0 {
		return nil
	}
	r.m = b.mapped()
	return r
}

// stretch is how many of the first lines may belong together.
func stretch(lines []line) int {
	size := 0
	for i, l := range lines {
		if l.frame || l.fence || i >= maxJoinLines || size >= maxJoinBytes {
			return i
		}
		size += l.end - l.body
	}
	return len(lines)
}

// joinStretch joins lines, the blank ones left out.
func (w *work) joinStretch(b *builder, r *reading, m *mapped, lines []line) {
	width := widest(lines)
	prev := -1
	labelled := line{} // the last line that had labels
	blank := false
	for i, l := range lines {
		if l.message >= l.end {
			blank = blank || prev >= 0
			continue
		}
		from := l.body
		if prev >= 0 {
			p := lines[prev]
			n := 0
			if l.message > l.body {
				n = sameLabels(m.text[labelled.body:labelled.end], m.text[l.body:l.end])
			}
			from += n
			j := joint{at: len(b.text), stamped: l.stamped}
			j.strong = blank || n == 0 && l.message > l.body && l.level > levelNone
			with := " "
			if !j.strong && !p.gapped && !l.indented && w.splitsWord(m.text[p.body:p.end], m.text[from:l.end], p.width == width) {
				with = ""
			}
			r.joints = append(m.arena.joints.grow(r.joints), j)
			b.replace(p.end, from, with, layerWrap)
		}
		if l.message > l.body {
			labelled = l
		}
		r.places = append(m.arena.places.grow(r.places), place{at: len(b.text), line: l, body: from})
		b.copy(from, l.end)
		prev = i
		blank = false
	}
}

// meeting is the word at the end of a line and the one at the start of the next.
func meeting(a, b []byte) (left, right []byte) {
	i := len(a)
	for i > 0 && isWord(a[i-1]) {
		i--
	}
	j := 0
	for j < len(b) && isWord(b[j]) {
		j++
	}
	return a[i:], b[:j]
}

// splitsWord reports whether the end of a line and the start of the next are two halves
// of one word. The words of the messages decide. Where they do not know, it is one behind
// the widest line if it stands in quotes or brackets: names seldom hold blanks.
func (w *work) splitsWord(a, b []byte, widest bool) bool {
	left, right := meeting(a, b)
	if len(left) == 0 || len(right) == 0 || len(left) > maxTableWord || len(right) > maxTableWord {
		return widest && isOneName(a, b)
	}
	words := w.engine.words
	one := len(left)+len(right) <= maxTableWord && words.hasBoth(left, right)
	if !one && !(widest && isOneName(a, b)) {
		return false
	}
	return !(words.has(lower(left)) && words.has(lower(right)))
}

// isOneName reports whether quotes or brackets open before the end of a and close behind
// the start of b, without a blank between.
func isOneName(a, b []byte) bool {
	if len(a) == 0 || bytes.IndexByte([]byte(",;:.!?"), a[len(a)-1]) >= 0 {
		return false
	}
	for i := len(a) - 1; i >= 0 && a[i] != ' '; i-- {
		closing := a[i]
		switch closing {
		case '(':
			closing = ')'
		case '\'', '"', '`':
			if i > 0 && a[i-1] != ' ' && a[i-1] != '(' && a[i-1] != '[' {
				continue // it closes
			}
		default:
			continue
		}
		for _, c := range b {
			if c == closing {
				return true
			}
			if c == ' ' {
				break
			}
		}
	}
	return false
}

// sameLabels is the length of the labels that two lines have in common, with
// the blank after them: "hint: " on each line of one message.
func sameLabels(a, b []byte) int {
	n := 0
	for {
		k, level := labelLen(b[n:])
		if k == 0 || k <= 4 && level == levelNone || // a bullet belongs to the text
			n+k > len(a) || string(a[n:n+k]) != string(b[n:n+k]) {
			return n
		}
		n = skipBlank(b, n+k, len(b))
		if n >= len(a) || string(a[:n]) != string(b[:n]) {
			return n
		}
	}
}
