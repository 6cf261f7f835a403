package diagnose

// reading is one way to read the input, or a part of it: its lines without
// their prefixes, the same lines joined where they may have been wrapped, or
// the content of a string inside it.
type reading struct {
	m        *mapped
	lines    []line  // of m.text; for a joined reading, of the text it was made from
	joints   []joint // where lines were joined, ascending; empty for a reading of lines
	depth    int     // how many levels of escapes were undone
	enclosed bool    // the content of a quoted string, whole
	joined   bool
	base     *reading // for a joined reading: the lines it was made of
}

// joint is a place where two lines were put together.
type joint struct {
	at     int  // offset of the blank between them, or of the first byte of the second
	strong bool // the lines do not look like one: blank line between, a new time, a level
}

// Limits of joining: a message of a hundred lines is a document.
const (
	maxJoinLines = 64
	maxJoinBytes = 8 << 10
)

// read adds the readings of a text to the work: lines, joined lines, strings
// inside. It is called again for each string, up to three levels deep.
func (w *work) read(m *mapped, depth int, enclosed bool) {
	if len(m.text) == 0 {
		return
	}
	m = undoSpace(normalize(m))
	raw := splitLines(m.text)
	plain, lines := dropPrefixes(m, raw)
	base := &reading{m: plain, lines: lines, depth: depth, enclosed: enclosed}
	w.texts = append(w.texts, base)
	if len(lines) > 1 {
		if j := joinLines(plain, lines); j != nil {
			j.depth, j.base = depth, base
			w.texts = append(w.texts, j)
		}
	}
	if depth < maxEscapes && !w.late() {
		w.readStrings(m, depth)
	}
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
	out := make([]line, len(lines))
	for i, l := range lines {
		lineEnd := len(m.text)
		if i+1 < len(lines) {
			lineEnd = lines[i+1].start - 1
		}
		if l.body > l.start {
			kind := layerPrefix
			if l.layers&(1<<layerQuote) != 0 {
				kind = layerQuote
			}
			b.replace(l.start, l.body, "", kind)
		}
		o := l
		o.start, o.body = len(b.text), len(b.text)
		o.message = o.start + l.message - l.body
		b.copy(l.body, l.end)
		o.end = len(b.text)
		if l.end < lineEnd {
			b.replace(l.end, lineEnd, "", layerQuote)
		}
		if i+1 < len(lines) {
			b.copy(lineEnd, lineEnd+1)
		}
		out[i] = o
	}
	return b.mapped(), out
}

// joinLines puts lines together that may be one message: everything but where
// a stack frame or a fence stands, in stretches of bounded size that are kept
// apart by line ends.
func joinLines(m *mapped, lines []line) *reading {
	b := newBuilder(m)
	r := &reading{lines: lines, joined: true}
	count, size := 0, 0
	prev := -1 // the last line that was taken
	blank := false
	for i, l := range lines {
		if l.end == l.body {
			blank = true
			continue
		}
		if l.frame || l.fence {
			prev = -1
			blank = false
			continue
		}
		from := l.body
		if prev >= 0 {
			if count >= maxJoinLines || size >= maxJoinBytes {
				prev = -1
			}
		}
		if prev < 0 {
			if len(b.text) > 0 {
				b.replace(l.body, l.body, "\n", layerWrap)
			}
			count, size = 0, 0
		} else {
			p := lines[prev]
			n := sameLabels(m.text[p.body:p.end], m.text[l.body:l.end])
			from += n
			labelled := n == 0 && l.message > l.body && l.level > levelNone
			r.joints = append(r.joints, joint{at: len(b.text), strong: blank || labelled})
			b.replace(p.end, from, " ", layerWrap)
		}
		b.copy(from, l.end)
		count++
		size += l.end - from
		prev = i
		blank = false
	}
	if len(r.joints) == 0 {
		return nil
	}
	r.m = b.mapped()
	return r
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
