package pattern

import "unicode/utf8"

// parseSimple turns the expressions that nearly all records have straight into a
// record: text with its signs escaped, \s+, and named groups of the sets that
// occur most. It declines what it does not know, and whatever is wrong, for the
// general parser to judge.
func parseSimple(expr string) ([]byte, bool) {
	var steps [64]step
	var marks [32]mark
	var text [1024]byte
	n, nmarks, used := 0, 0, 0
	if len(expr) > len(text) || !utf8.ValidString(expr) {
		return nil, false
	}
	begun := 0 // of the literal that is being read
	flush := func() {
		if used > begun {
			steps[n] = step{kind: literal, text: text[begun:used:used]}
			n++
			begun = used
		}
	}
	for i := 0; i < len(expr); {
		if n > len(steps)-3 {
			return nil, false
		}
		switch b := expr[i]; b {
		case '\\':
			if i+1 == len(expr) {
				return nil, false
			}
			next := expr[i+1]
			if next == 's' && i+2 < len(expr) && expr[i+2] == '+' {
				if i+3 < len(expr) && (expr[i+3] == '?' || expr[i+3] == '*' || expr[i+3] == '+' || expr[i+3] == '{') {
					return nil, false
				}
				flush()
				steps[n] = step{kind: space, min: 1}
				n++
				i += 3
				continue
			}
			if next >= 0x80 || isWord(next) {
				return nil, false
			}
			text[used] = next
			used++
			i += 2
		case '(':
			name, set, min, size := simpleGroup(expr[i:])
			if size == 0 || nmarks == len(marks) {
				return nil, false
			}
			for _, k := range marks[:nmarks] {
				if string(k.name) == name {
					return nil, false
				}
			}
			flush()
			marks[nmarks] = mark{name: []byte(name), from: n, to: n + 1}
			nmarks++
			steps[n] = step{kind: gap, set: set, min: min}
			n++
			i += size
		case '.', '[', '{', '*', '+', '?', '|', '^', '$', ')':
			return nil, false
		default:
			text[used] = b
			used++
			i++
		}
		if i < len(expr) && (expr[i] == '*' || expr[i] == '+' || expr[i] == '?' || expr[i] == '{') {
			return nil, false
		}
	}
	flush()
	if n == 0 {
		return nil, false
	}
	v := variant{steps: steps[:n], marks: marks[:nmarks]}
	return appendRecord(make([]byte, 0, len(expr)+8), []variant{v}), true
}

// simpleSets are the sets that simpleGroup knows, as they stand in an expression.
var simpleSets = [...]struct {
	text string
	set  *class
	min  int
}{
	{".+?", known[0], 1}, {".*?", known[0], 0}, {`[-+]?\d+`, known[2], 1}, {"[0-9A-Fa-f]+", known[3], 1},
	{`[-+]?\d[\d.eE+-]*`, known[4], 1}, {`\d+`, known[5], 1}, {`\S+`, known[6], 1}, {`\w+`, known[7], 1},
}

// simpleGroup reads a named group at the start of s. The size is 0 when it does
// not know the group.
func simpleGroup(s string) (name string, set *class, min, size int) {
	const open = "(?P<"
	if len(s) < len(open) || s[:len(open)] != open {
		return "", nil, 0, 0
	}
	i := len(open)
	for i < len(s) && isWord(s[i]) {
		i++
	}
	if i == len(open) || i >= len(s) || s[i] != '>' {
		return "", nil, 0, 0
	}
	name = s[len(open):i]
	i++
	for _, k := range simpleSets {
		if end := i + len(k.text); end < len(s) && s[end] == ')' && s[i:end] == k.text {
			return name, k.set, k.min, end + 1
		}
	}
	return "", nil, 0, 0
}
