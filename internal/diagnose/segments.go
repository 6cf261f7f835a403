package diagnose

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// segment is a stretch of literal text or a gap of a message.
type segment struct {
	text string // literal text, white space squeezed; "" for a gap
	gap  string // name of a gap
	expr string // what the gap may hold
}

// segmentsOf takes an expression apart into literals and named gaps; nil when
// it is more than that. It is used for messages that are not there whole.
func segmentsOf(expr string) []segment {
	out := simpleSegments(expr)
	if out == nil {
		out = parsedSegments(expr)
	}
	for i := range out {
		if s := &out[i]; strings.ContainsAny(s.text, "\n\t") {
			s.text = whiteSpace.ReplaceAllString(s.text, " ")
		}
	}
	return out
}

var whiteSpace = regexp.MustCompile(`\s+`)

func parsedSegments(expr string) []segment {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	var out []segment
	if !flatten(tree, &out) {
		return nil
	}
	return out
}

func flatten(t *syntax.Regexp, out *[]segment) bool {
	literal := func(s string) {
		if n := len(*out); n > 0 && (*out)[n-1].gap == "" {
			(*out)[n-1].text += s
			return
		}
		*out = append(*out, segment{text: s})
	}
	switch t.Op {
	case syntax.OpEmptyMatch:
		return true
	case syntax.OpLiteral:
		if t.Flags&syntax.FoldCase != 0 {
			return false
		}
		literal(string(t.Rune))
		return true
	case syntax.OpConcat:
		for _, sub := range t.Sub {
			if !flatten(sub, out) {
				return false
			}
		}
		return true
	case syntax.OpCapture:
		if t.Name == "" {
			return flatten(t.Sub[0], out)
		}
		*out = append(*out, segment{gap: t.Name, expr: t.Sub[0].String()})
		return true
	case syntax.OpPlus, syntax.OpStar, syntax.OpQuest:
		// White space between words.
		if isSpaceClass(t.Sub[0]) {
			if t.Op == syntax.OpPlus {
				literal(" ")
			}
			return true
		}
	}
	return false
}

func isSpaceClass(t *syntax.Regexp) bool {
	if t.Op == syntax.OpLiteral {
		return len(t.Rune) == 1 && t.Rune[0] == ' '
	}
	if t.Op != syntax.OpCharClass {
		return false
	}
	for i := 0; i+1 < len(t.Rune); i += 2 {
		if t.Rune[i] <= ' ' && ' ' <= t.Rune[i+1] {
			return t.Rune[i+1] < '0'
		}
	}
	return false
}

// literalLen is the number of bytes of literal text.
func literalLen(list []segment) int {
	n := 0
	for _, s := range list {
		n += len(s.text)
	}
	return n
}
