package pattern

import "bytes"

// This file reads the values at the start of a message, which must not swallow what
// a log or a program puts before it.

// headStart returns where the gaps before the first chain begin.
func (m *matcher) headStart(start, low int) (int, bool) {
	gaps := m.v.steps[:m.v.chains[0].from]
	if len(gaps) == 0 {
		return start, true
	}
	if g := gaps[len(gaps)-1].set; g.least() > 0 && (start == low || !g.union.has(m.text[start-1])) {
		return 0, false
	}
	line := max(low, lineStart(m.text, start, maxBefore))
	m.work += start - line
	if len(gaps) > 1 || gaps[0].set.any {
		at := headOf(m.text, line, start)
		if m.fits(gaps, at, start) {
			return at, true
		}
		for at = max(line, start-maxShared); at <= start; at++ {
			if m.fits(gaps, at, start) {
				return at, true
			}
		}
		return 0, false
	}
	at, ok := gaps[0].set.suffix(m.text[line:start])
	if ok && insideWord(m.text, line+at) && isDigit(m.text[line+at]) && isDigit(m.text[line+at-1]) {
		return 0, false
	}
	return line + at, ok
}

// headCost weighs the value before the first chain: one that begins with the text
// of the chain was cut there.
func (m *matcher) headCost(head int, first place) int {
	value := m.text[head:first.start]
	if len(value) == 0 {
		return 0
	}
	if chain := bytes.TrimSpace(m.text[first.start:first.end]); len(chain) > 0 && bytes.HasPrefix(value, chain) {
		return len(value) + strange
	}
	return len(value)
}

// headOf returns where a value begins that ends at end, not before low: at the
// quote or bracket that the text behind it closes; else, when that text is glued
// to it, at the last blank; else behind the prefix of the line.
func headOf(text []byte, low, end int) int {
	next := byte(' ')
	if end < len(text) {
		next = text[end]
	}
	if isQuote(next) {
		for i := end - 1; i >= low; i-- {
			if text[i] == next && (i == 0 || !isWord(text[i-1])) {
				return i + 1
			}
		}
	}
	if o := opener(next); o != 0 {
		depth := 0
		for i := end - 1; i >= low; i-- {
			switch text[i] {
			case next:
				depth++
			case o:
				if depth == 0 {
					return i + 1
				}
				depth--
			}
		}
	}
	glued := next == '(' && !isPath(text[skipPrefix(text, low, end):end])
	depth := 0
	i := end
	for ; i > low; i-- {
		b := text[i-1]
		switch {
		case b == ')' || b == ']' || b == '}':
			if i < end && b != '}' && isBlank(text[i]) && depth == 0 && !glued {
				return skipPrefix(text, i, end)
			}
			depth++
		case b == '(' || b == '[' || b == '{':
			if depth == 0 {
				return skipPrefix(text, i, end)
			}
			depth--
		case depth > 0:
		case b == '"' || b == '`' || b == '\'' && (i < 2 || !isWord(text[i-2])):
			if oddQuotes(text[i:end], b) {
				continue
			}
			if j := bytes.LastIndexByte(text[low:i-1], b); j >= 0 && (i == end || !isWord(text[i])) {
				i = low + j + 1 // a quoted part of the value
				continue
			}
			return skipPrefix(text, i, end)
		case isBlank(b):
			if glued || b == '\t' {
				return skipPrefix(text, i, end)
			}
			if i >= 3 && i-1 > low {
				switch text[i-2] {
				case ':', '|', '>', '.', '!':
					if i < end {
						return skipPrefix(text, i, end)
					}
				case '-':
					if i < end && isBlank(text[i-3]) {
						return skipPrefix(text, i, end)
					}
				case ';':
					if i < end && isQuote(text[i]) {
						return i
					}
				}
			}
		}
	}
	return skipPrefix(text, low, end)
}

// isPath reports whether text begins like a path, which may hold blanks.
func isPath(text []byte) bool {
	return len(text) > 2 && (text[0] == '/' || text[1] == ':' && text[2] == '\\')
}

// oddQuotes reports whether a quote in front of text closes with one in it.
func oddQuotes(text []byte, q byte) bool {
	odd := false
	for _, b := range text {
		odd = odd != (b == q)
	}
	return odd
}

// skipPrefix moves a start over blanks, bullets, times and levels.
func skipPrefix(text []byte, at, end int) int {
	for at < end {
		to := at
		for to < end && !isBlank(text[to]) {
			to++
		}
		if to == end || !isPrefixWord(text[at:to]) {
			return at
		}
		for to < end && isBlank(text[to]) {
			to++
		}
		if to == end {
			return at
		}
		at = to
	}
	return at
}

// isPrefixWord reports whether a word belongs to the prefix of a log line.
func isPrefixWord(w []byte) bool {
	if len(w) == 0 {
		return true
	}
	digits, seps := 0, 0
	plain := true
	for _, b := range w {
		switch {
		case isDigit(b):
			digits++
		case b == ':' || b == '-' || b == '/' || b == '.' || b == ',':
			seps++
		case b != 'T' && b != 'Z' && b != '+':
			plain = false
		}
	}
	if plain && digits >= 4 && seps >= 2 {
		return true
	}
	if !isWord(w[0]) && len(w) <= 3 && digits == 0 {
		for _, b := range w {
			if isWord(b) || isQuote(b) || b == '(' || b == '/' || b == '.' || b == '<' {
				return false
			}
		}
		return true
	}
	for _, l := range levels {
		if len(l) == len(w) && equalFold(w, l) {
			return true
		}
	}
	return false
}

// levels are the level words of log lines, in lower case.
var levels = bytes.Fields([]byte("info warn warning error debug trace fatal notice err! [info] [error] [warn]"))
