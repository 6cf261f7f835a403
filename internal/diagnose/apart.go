package diagnose

import (
	"bytes"
	"slices"

	"errorkb/internal/pattern"
)

// apart reports whether each line of a part of a block can be read by itself: no
// message goes over several of them, and none of them holds text with lines of its
// own.
func (w *work) apart(c *clear, from, to int, marks []mark) bool {
	if c.isTangled(from, to, marks) {
		return false
	}
	defer c.arena.empty()
	m, lines, ok := c.linesOf(from, to)
	if !ok || len(lines) == 0 {
		return ok
	}
	for i := range marks {
		if marks[i].piece && slices.ContainsFunc(lines, func(l line) bool { return w.mayHoldCut(&l, 1) }) {
			return false // the lines behind it may belong to it
		}
	}
	if w.findWraps(m.text, lines, c.arena.wraps.take(len(lines))[:len(lines)], true) {
		return false
	}
	if w.plainlyApart(c, m.text, lines) {
		return true
	}
	m, lines = dropPrefixes(m, lines)
	j := w.joinLines(m, lines)
	if j == nil {
		return true
	}
	w.engine.index.Find(j.m.text, func(id int, m pattern.Match) bool {
		h := hit{start: m.Start, end: m.End, captures: m.Captures}
		ok = !j.settleJoined(&h)
		return ok
	})
	return ok
}

// linesOf are the lines of a part of a block, made of the clear text; none when there is
// only one. It reports false when there is more to them.
func (c *clear) linesOf(from, to int) (m *mapped, lines []line, ok bool) {
	start, k := c.clearOf(from)
	end, _ := c.clearOf(to)
	text := c.text[start:end]
	lines = c.arena.lines.take(bytes.Count(text, newline) + 1)
	plain := c.arena.bytes.take(len(text) + 1)
	blanks, objects := int(c.pins[k].blanks), 0
	ascii := isASCII(text)
	for at := 0; at < len(text); {
		stop := lineEndOf(text, at)
		next := min(stop+1, len(text))
		l := text[at:stop]
		if isObject(l) {
			objects++
		}
		if len(l) > maxLine || objects > 1 {
			return nil, nil, false // it is read in pieces, or as what objects hold
		}
		for k+1 < len(c.pins) && int(c.pins[k+1].at) <= start+next {
			k++
		}
		width := len(l)
		if !ascii {
			width = characters(l)
		}
		width += int(c.pins[k].blanks) - blanks
		gapped := len(l) > 0 && l[len(l)-1] == ' '
		if gapped {
			l = l[:len(l)-1]
		}
		begin := len(plain)
		plain = append(append(plain, l...), '\n')
		read := readLine(plain, begin, begin+len(l))
		read.width, read.gapped = width, gapped
		if read.indented {
			first := k // pin behind the first blank
			for first > 0 && int(c.pins[first].at) > start+at+1 {
				first--
			}
			read.indent = 1 + max(0, int(c.pins[first].blanks)-blanks)
		}
		lines = append(lines, read)
		at, blanks = next, int(c.pins[k].blanks)
	}
	if len(lines) < 2 {
		return nil, nil, true
	}
	return part(&c.arena, plain, 0, len(plain)-1), lines, true
}

// plainlyApart reports whether no message can go over two of the lines. It joins them
// as joinLines does, but always with a blank, and gives up where two halves of a word
// may meet.
func (w *work) plainlyApart(c *clear, t []byte, lines []line) bool {
	text, seams := c.joined[:0], c.seams[:0]
	for i := 0; i < len(lines); {
		n := stretch(lines[i:])
		var ok bool
		if text, seams, ok = w.joinPlainly(c, t, lines[i:i+n], text, seams); !ok {
			return false
		}
		text = append(text, '\n')
		i += max(n, 1)
	}
	c.joined, c.seams = text, seams
	ok := true
	w.engine.index.Find(text, func(_ int, m pattern.Match) bool {
		ok = !crosses(seams, m)
		return ok
	})
	return ok
}

// joinPlainly appends the lines of a stretch, and where they were joined.
func (w *work) joinPlainly(c *clear, t []byte, lines []line, text []byte, seams []int) ([]byte, []int, bool) {
	width := widest(lines)
	prev := -1
	var labelled *line
	for i := range lines {
		l := &lines[i]
		if l.message >= l.end {
			continue
		}
		from := l.body
		if prev >= 0 {
			p := &lines[prev]
			if labelled != nil && l.message > l.body {
				from += sameLabels(t[labelled.body:labelled.end], t[from:l.end])
			}
			if !p.gapped && w.mayBeSplit(t[p.body:p.end], t[from:l.end], p.width == width) {
				return text, seams, false
			}
			seams = append(seams, len(text))
			text = append(text, ' ')
		}
		if l.message > l.body {
			labelled = l
		}
		text = append(text, t[from:l.end]...)
		prev = i
	}
	return text, seams, true
}

// mayBeSplit reports whether the end of a line and the start of the next may be two
// halves of a word or of a name; see splitsWord.
func (w *work) mayBeSplit(a, b []byte, widest bool) bool {
	left, right := meeting(a, b)
	return widest && isOneName(a, b) || len(left) > 0 && len(right) > 0 && len(left)+len(right) <= maxTableWord && w.engine.words.hasBoth(left, right)
}

// crosses reports whether a match may be one in joined lines; see settleJoined.
func crosses(seams []int, m pattern.Match) bool {
	start, end := m.Start, m.End
	if n := len(m.Captures); n > 0 {
		if v := m.Captures[0]; v.Start == start {
			start = v.End
		}
		if v := m.Captures[n-1]; v.End == end && v.Start >= start {
			end = v.Start
		}
	}
	k, _ := slices.BinarySearch(seams, start)
	return k < len(seams) && seams[k] < end
}

// isTangled reports whether the lines of a part are not those of its clear text, or
// what is in them is to be looked for in the lines around.
func (c *clear) isTangled(from, to int, marks []mark) bool {
	k, found := slices.BinarySearch(c.odd, from)
	if found || k < len(c.odd) && c.odd[k] < to {
		return true
	}
	for i := range marks {
		if marks[i].raw.to > to || bytes.IndexByte(c.text[marks[i].match.Start:marks[i].match.End], '\n') >= 0 {
			return true
		}
	}
	return false
}

// isObject reports whether a line is a JSON object that holds what was written; see
// messageOf.
func isObject(l []byte) bool {
	if len(l) == 0 || l[len(l)-1] != '}' || bytes.IndexByte(l[:min(len(l), 41)], '{') < 0 {
		return false
	}
	for _, key := range messageKeys {
		if bytes.Contains(l, key) {
			return true
		}
	}
	return false
}
