package diagnose

import "bytes"

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
	places   []place  // for a joined reading: where its lines begin
	pieces   *pieces  // of messages in it, as far as they were looked for
}

// joint is a place where two lines were put together.
type joint struct {
	at      int  // offset of the blank between them, or of the first byte of the second
	strong  bool // the lines do not look like one: blank line between, a new time, a level
	stamped bool // the second line begins with a time
	full    bool // the first line was as long as it could be: a value may go on
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
	base, whole := readLines(m, depth, enclosed)
	w.texts = append(w.texts, base)
	if len(base.lines) > 1 {
		if j := w.joinLines(base.m, base.lines); j != nil {
			j.depth, j.base = depth, base
			w.texts = append(w.texts, j)
		}
	}
	if depth < maxEscapes && !w.late() {
		w.readStrings(whole, depth)
	}
}

// readLines is the reading of the lines of a text, and the text with its prefixes
// and its long lines.
func readLines(m *mapped, depth int, enclosed bool) (base *reading, whole *mapped) {
	normal := normalize(m)
	broken := breakLines(normal)
	m = undoSpace(broken)
	plain, lines := dropPrefixes(m, splitLines(m))
	setWidths(lines, broken.text)
	whole = m
	if broken != normal {
		whole = undoSpace(normal) // strings may be longer than a line that can be read
	}
	base = m.arena.readings.one()
	base.m, base.lines, base.depth, base.enclosed = plain, lines, depth, enclosed
	return base, whole
}

// setWidths counts the characters of every line of a text, before blanks were
// squeezed.
func setWidths(lines []line, text []byte) {
	ascii := isASCII(text)
	for i := range lines {
		end := lineEndOf(text, 0)
		lines[i].width = end
		if !ascii {
			lines[i].width = characters(text[:end])
		}
		lines[i].gapped = end > 0 && text[end-1] == ' '
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

// fullLines says of each line whether it may have been as long as it could be, how
// wide the widest one is, and whether lines were cut at that column.
func fullLines(a *arena, t []byte, lines []line) (full []bool, width int, cutAt bool) {
	for _, l := range lines {
		width = max(width, l.width)
	}
	full = a.flags.take(len(lines))[:len(lines)] // the next word did not fit behind the line
	for i := range full {
		full[i] = false
	}
	exact, hard, soft, joints := 0, 0, 0, 0
	for i := 0; i+1 < len(lines); i++ {
		l, next := &lines[i], &lines[i+1]
		if l.message >= l.end || next.message >= next.end {
			continue
		}
		joints++
		if next.stamped || next.layers&^l.layers != 0 || next.message > next.body && next.level > levelNone {
			continue // a line of its own
		}
		full[i] = l.width+1+firstWord(t[next.body:next.end]) > width
		if full[i] {
			soft++
		}
		if l.width >= width-1 {
			hard++ // a blank at the column may be gone
		}
		if l.width == width {
			exact++
		}
	}
	// Lines cut at a column are all as long as the longest; lines broken at
	// blanks are so long that the next word did not fit, and seldom only two.
	cutAt = width >= minWrapWidth && 10*hard >= 9*soft && 2*exact >= hard && (hard >= 2 || hard == 1 && isScreenWidth(width))
	broken := soft >= 2 && 4*soft >= 3*joints
	for i := range full {
		alone := !broken && (i == 0 || !full[i-1]) && (i+1 == len(full) || !full[i+1])
		full[i] = full[i] && width >= minWrapWidth && !(alone && !(cutAt && hard >= 2 && lines[i].width >= width-1))
	}
	return full, width, cutAt
}

// joinStretch joins lines, the blank ones left out.
func (w *work) joinStretch(b *builder, r *reading, m *mapped, lines []line) {
	full, width, cutAt := fullLines(m.arena, m.text, lines)
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
			// Programs that draw boxes and quote marks wrap at blanks; a terminal that
			// cuts at a column repeats no mark.
			column := cutAt && p.width >= width-1 && l.layers&(1<<layerQuote) == 0
			j.full = !j.strong && !l.stamped && prev == i-1 && full[prev]
			with := " "
			if !j.strong && !p.gapped && !l.indented &&
				w.splitsWord(m.text[p.body:p.end], m.text[from:l.end], column && p.width == width && !p.gapped) {
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

// firstWord is the length of the first word of a line.
func firstWord(t []byte) int {
	if i := bytes.IndexByte(t, ' '); i >= 0 {
		return i
	}
	return len(t)
}

// isScreenWidth reports whether terminals and log viewers are that wide.
func isScreenWidth(n int) bool {
	switch n {
	case 72, 76, 78, 79, 80, 100, 120, 132, 160, 200:
		return true
	}
	return false
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

// splitsWord reports whether the end of a line and the start of the next are
// two halves of one word. The words of the messages decide; where they do not
// know, it is one word when the line was cut at a column.
func (w *work) splitsWord(a, b []byte, column bool) bool {
	a, b = meeting(a, b)
	if len(a) == 0 || len(b) == 0 {
		return column
	}
	if len(a) > maxTableWord || len(b) > maxTableWord {
		return column
	}
	words := w.engine.words
	one := len(a)+len(b) <= maxTableWord && words.hasBoth(a, b)
	if one == column {
		return one
	}
	return !(words.has(lower(a)) && words.has(lower(b)))
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
