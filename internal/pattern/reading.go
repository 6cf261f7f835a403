package pattern

import "bytes"

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
		if !pairs[b] {
			continue
		}
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

// pairs are the bytes that come in pairs.
var pairs = func() (is [256]bool) {
	for _, b := range []byte("<>()[]{}\"'`") {
		is[b] = true
	}
	return is
}()

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
