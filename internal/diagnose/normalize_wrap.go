package diagnose

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// wrap says how a line goes on in the next one.
type wrap uint8

const (
	notWrapped      wrap = iota
	wrappedAtColumn      // cut wherever the column was reached
	wrappedAtBlank       // broken at a blank, which is gone
)

// undoWraps is the text of lines that something wrapped, put together again; nil when
// nothing says that they were. The lines still have their prefixes.
func (w *work) undoWraps(m *mapped, lines []line, depth int) *mapped {
	if len(lines) < 2 {
		return nil
	}
	wraps := w.arena.wraps.take(len(lines))[:len(lines)]
	found := w.findWraps(m.text, lines, wraps, true)
	if depth == 0 && !w.large && !slices.Contains(wraps, wrappedAtColumn) && m.isTouched() {
		// What cut it may have counted what is undone now, or two for what is wide.
		again := w.arena.wraps.take(len(lines))[:len(lines)]
		for _, measure := range [...]func(t []byte) int{characters, cells} {
			if measureAgain(m, lines, w.input, measure) && w.findWraps(m.text, lines, again, false) {
				found, wraps = true, again
				break
			}
		}
	}
	if !found {
		return nil
	}
	b := newBuilder(m)
	from := 0
	for i := range lines[:len(lines)-1] {
		l, next := &lines[i], &lines[i+1]
		if wraps[i] == notWrapped {
			continue
		}
		start, with := next.start, ""
		switch {
		case next.layers&l.layers != 0:
			start = next.body + sameLabels(m.text[l.body:l.end], m.text[next.body:next.end])
			if wraps[i] == wrappedAtColumn && w.wordsAt(m.text, l, next, start) > 0 {
				with = " " // it was lost among those behind the prefix
			}
		case wraps[i] == wrappedAtBlank || next.indent > 1:
			start = skipBlank(m.text, start, next.end)
		}
		if wraps[i] == wrappedAtBlank || l.gapped || l.trimmed || l.indent > 1 && next.indent == l.indent+1 {
			with = " "
		}
		if with == " " && m.text[start] == ' ' {
			with = ""
		}
		b.copy(from, l.end)
		b.replace(l.end, start, with, layerWrap)
		from = start
	}
	b.copy(from, len(m.text))
	return b.mapped()
}

// isTouched reports whether a text has other characters than the input, or such as may
// be wide.
func (m *mapped) isTouched() bool {
	for i := range m.runs {
		if m.runs[i].layers&^(1<<layerSpace) != 0 {
			return true
		}
	}
	return !isASCII(m.text)
}

// measureAgain sets the widths of lines to what something else counts in the input, and
// reports whether there is a difference.
func measureAgain(m *mapped, lines []line, input []byte, measure func(t []byte) int) bool {
	differs := false
	for i := range lines {
		l := &lines[i]
		from, to := m.span(l.start, l.end)
		from = bytes.LastIndexAny(input[:from], "\r\n") + 1 // what was undone at the ends counts as well
		if k := bytes.IndexAny(input[to:], "\r\n"); k >= 0 {
			to += k
		} else {
			to = len(input)
		}
		if n := measure(input[from:to]); n != l.width {
			l.width, differs = n, true
		}
	}
	return differs
}

// cells is how many columns of a terminal a text takes: characters of Chinese, Japanese
// and Korean, and full-width forms, take two.
func cells(t []byte) int {
	n := 0
	for i := 0; i < len(t); {
		r, size := utf8.DecodeRune(t[i:])
		if n++; r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
			r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0xffe0 && r <= 0xffe6 ||
			r >= 0x1f300 && r <= 0x1f64f || r >= 0x20000 && r <= 0x3fffd) {
			n++
		}
		i += size
	}
	return n
}

// findWraps says of each line how it goes on in the next one, and reports whether any
// does. Text of one kind is wrapped in one way: it looks at all lines, and then at
// what stands between blank lines and fences. Without blanks it looks for cut lines only.
func (w *work) findWraps(t []byte, lines []line, wraps []wrap, blanks bool) bool {
	for i := range wraps {
		wraps[i] = notWrapped
	}
	for len(lines) > 1 && lines[len(lines)-1].body == lines[len(lines)-1].end {
		lines = lines[:len(lines)-1]
	}
	found := w.wrapsIn(t, lines, wraps, blanks)
	for from := 0; from < len(lines); from++ {
		to := from
		for to < len(lines) && lines[to].body < lines[to].end && !lines[to].fence {
			to++
		}
		if to-from > 1 && to-from < len(lines) && w.wrapsIn(t, lines[from:to], wraps[from:to], blanks) {
			found = true
		}
		from = to
	}
	return found
}

// wrapsIn notes how the lines of a section were wrapped, if they were.
func (w *work) wrapsIn(t []byte, lines []line, wraps []wrap, blanks bool) bool {
	return w.wrapsAtColumn(t, lines, wraps) || blanks && wrapsAtBlank(t, lines, wraps)
}

// wrapsAtColumn notes where the lines of a section were cut at a column. All of them
// that were are as long as the longest, and next to none is nearly as long.
func (w *work) wrapsAtColumn(t []byte, lines []line, wraps []wrap) bool {
	width, many := 0, 0 // lines that wide
	for i := range lines {
		switch n := lines[i].width; {
		case n > width:
			width, many = n, 1
		case n == width:
			many++
		}
	}
	if width < minWrapWidth || many < 2 && !isScreenWidth(width) {
		return false
	}
	cut, near, own, words := 0, 0, 0, 0
	halves := false // two halves of a word meet where a line was cut
	for i := range lines[:len(lines)-1] {
		l, next := &lines[i], &lines[i+1]
		exact := l.width == width
		switch {
		case l.body >= l.end || next.body >= next.end || !exact && l.width+1+firstWord(t[next.body:next.end]) <= width:
		case standsAlone(t, l, next):
			if exact {
				own++
			}
		case exact:
			cut++
			words += w.wordsAt(t, l, next, next.start)
			halves = w.areHalves(t, l, next)
		case l.width < width-1 || next.indented:
			near++
		}
	}
	if cut < 2 && !(cut == 1 && near == 0 && halves && isScreenWidth(width)) || cut <= near+own || words > 0 {
		return false
	}
	for i := range lines[:len(lines)-1] {
		l, next := &lines[i], &lines[i+1]
		l.trimmed = l.width == width-1 && !next.indented
		if (l.width == width || l.trimmed) && l.body < l.end && next.body < next.end && !standsAlone(t, l, next) {
			wraps[i] = wrappedAtColumn
		}
	}
	return true
}

// standsAlone reports whether a line is no rest of the one before, however long that is.
func standsAlone(t []byte, l, next *line) bool {
	if next.stamped || next.indent > 1 && (next.frame || next.indent != l.indent && next.indent != l.indent+1) || isAlike(t, l, next) {
		return true
	}
	text := t[next.body:next.end]
	if next.fence {
		return isDrawn(text) // else it may be the end of a sentence: "`."
	}
	if next.layers&^l.layers != 0 {
		// A mark that touches what follows may be part of the text.
		mark := t[next.body-1]
		return mark != '>' && mark != '|' || next.body-next.start > 1
	}
	if next.message == next.body || next.level == levelNone {
		return false
	}
	// "Error: ", and not the second half of a class.
	n := 0
	for n < len(text) && isLetter(text[n]) {
		n++
	}
	_, isLevel := levelOf(text[:n])
	return isLevel || n > 0 && text[0] < 'a'
}

// isDrawn reports whether a byte other than a full stop stands three times in a row.
func isDrawn(t []byte) bool {
	for i := 2; i < len(t); i++ {
		if t[i] != '.' && t[i] == t[i-1] && t[i] == t[i-2] {
			return true
		}
	}
	return false
}

// wrapsAtBlank notes where the lines of a section were broken at blanks. The next word
// did not fit behind those that were, the sentence goes on, few other lines are nearly
// as long, and it is no log of many short ones.
func wrapsAtBlank(t []byte, lines []line, wraps []wrap) bool {
	width := 0
	for i := range lines {
		// What is a single word could not be broken.
		if l := &lines[i]; l.width > width && bytes.IndexByte(t[l.body:l.end], ' ') >= 0 {
			width = l.width
		}
	}
	const far = 24 // characters: longer than nearly all words
	many := 0      // lines that are nearly as wide
	for i := range lines {
		if lines[i].width > width-far {
			many++
		}
	}
	if width < minWrapWidth || many < 2 {
		return false
	}
	isBroken := func(i int) (broken, long bool) {
		l, next := &lines[i], &lines[i+1]
		if l.message >= l.end || next.message >= next.end {
			return false, false
		}
		word := firstWord(t[next.body:next.end])
		switch {
		case l.width+1+word <= width || l.width <= width-far && (word <= far || !goesOnWith(t[next.body]) || endsSentence(t[l.end-1])):
			return false, l.width > width-width/5
		}
		return !next.stamped && !next.frame && !next.fence && next.layers&^l.layers == 0 && !isAlike(t, l, next) &&
			(next.message == next.body || next.level == levelNone) && (next.indent == l.indent || next.indent == 0), true
	}
	count, others, going, numbers := 0, 0, 0, 0
	for i := range lines[:len(lines)-1] {
		broken, long := isBroken(i)
		switch {
		case broken && lines[i].width <= width:
			count++
			if c := t[lines[i+1].body]; goesOnWith(c) {
				going++
			} else if isDigit(c) {
				numbers++ // a sentence goes on, or a log
			}
		case long:
			others++
		}
	}
	if count < 2 || count <= 2*others || going == 0 || going+numbers < 2 || 4*(going+numbers) < 3*count || 8*count < len(lines) {
		return false
	}
	for i := range lines[:len(lines)-1] {
		if broken, _ := isBroken(i); broken {
			wraps[i] = wrappedAtBlank
		}
	}
	return true
}

// widest is the width of the widest line.
func widest(lines []line) int {
	width := 0
	for i := range lines {
		width = max(width, lines[i].width)
	}
	return width
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

// isAlike reports whether two lines begin alike, behind prefixes that both have: they are
// entries of one list.
func isAlike(t []byte, l, next *line) bool {
	const head = 6
	a, b := t[l.start:l.end], t[next.start:next.end]
	if l.layers&next.layers != 0 {
		a, b = t[min(l.message, l.end):l.end], t[min(next.message, next.end):next.end]
	}
	a, b = bytes.TrimLeft(a, " "), bytes.TrimLeft(b, " ")
	if len(a) > 1 && len(b) > 1 && a[1] == ' ' && b[1] == ' ' && a[0] == b[0] && !isWord(a[0]) {
		return true // "- "
	}
	return len(a) >= head && len(b) >= head && string(a[:head]) == string(b[:head])
}

// endsSentence reports whether no sentence goes on behind a byte.
func endsSentence(c byte) bool { return bytes.IndexByte([]byte(".:;!?"), c) >= 0 }

// goesOnWith reports whether a sentence may go on with a byte in the next line.
func goesOnWith(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 0x80 || isQuote(c) || c == '(' || c == '/' || c == '<'
}

// wordsAt is 1 when two words of messages meet at the end of a line and the start of
// the next, which begins there, -1 when two halves of one or a blank do, else 0.
func (w *work) wordsAt(t []byte, l, next *line, start int) int {
	if l.gapped || next.indented {
		return -1 // what breaks at a blank drops it
	}
	a, b := meeting(t[l.body:l.end], t[start:next.end])
	if len(a) == 0 || len(b) == 0 || len(a)+len(b) > maxTableWord {
		return 0
	}
	words := w.engine.words
	switch one, two := words.hasBoth(a, b), words.has(lower(a)) && words.has(lower(b)); {
	case one && !two:
		return -1
	case two && !one:
		return 1
	}
	return 0
}

// areHalves reports whether what meets at the end of a line and the start of the next is
// a word of a message, a path or a name in quotes.
func (w *work) areHalves(t []byte, l, next *line) bool {
	if l.gapped || next.indented {
		return false
	}
	left, right := t[l.body:l.end], t[next.start:next.end]
	if isOneName(left, right) || w.wordsAt(t, l, next, next.start) < 0 {
		return true
	}
	left, right = left[bytes.LastIndexByte(left, ' ')+1:], right[:firstWord(right)]
	if len(left) > 1 && isQuote(left[0]) && bytes.IndexByte(left[1:], left[0]) < 0 {
		return true // it opens right before
	}
	return bytes.ContainsAny(left, `/\\`) && bytes.LastIndexAny(right, `/\\`) > 0
}

// isWrapped reports whether text[from:to] goes over lines that were put together.
func (m *mapped) isWrapped(from, to int) bool { return m.undone(from, to)&(1<<layerWrap) != 0 }
