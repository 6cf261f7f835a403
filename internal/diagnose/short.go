package diagnose

import "bytes"

// An entry that is one line, to which nothing was done but a prefix and more blanks,
// and which holds whole messages outside of strings, has one reading: itself. It is
// weighed without undoing anything. Whatever is not as simple is left to the long
// way, and the answer is the same either way.

// short is scratch space for such entries.
type short struct {
	text    []byte // of the line, without what stood between two blanks
	buffer  []byte
	runs    []run
	m       mapped
	reading reading
	lines   [1]line
}

// readShort reads an entry the short way and reports false when it has to be read
// the long way. The marks are those in it; the clear text is that of the part from
// base on.
func (w *work) readShort(c *clear, base, from, to int, marks []mark) bool {
	for to > from && (w.input[to-1] == '\n' || w.input[to-1] == '\r') {
		to--
	}
	s := &c.short
	if to-from < 12 || to-from > maxLine || !c.squeeze(w.input[from:to], from, from-base) {
		return false
	}
	text := s.text
	whole := marks[:0]
	for i := range marks {
		switch {
		case marks[i].piece: // a line that something says what it is about holds no cut message
		case marks[i].owner < 0:
			return false
		default:
			whole = append(whole, marks[i])
		}
	}
	if marks = whole; holdsString(text) {
		return false
	}
	l := readLine(text, 0, len(text))
	if l.end != len(text) || l.body == l.end {
		return false
	}
	if len(marks) == 0 {
		return !w.mayHoldCut(&l, 1)
	}
	at := bytes.LastIndexByte(c.text[:marks[0].match.Start], '\n') + 1
	if !bytes.HasPrefix(c.text[at:], text) || at+len(text) < len(c.text) && c.text[at+len(text)] != '\n' {
		return false
	}
	s.cut(&l)
	r := &s.reading
	kept := len(w.hits)
	if w.direct(r, at+l.body, text[:l.body], marks) {
		for i := range marks {
			m := marks[i].match
			m.Start, m.End = m.Start-at-l.body, m.End-at-l.body
			for k := range m.Captures {
				m.Captures[k].Start -= at + l.body
				m.Captures[k].End -= at + l.body
			}
			w.addMatch(r, marks[i].owner, m)
		}
	} else {
		w.find(r)
	}
	ok := w.takeShort(r, w.hits[kept:])
	w.hits = w.hits[:kept]
	return ok
}

// squeeze makes the text of a line, and reports false if more has to be done to it
// than to leave out blanks. It begins at from in the input, and at in the part.
func (c *clear) squeeze(raw []byte, from, at int) bool {
	s := &c.short
	s.buffer, s.runs = s.buffer[:0], s.runs[:0]
	last := 0 // of raw: what was copied
	if raw[len(raw)-1] == ' ' {
		return false
	}
	for i := 0; ; {
		if i = nextBit(c.special, at+i, at+len(raw)) - at; i == len(raw) {
			break
		}
		n := 1
		switch b := raw[i]; {
		case b == ' ':
			for i+n < len(raw) && raw[i+n] == ' ' {
				n++
			}
			if raw[i+n] == '\t' {
				return false
			}
			s.push(raw, last, i+1, from)
			s.runs = append(s.runs, run{at: len(s.buffer), from: from + i + 1, to: from + i + n, layers: 1 << layerSpace})
			last = i + n
		case b == '&':
			if _, k := entity(raw[i:]); k > 0 {
				return false
			}
		case b == '[':
			if k := digits(raw, i+1); k < len(raw) && (raw[k] == 'm' && k > i+1 || raw[k] == ';') {
				return false
			}
		case b >= 0x80:
			_, size, ok := typographic(raw[i:])
			if ok {
				return false
			}
			n = size
		default:
			return false
		}
		i += n
	}
	if len(s.runs) == 0 {
		s.text = raw
		s.runs = append(s.runs, run{from: from, to: from + len(raw), copied: true})
		return true
	}
	s.push(raw, last, len(raw), from)
	s.text = s.buffer
	return true
}

// push copies a stretch of a line that begins at from in the input.
func (s *short) push(raw []byte, begin, end, from int) {
	s.runs = append(s.runs, run{at: len(s.buffer), from: from + begin, to: from + end, copied: true})
	s.buffer = append(s.buffer, raw[begin:end]...)
}

// cut makes the reading of a line, without its prefix.
func (s *short) cut(l *line) {
	runs := s.runs
	for len(runs) > 1 && runs[1].at <= l.body {
		runs = runs[1:]
	}
	for i := range runs {
		runs[i].at -= l.body
	}
	if r := &runs[0]; r.at < 0 {
		r.from, r.at = r.from-r.at, 0
	}
	s.m = mapped{text: s.text[l.body:l.end], runs: runs}
	s.lines[0] = *l
	b := &s.lines[0]
	b.start, b.body, b.message, b.end = 0, 0, l.message-l.body, l.end-l.body
	s.reading = reading{m: &s.m, lines: s.lines[:]}
}

// direct reports whether the matches in a line are those in its text without the
// prefix, which begins at body in the text that was searched.
func (w *work) direct(r *reading, body int, prefix []byte, marks []mark) bool {
	if bytes.ContainsAny(prefix, "\"'`()[]{}") || len(prefix) > 0 && isWord(prefix[len(prefix)-1]) {
		return false // what encloses a message has a say in where it ends
	}
	for i := range marks {
		if m := &marks[i]; m.match.Start < body || m.match.End > body+len(r.m.text) || w.engine.owners[m.owner].head {
			return false
		}
	}
	return true
}

// holdsString reports whether the long way would read a string inside the line on
// its own; see readStrings.
func holdsString(t []byte) bool {
	if mayHoldQuoted(t) {
		return true
	}
	for i := 0; ; i++ {
		k := bytes.IndexByte(t[i:], '"')
		if k < 0 {
			return false
		}
		i += k
		end := bytes.IndexByte(t[i+1:], '"')
		if end < 0 {
			return false
		}
		end += i + 1
		value := isValue(t, i)
		if value && end-i-1 >= minString && bytes.IndexByte(t[i+1:end], ' ') >= 0 {
			return true
		}
		if value || isKey(t, end) {
			i = end
		}
	}
}

// takeShort settles and weighs what was found in a line and keeps it. It reports
// false when the line has to be looked at for messages that were cut.
func (w *work) takeShort(r *reading, hits []hit) bool {
	l := &r.lines[0]
	covered := !w.mayHoldCut(l, 1)
	for i := range hits {
		h := &hits[i]
		e := &w.engine.entries[h.entry]
		if len(hits) > 1 && (e.Code != "" || len(e.Aliases) > 0) {
			return false // what folds what may depend on a code elsewhere
		}
		h.beside = w.lookBeside(h)
		covered = covered || h.covers(l)
	}
	if !covered {
		return false
	}
	hits = settle(hits)
	for i := range hits {
		h := &hits[i]
		if e := &w.engine.entries[h.entry]; e.Code != "" || len(e.Aliases) > 0 {
			h.code = true
			w.weigh(h)
			h.coded, h.code = h.score, false
		}
		w.weigh(h)
		h.follows = h.isConsequence()
	}
	fold(hits)
	for i := range hits {
		h := &hits[i]
		for k := range h.captures {
			c := &h.captures[k]
			c.Start, c.End = r.m.span(c.Start, c.End)
		}
		h.reading = nil
		w.short = append(w.short, *h)
	}
	return true
}

// codeShort gives hits in lines that were read the short way the score that they
// have when their code stands elsewhere. In their own line there is none.
func (w *work) codeShort(known map[string]bool) {
	if len(known) == 0 {
		return
	}
	for i := range w.short {
		h := &w.short[i]
		e := &w.engine.entries[h.entry]
		for k, code := range append([]string{e.Code}, e.Aliases...) {
			if known[code] && !(k == 0 && isNumber(code)) && !bytes.Contains(w.input[h.from:h.to], []byte(code)) {
				h.code, h.score = true, h.coded
				break
			}
		}
	}
}
