package diagnose

import (
	"strings"
	"unicode/utf8"
)

// simpleGaps are what gaps of nearly all records may hold, as it is written and as
// regexp/syntax writes it.
var simpleGaps = [...]struct{ written, shown string }{
	{`.+?`, `(?-s:.+?)`}, {`.*?`, `(?-s:.*?)`},
	{`\d+`, `[0-9]+`}, {`\S+`, `[^\t\n\f\r ]+`}, {`\w+`, `[0-9A-Z_a-z]+`},
	{`[-+]?\d+`, `[\+\-]?[0-9]+`}, {`[-+]?\d[\d.eE+-]*`, `[\+\-]?[0-9][\+\-\.0-9Ee]*`}, {`[0-9A-Fa-f]+`, `[0-9A-Fa-f]+`},
	{`[^']*`, `[^']*`}, {`[^']+`, `[^']+`}, {`[^"]*`, `[^"]*`}, {`[^"]+`, `[^"]+`}, {"[^`]*", "[^`]*"}, {"[^`]+", "[^`]+"},
}

// simpleSegments is segmentsOf for the expressions that nearly all records have:
// text with its signs escaped, \s+, and named groups of the sets above. It gives nil
// for all others.
func simpleSegments(expr string) []segment {
	if !utf8.ValidString(expr) {
		return nil
	}
	var out []segment
	text := make([]byte, 0, len(expr))
	flush := func() {
		if len(text) > 0 {
			out = append(out, segment{text: string(text)})
			text = text[:0]
		}
	}
	for i := 0; i < len(expr); {
		switch b := expr[i]; b {
		case '\\':
			switch rest := expr[i+1:]; {
			case strings.HasPrefix(rest, "s+"):
				text = append(text, ' ')
				i += 3
			case rest == "" || rest[0] >= utf8.RuneSelf || isWord(rest[0]):
				return nil
			default:
				text = append(text, rest[0])
				i += 2
			}
		case '(':
			name, shown, n := simpleGap(expr[i:])
			if n == 0 {
				return nil
			}
			for _, s := range out {
				if s.gap == name {
					return nil
				}
			}
			flush()
			out = append(out, segment{gap: name, expr: shown})
			i += n
		case '.', '[', '{', '*', '+', '?', '|', '^', '$', ')':
			return nil
		default:
			text = append(text, b)
			i++
		}
		if i < len(expr) && strings.IndexByte("*+?{", expr[i]) >= 0 {
			return nil
		}
	}
	flush()
	return out
}

// simpleGap reads a named group at the start of s: its name, what it may hold, and
// its length, 0 when it is none of the simple ones.
func simpleGap(s string) (name, shown string, n int) {
	name, ok := strings.CutPrefix(s, "(?P<")
	if !ok {
		return "", "", 0
	}
	end := 0
	for end < len(name) && name[end] < utf8.RuneSelf && isWord(name[end]) {
		end++
	}
	if end == 0 || end == len(name) || name[end] != '>' {
		return "", "", 0
	}
	name, rest := name[:end], name[end+1:]
	for _, g := range simpleGaps {
		if tail, ok := strings.CutPrefix(rest, g.written); ok && strings.HasPrefix(tail, ")") {
			return name, g.shown, len(s) - len(tail) + 1
		}
	}
	return "", "", 0
}
