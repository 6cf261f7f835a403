package diagnose

import "bytes"

import "strings"

// undoSpace makes every run of blanks and tabs one blank and drops blanks at
// the ends of lines, keeping one at the start of an indented line.
func undoSpace(m *mapped) *mapped {
	t := m.text
	var b *builder
	from, end := 0, 0
	for i := nextSpace(t, 0); i < len(t); i = nextSpace(t, end) {
		end = i + 1
		for end < len(t) && (t[end] == ' ' || t[end] == '\t') {
			end++
		}
		with := " "
		if end == len(t) || t[end] == '\n' {
			with = ""
		}
		if b == nil {
			b = newBuilder(m)
		}
		if with == " " && t[i] == ' ' {
			// The first blank stays what it is.
			b.copy(from, i+1)
			b.replace(i+1, end, "", layerSpace)
		} else {
			b.copy(from, i)
			b.replace(i, end, with, layerSpace)
		}
		from = end
	}
	if b == nil {
		return m
	}
	b.copy(from, len(t))
	return b.mapped()
}

// squeezeExpr does to an expression or a template what undoSpace does to a
// text: of blanks and line ends in a row one is left.
func squeezeExpr(s string) string {
	if !strings.Contains(s, "  ") && !strings.Contains(s, `\s+`) {
		return s
	}
	for {
		next := blankRuns.Replace(s)
		if next == s {
			return s
		}
		s = next
	}
}

var blankRuns = strings.NewReplacer("  ", " ", ` \s+`, `\s+`, `\s+ `, `\s+`, `\s+\s+`, `\s+`)

// maxLine is how long a line may be before it is read in pieces. Nobody writes
// a message that long, and what is looked for around a value stays near.
const maxLine = 4 << 10

// breakLines cuts lines that are too long to be one, at a blank where there is
// one.
func breakLines(m *mapped) *mapped {
	t := m.text
	if len(t) <= maxLine {
		return m
	}
	var b *builder
	from, start := 0, 0
	for i := 0; i < len(t); i++ {
		// To the end of the line, or to where it gets too long.
		reach := max(i+1, min(len(t), start+maxLine+1))
		if k := bytes.IndexByte(t[i:reach], '\n'); k >= 0 {
			i += k
			start = i + 1
			continue
		}
		if i = reach - 1; i-start < maxLine {
			break
		}
		if b == nil {
			b = newBuilder(m)
		}
		cut := i
		for cut > i-1024 && t[cut] != ' ' {
			cut--
		}
		if t[cut] == ' ' {
			b.copy(from, cut)
			b.replace(cut, cut+1, "\n", layerSpace)
			from = cut + 1
		} else {
			for cut = i; cut > i-4 && t[cut]&0xc0 == 0x80; {
				cut-- // not inside a character
			}
			b.copy(from, cut)
			b.replace(cut, cut, "\n", layerSpace)
			from = cut
		}
		start = from
	}
	if b == nil {
		return m
	}
	b.copy(from, len(t))
	return b.mapped()
}
