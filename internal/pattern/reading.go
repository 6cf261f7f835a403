package pattern

import (
	"bytes"
	"strings"
)

// This file decides where a value ends, as a person would. A reading is weighed
// by costs: strange is the price of one thing that looks wrong (a bracket left
// open, a quote inside a word); within the same number of strange things the
// shorter value wins.
const strange = 1 << 16

// Limits of what is looked at to weigh a reading, in bytes: of a value, and of the
// line before a message.
const (
	maxWeighed = 512
	maxBefore  = 1 << 10
)

// gapCost weighs the value between from and the occurrence o of chain k.
func (m *matcher) gapCost(k, from int, o place) int {
	value := m.text[from:o.start]
	cost := len(value)
	v := m.v
	if len(value) == 0 {
		if m.v.steps[v.chains[k].from-1].min > 0 {
			cost += strange / 2
		}
	} else if isBlank(value[0]) || isBlank(value[len(value)-1]) {
		cost += strange / 2
	}
	var left, right byte
	if from > 0 {
		left = m.text[from-1]
	}
	if o.start < len(m.text) {
		right = m.text[o.start]
	}
	weighed := value[:min(len(value), maxWeighed)]
	m.work += len(weighed)
	cost += strange * unbalanced(weighed, left, right)
	cost += m.joinCost(value, o)
	if isWord(right) && insideWord(m.text, o.start) {
		cost += strange / 4
	}
	if k == len(v.chains)-1 && v.chains[k].to == len(v.steps) {
		cost += m.endCost(o)
	}
	return cost
}

// joinCost weighs a value that is cut where a path or an address goes on: at the
// colon of a drive or scheme, or at a blank inside a path.
func (m *matcher) joinCost(value []byte, o place) int {
	if len(value) == 0 || o.end >= m.end || o.end == o.start {
		return 0
	}
	rest := m.text[o.end:min(m.end, o.end+64)]
	switch {
	case m.text[o.start] == ':' && o.end == o.start+1:
		if rest[0] == '\\' && (len(value) == 1 || !isWord(value[len(value)-2])) || bytes.HasPrefix(rest, []byte("//")) {
			return strange
		}
	case len(bytes.TrimSpace(m.text[o.start:o.end])) == 0:
		sep := byte('/')
		if len(value) > 2 && value[1] == ':' && value[2] == '\\' {
			sep = '\\'
		} else if value[0] != '/' {
			return 0
		}
		if end := bytes.IndexAny(rest, " \t\n"); end >= 0 {
			rest = rest[:end]
		}
		if len(rest) > 0 && rest[0] != sep && bytes.IndexByte(rest, sep) > 0 && bytes.IndexByte(rest, ':') < 0 {
			return strange
		}
	}
	return 0
}

// endCost weighs where a pattern ends that does not end with a gap. A quote or
// bracket that is followed by a letter is not the closing one, and a full stop or
// colon inside a word or path is none.
func (m *matcher) endCost(o place) int {
	for _, b := range m.text[o.start:o.end] {
		if isWord(b) {
			return 0
		}
	}
	if o.end >= len(m.text) || o.end == o.start {
		return 0
	}
	next := m.text[o.end]
	switch last := m.text[o.end-1]; last {
	case '.', ':', ',', ';', '!', '?':
		if !isBlank(next) && !isQuote(next) && bracket(next) < 0 && next < 0x80 && next != '<' && next != '*' && next != '_' {
			return strange
		}
	default:
		if isWord(next) {
			return strange
		}
	}
	return 0
}

// startCost weighs where a pattern begins: a quote behind a letter does not open
// anything.
func (m *matcher) startCost(o place) int {
	if o.start > 0 && o.start < o.end && m.v.chains[0].from == 0 && isQuote(m.text[o.start]) && isWord(m.text[o.start-1]) {
		return strange
	}
	return 0
}

// tailCost weighs the value behind the last chain: after a bare colon a number
// is expected, as in host:port.
func (m *matcher) tailCost(o place, end int) int {
	if m.v.chains[len(m.v.chains)-1].to == len(m.v.steps) || o.end-o.start != 1 {
		return 0
	}
	if m.text[o.start] == ':' {
		for _, b := range m.text[o.end:end] {
			if !isDigit(b) {
				return strange
			}
		}
	}
	return 0
}

// unbalanced counts what is left open in a value that stands between left and
// right.
func unbalanced(value []byte, left, right byte) int {
	var open [3]int
	bad := 0
	double, single, back, angle := 0, 0, 0, 0
	for i, b := range value {
		switch b {
		case '<':
			angle++
		case '>':
			angle--
		case '(', '[', '{':
			open[bracket(b)]++
		case ')', ']', '}':
			j := bracket(b)
			if open[j] > 0 {
				open[j]--
			} else {
				bad++
			}
		case '"':
			double++
		case '`':
			back++
		case '\'':
			if !(i > 0 && i+1 < len(value) && isWord(value[i-1]) && isWord(value[i+1])) {
				single++
			}
		}
	}
	if angle != 0 && (left == '<' || right == '>') {
		bad++
	}
	return bad + open[0] + open[1] + open[2] + double&1 + back&1 + single&1
}

// bracket returns the kind of a bracket, or -1.
func bracket(b byte) int {
	switch b {
	case '(', ')':
		return 0
	case '[', ']':
		return 1
	case '{', '}':
		return 2
	}
	return -1
}

func opener(b byte) byte {
	switch b {
	case ')':
		return '('
	case ']':
		return '['
	case '}':
		return '{'
	}
	return 0
}

func isQuote(b byte) bool { return b == '"' || b == '\'' || b == '`' }

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
		for at = max(line, start-maxSuffix); at <= start; at++ {
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
			if closesLater(text[i:end], b) {
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
			if i >= 2 && i-1 > low {
				switch text[i-2] {
				case ':', '|', '>', '.', '!':
					if i < end {
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

func closesLater(text []byte, q byte) bool { return bytes.Count(text, []byte{q})%2 == 1 }

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
	switch string(bytes.ToUpper(w)) {
	case "INFO", "WARN", "WARNING", "ERROR", "DEBUG", "TRACE", "FATAL", "NOTICE", "ERR!", "[INFO]", "[ERROR]", "[WARN]":
		return true
	}
	return false
}

// tailEnd returns where the gaps behind the last chain end.
func (m *matcher) tailEnd(start int, last place) (int, bool) {
	v := m.v
	gaps := v.steps[v.chains[len(v.chains)-1].to:]
	if len(gaps) == 0 {
		return last.end, true
	}
	limit := m.limit(gaps, last.end)
	m.work += limit - last.end
	if len(gaps) > 1 || gaps[0].set.any {
		end := tailOf(m.text, start, last.end, limit)
		if m.fits(gaps, last.end, end) {
			return end, true
		}
		if len(gaps) == 1 {
			return 0, false
		}
		for end = limit; end >= last.end && end > limit-256; end-- {
			if m.fits(gaps, last.end, end) {
				return end, true
			}
		}
		return 0, false
	}
	n := gaps[0].set.prefix(m.text[last.end:limit])
	return last.end + n, n >= 0
}

// trailers begin what some programs put behind a message.
var trailers = [][]byte{[]byte(" (SQLSTATE "), []byte("; nested exception is "), []byte("\x1b[")}

// wideStops are the full stops, commas and the like of Chinese and Japanese text.
// In front of them a value of another script ends.
const wideStops = "，。；！？、"

// tailOf returns where the last value of a message ends: at the quote or bracket
// that encloses the message, at what some program put behind it, else at the end
// of the line. The full stop behind a single word is not part of it.
func tailOf(text []byte, start, from, limit int) int {
	for _, t := range trailers {
		if i := bytes.Index(text[from:limit], t); i >= 0 {
			limit = from + i
		}
	}
	for i := from; i < limit; i++ {
		if text[i] >= 0x80 {
			if n := charLen(text[i:]); strings.Contains(wideStops, string(text[i:i+n])) && n > 1 {
				limit = i
			}
			break
		}
	}
	limit = tailEnclosed(text, start, from, limit)
	if end := quotedEnd(text, from, limit); end > 0 {
		return end
	}
	word := limit
	if i := bytes.IndexAny(text[from:limit], " \t"); i >= 0 {
		word = from + i
	}
	if word-from < 2 || text[word-1] != '.' || !isWord(text[word-2]) {
		return limit
	}
	if word == limit || word+1 < limit && text[word+1]-'A' < 26 {
		return word - 1
	}
	return limit
}

// quotedEnd returns where a value ends that is a quoted word with a remark behind
// it, as in 'a.b'; 'a' is not a package. It is 0 for other values.
func quotedEnd(text []byte, from, limit int) int {
	if from >= limit || !isQuote(text[from]) {
		return 0
	}
	i := bytes.IndexByte(text[from+1:limit], text[from])
	if i < 0 {
		return 0
	}
	end := from + i + 2
	if rest := text[end:limit]; bytes.HasPrefix(rest, []byte("; ")) || bytes.HasPrefix(rest, []byte(" (")) {
		return end
	}
	return 0
}

// tailEnclosed returns where a value ends for the quote or bracket around it.
func tailEnclosed(text []byte, start, from, limit int) int {
	for limit > from && isBlank(text[limit-1]) {
		limit--
	}
	line := lineStart(text, start, maxBefore)
	prefix := text[line:start]
	if from > start && isQuote(text[from-1]) {
		q := text[from-1]
		for i := from; i < limit; i++ {
			if text[i] == q && (i+1 == len(text) || !isWord(text[i+1])) {
				return i
			}
		}
	}
	var open [3]int
	for _, b := range text[start:from] {
		switch b {
		case '(', '[', '{':
			open[bracket(b)]++
		case ')', ']', '}':
			open[bracket(b)]--
		}
	}
	var outer [3]int
	quoted := [3]bool{}
	for i, b := range prefix {
		switch b {
		case '(', '[', '{':
			outer[bracket(b)]++
		case ')', ']', '}':
			outer[bracket(b)] = max(0, outer[bracket(b)]-1)
		case '"':
			quoted[0] = !quoted[0]
		case '`':
			quoted[1] = !quoted[1]
		case '\'':
			if !(i > 0 && i+1 < len(prefix) && isWord(prefix[i-1]) && isWord(prefix[i+1])) {
				quoted[2] = !quoted[2]
			}
		}
	}
	var inner [3]int
	for i := from; i < limit; i++ {
		b := text[i]
		switch b {
		case '(', '[', '{':
			open[bracket(b)]++
		case ')', ']', '}':
			j := bracket(b)
			if open[j] > 0 {
				open[j]--
			} else if outer[j] > 0 {
				return trimRight(text, from, i)
			}
		case '"', '`', '\'':
			j := 0
			if b == '`' {
				j = 1
			} else if b == '\'' {
				j = 2
			}
			ends := i+1 == len(text) || !isWord(text[i+1])
			if quoted[j] && ends && inner[j]%2 == 0 {
				return trimRight(text, from, i)
			}
			inner[j]++
		}
	}
	return limit
}

func trimRight(text []byte, from, end int) int {
	for end > from && isBlank(text[end-1]) {
		end--
	}
	return end
}
