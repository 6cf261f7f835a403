package diagnose

import (
	"bytes"
	"regexp"
	"strings"

	"errorkb/internal/pattern"
)

// valuesOf reads the values of a message out of a line that holds only its code
// and words of another language or version: either the line ends with the
// values as the message ends, or it holds as many value-like words as the
// message has gaps.
func (w *work) valuesOf(entry int, m *mention, l *line) []pattern.Capture {
	o := w.ownerOf(entry)
	parts := w.engine.segments(int(o.number))
	if parts == nil {
		return nil
	}
	message := w.engine.patternOf(o)
	end := min(l.end, m.to+maxCutLine)
	t := m.reading.m.text[:end]
	at := m.to
	if isNumber(m.code) {
		// "ERROR 1045 (28000): "
		if k := bytes.Index(t[at:min(end, at+12)], []byte("):")); k > 0 {
			at += k + 2
		}
	}
	for at < end && (t[at] == ' ' || t[at] == ':' || t[at] == ']') {
		at++
	}
	// The end of the message: gaps with nothing but punctuation between them.
	k := len(parts)
	gaps := 0
	for k > 0 && (parts[k-1].gap != "" || !hasLetter(parts[k-1].text)) {
		k--
		if parts[k].gap != "" {
			gaps++
		}
	}
	for k < len(parts) && parts[k].gap == "" {
		k++
	}
	if gaps > 1 && gaps == len(message.Names()) {
		if p, err := pattern.Compile(exprOfParts(parts[k:]), ""); err == nil {
			if found, ok := p.Match(t[at:]); ok && found.Start == 0 && bytes.IndexByte(t[at+found.Start:at+found.End], ' ') < 0 {
				for i := range found.Captures {
					found.Captures[i].Start += at
					found.Captures[i].End += at
				}
				return found.Captures
			}
		}
	}
	if captures := skeletonValues(parts, t, at); captures != nil {
		return captures
	}
	names := message.Names()
	values := valueWords(t, at, end, message.Literals())
	if len(values) != len(names) {
		return nil
	}
	out := make([]pattern.Capture, len(names))
	for i, v := range values {
		out[i] = pattern.Capture{Name: names[i], Start: v[0], End: v[1]}
	}
	return out
}

// skeletonValues reads values by the punctuation around them, which a
// translation keeps: "'…'@'…' (…: …)". Every gap has to have some on both sides.
func skeletonValues(parts []segment, t []byte, at int) []pattern.Capture {
	var b strings.Builder
	for i, p := range parts {
		if p.gap != "" {
			if i == 0 || i+1 == len(parts) || !isMark(parts[i-1].text, true) || !isMark(parts[i+1].text, false) {
				return nil
			}
			b.WriteString("(.*?)")
			continue
		}
		words := false
		for k := 0; k < len(p.text); k++ {
			switch c := p.text[k]; {
			case isWord(c) || c == ' ' || c == '-' || c == ',' || c == '.':
				words = words || isWord(c)
			default:
				if words {
					b.WriteString(".*?")
					words = false
				}
				b.WriteString(regexp.QuoteMeta(string(c)) + " ?")
			}
		}
		if words {
			b.WriteString(".*?")
		}
	}
	expr, err := regexp.Compile(b.String())
	if err != nil {
		return nil
	}
	m := expr.FindSubmatchIndex(t[at:])
	if m == nil {
		return nil
	}
	var out []pattern.Capture
	for _, p := range parts {
		if p.gap != "" {
			k := len(out) + 1
			out = append(out, pattern.Capture{Name: p.gap, Start: at + m[2*k], End: at + m[2*k+1]})
		}
	}
	return out
}

// isMark reports whether a literal has punctuation at its end or its start, a
// blank not counted.
func isMark(s string, atEnd bool) bool {
	s = strings.Trim(s, " ")
	if s == "" {
		return false
	}
	c := s[0]
	if atEnd {
		c = s[len(s)-1]
	}
	return !isWord(c) && c != ',' && c != '.' && c != '-'
}

func hasLetter(s string) bool {
	for i := 0; i < len(s); i++ {
		if isLetter(s[i]) {
			return true
		}
	}
	return false
}

// exprOfParts is the expression of segments, each gap holding no blank.
func exprOfParts(parts []segment) string {
	var b strings.Builder
	for _, p := range parts {
		if p.gap != "" {
			b.WriteString("(?P<" + p.gap + ">" + p.expr + ")")
			continue
		}
		for i := 0; i < len(p.text); i++ {
			if !isWord(p.text[i]) && p.text[i] != ' ' {
				b.WriteByte('\\')
			}
			b.WriteByte(p.text[i])
		}
	}
	return b.String()
}

// valueWords are the words of a line that look like values, not like language:
// names with a dot, a slash, a digit or an underscore in them, and what stands
// in quotes. What the message says itself is none.
func valueWords(t []byte, from, to int, literals []string) [][2]int {
	said := strings.Join(literals, "\x00")
	var out [][2]int
	for i := from; i < to; {
		if isQuote(t[i]) {
			if k := bytes.IndexByte(t[i+1:to], t[i]); k > 0 {
				if !strings.Contains(said, string(t[i+1:i+1+k])) {
					out = append(out, [2]int{i + 1, i + 1 + k})
				}
				i += k + 2
				continue
			}
		}
		if t[i] >= 0x80 || !isWord(t[i]) && t[i] != '/' && t[i] != '@' {
			i++
			continue
		}
		j := i
		odd := false
		for j < to && t[j] < 0x80 && (isWord(t[j]) || bytes.IndexByte([]byte("./-@:\\"), t[j]) >= 0) {
			odd = odd || t[j] == '.' || t[j] == '/' || t[j] == '_' || isDigit(t[j])
			j++
		}
		end := j
		for end > i && (t[end-1] == '.' || t[end-1] == ':') {
			end--
		}
		if odd && hasInner(t[i:end]) && !strings.Contains(said, string(t[i:end])) {
			out = append(out, [2]int{i, end})
		}
		i = max(j, i+1)
	}
	return out
}

// hasInner reports whether a word still has what makes it a value.
func hasInner(t []byte) bool {
	for _, c := range t {
		if c == '.' || c == '/' || c == '_' || isDigit(c) {
			return true
		}
	}
	return false
}
