package eval

import (
	"math/rand/v2"
	"regexp/syntax"
	"strconv"
	"strings"
)

// Filled is a message with values in the place of its gaps.
type Filled struct {
	Text   string
	Key    string            // the literal text; messages with the same key cannot be told apart
	Values map[string]string // by the name of the gap
	Unique bool              // there is one way only to read the values; see uniqueReading
	parts  []filledPart
}

// filledPart is a stretch of literal text or a gap.
type filledPart struct {
	text string // of the literal or the value
	gap  string // name; "" for literal text
}

// Fill puts values in the gaps of an expression: numbers where it asks for them,
// elsewhere what value returns for the literal text of the message.
func Fill(expr string, r *rand.Rand, value func(literal string) string) Filled {
	f := Filled{Values: map[string]string{}}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return f
	}
	words := literalText(tree)
	var key strings.Builder
	var walk func(t *syntax.Regexp)
	add := func(p filledPart) {
		if n := len(f.parts); n > 0 && p.gap == "" && f.parts[n-1].gap == "" {
			f.parts[n-1].text += p.text
			return
		}
		f.parts = append(f.parts, p)
	}
	walk = func(t *syntax.Regexp) {
		switch t.Op {
		case syntax.OpLiteral:
			key.WriteString(string(t.Rune))
			add(filledPart{text: string(t.Rune)})
		case syntax.OpConcat:
			for _, sub := range t.Sub {
				walk(sub)
			}
		case syntax.OpAlternate:
			walk(t.Sub[0])
		case syntax.OpPlus:
			key.WriteByte(' ')
			add(filledPart{text: "\n"})
		case syntax.OpCapture:
			key.WriteByte(0)
			made := ""
			switch gap := t.Sub[0].String(); {
			case strings.Contains(gap, "true"):
				made = "true"
			case strings.Contains(gap, "A-F"):
				made = "9f"
			case strings.Contains(gap, "0-9") || strings.Contains(gap, `\d`):
				made = strconv.Itoa(r.IntN(5000))
				if strings.Contains(gap, "-") && strings.Contains(gap, "+") && r.IntN(8) == 0 {
					made = "-" + made
				}
			default:
				made = value(words)
			}
			add(filledPart{text: made, gap: t.Name})
		}
	}
	walk(tree)
	for i := range f.parts {
		p := &f.parts[i]
		if p.gap == "" {
			f.Text += p.text
			continue
		}
		f.Values[p.gap] = p.text
		f.Text += p.text
	}
	f.Key = strings.ToLower(strings.TrimRight(strings.TrimSpace(key.String()), "."))
	f.Unique = uniqueReading(f.parts)
	return f
}

// uniqueReading reports whether a reader can tell where each value ends: between
// two gaps stands more than a sign or a blank, and the text can be divided into the
// literals and gaps of its message in one way only.
func uniqueReading(parts []filledPart) bool {
	text := ""
	for i, p := range parts {
		text += p.text
		if p.gap == "" {
			continue
		}
		if i > 0 && parts[i-1].gap != "" || i > 1 && parts[i-2].gap != "" && !tellsApart(parts[i-1].text) {
			return false
		}
		// A function's name has no blanks, so a value with one is not read whole.
		if i == 0 && len(parts) > 1 && strings.HasPrefix(parts[1].text, "(") && strings.Contains(p.text, " ") {
			return false
		}
	}
	return ways(parts, text) == 1
}

// tellsApart reports whether a literal between two gaps shows where one ends.
func tellsApart(literal string) bool {
	for i := 0; i < len(literal); i++ {
		c := literal[i]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '"' || c == '\'' || c == '`' {
			return true
		}
	}
	return len(literal) > 2
}

// ways counts in how many ways a text divides into literals and gaps, up to two.
func ways(parts []filledPart, text string) int {
	count := make([]int, len(text)+1) // by where the parts so far end
	count[0] = 1
	for _, p := range parts {
		next := make([]int, len(text)+1)
		sum := 0
		for i := range count {
			if p.gap != "" {
				sum = min(sum+count[i], 2)
				next[i] = sum
			} else if count[i] > 0 && strings.HasPrefix(text[i:], p.text) {
				next[i+len(p.text)] = min(next[i+len(p.text)]+count[i], 2)
			}
		}
		count = next
	}
	return count[len(text)]
}

// literalText is the literal text of an expression, its gaps and the ways not
// taken left out.
func literalText(t *syntax.Regexp) string {
	switch t.Op {
	case syntax.OpLiteral:
		return string(t.Rune)
	case syntax.OpAlternate:
		return literalText(t.Sub[0])
	case syntax.OpPlus:
		return " "
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range t.Sub {
			b.WriteString(literalText(sub))
		}
		return b.String()
	case syntax.OpCapture:
		return " \x00 "
	}
	return ""
}
