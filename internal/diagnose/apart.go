package diagnose

import (
	"bytes"
	"slices"

	"errorkb/internal/pattern"
)

// apart reports whether each line of a part of a block can be read by itself: no
// message goes over several of them, and none of them holds text with lines of its
// own. The lines are joined as they would be (blocks.go), out of their clear text
// and without the way back.
func (w *work) apart(c *clear, from, to int, marks []mark) bool {
	if c.isTangled(from, to, marks) {
		return false
	}
	start, k := c.clearOf(from)
	end, _ := c.clearOf(to)
	blanks := c.pins[k].blanks
	m := part(&c.arena, c.text, start, end)
	defer c.arena.empty()
	lines := c.arena.lines.take(bytes.Count(m.text, newline) + 1)
	plain := newBuilder(m)
	objects := 0
	for at := 0; at < len(m.text); {
		stop := lineEndOf(m.text, at)
		next := min(stop+1, len(m.text))
		l := m.text[at:stop]
		if len(l) > maxLine {
			return false // it is read in pieces
		}
		if isObject(l) {
			objects++
		}
		width := characters(l)
		gapped := len(l) > 0 && l[len(l)-1] == ' '
		if gapped {
			l = l[:len(l)-1]
		}
		begin := len(plain.text)
		plain.text = append(plain.text, l...)
		plain.text = append(plain.text, '\n')
		lines = append(lines, readLine(plain.text, begin, begin+len(l)))
		for k+1 < len(c.pins) && c.pins[k+1].at <= start+next {
			k++
		}
		last := &lines[len(lines)-1]
		last.width, last.gapped = width+c.pins[k].blanks-blanks, gapped
		at, blanks = next, c.pins[k].blanks
	}
	if len(lines) < 2 || objects > 1 {
		return objects < 2
	}
	m = part(&c.arena, plain.text, 0, len(plain.text)-1)
	m, lines = dropPrefixes(m, lines)
	j := w.joinLines(m, lines)
	if j == nil {
		return true
	}
	alone := true
	w.engine.index.Find(j.m.text, func(id int, m pattern.Match) bool {
		h := hit{start: m.Start, end: m.End, captures: m.Captures}
		alone = !j.settleJoined(&h)
		return alone
	})
	return alone
}

// isTangled reports whether the lines of a part are not those of its clear text, or
// what is in them is to be looked for in the lines around.
func (c *clear) isTangled(from, to int, marks []mark) bool {
	k, found := slices.BinarySearch(c.odd, from)
	if found || k < len(c.odd) && c.odd[k] < to {
		return true
	}
	for i := range marks {
		if marks[i].piece || marks[i].raw.to > to || bytes.IndexByte(c.text[marks[i].match.Start:marks[i].match.End], '\n') >= 0 {
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
