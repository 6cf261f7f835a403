package render

import (
	"bytes"
	"html"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"errorkb/internal/diagnose"
)

// Bounds of what is shown of a pasted text, which may have any size.
const (
	contextLines  = 2   // lines before and after a match
	exampleLines  = 12  // lines around the message of an example
	excerptLines  = 24  // lines of one excerpt
	lineBytes     = 360 // of a line without a match
	besideBytes   = 120 // of a long line, on each side of the match
	matchBytes    = 800 // of a match on one line
	excerptsShown = 3   // excerpts of one diagnosis
)

// Excerpt is a part of the pasted text around a match. Its lines keep the bytes
// of the text; HTML makes them fit to be seen.
type Excerpt struct {
	Lines   []PasteLine
	Cut     bool // the match has more lines than are shown
	Numbers bool // the lines are counted
}

// PasteLine is one line of an excerpt.
type PasteLine struct {
	Number            int
	CutLeft, CutRight bool // the line goes on
	Spans             []Span
}

// Span is a piece of a line.
type Span struct {
	Text    string
	Hit     bool   // belongs to the message that was found
	Capture int    // from 1; 0 for none
	Name    string // of the capture
}

// newExcerpt cuts the lines around an evidence out of a pasted text. Numbers
// gives each capture its number, by name.
func newExcerpt(text []byte, e diagnose.Evidence, numbers map[string]int) Excerpt {
	out := excerptAround(text, e, numbers, contextLines)
	out.Numbers = true
	return out
}

// excerptAround cuts an evidence and some lines before and after it out of a
// text. Offsets that do not fit the text are brought back into it.
func excerptAround(text []byte, e diagnose.Evidence, numbers map[string]int, context int) Excerpt {
	start := min(max(e.Start, 0), len(text))
	end := min(max(e.End, start), len(text))
	from, number := lineStart(text, start), max(e.Line, 1)
	for i := 0; i < context && from > 0 && number > 1; i++ {
		from, number = lineStart(text, from-1), number-1
	}
	var out Excerpt
	after := 0
	for from <= len(text) && len(out.Lines) < excerptLines {
		to := lineEnd(text, from)
		out.Lines = append(out.Lines, newPasteLine(text, from, to, start, end, number, e.Captures, numbers))
		if to >= end {
			if after++; after > context {
				break
			}
		}
		if to == len(text) {
			break
		}
		from, number = to+1, number+1
	}
	if last := len(out.Lines) - 1; last > 0 && len(out.Lines[last].Spans) == 0 {
		out.Lines = out.Lines[:last]
	}
	out.Cut = after == 0
	return out
}

func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

func lineEnd(text []byte, from int) int {
	if i := bytes.IndexByte(text[from:], '\n'); i >= 0 {
		return from + i
	}
	return len(text)
}

func newPasteLine(text []byte, from, to, start, end, number int, captures []diagnose.CaptureSpan, numbers map[string]int) PasteLine {
	line := PasteLine{Number: number}
	left, right := from, to
	hitFrom, hitTo := max(start, from), min(end, to)
	if hitFrom < hitTo || (start == end && start >= from && start <= to) {
		hitTo = min(hitTo, hitFrom+matchBytes)
		if to-from > lineBytes {
			left, right = max(from, hitFrom-besideBytes), min(to, max(hitTo, hitFrom)+besideBytes)
		}
	} else {
		hitFrom, hitTo = from, from
		right = min(to, from+lineBytes)
	}
	left, right = runeStart(text, left, from), runeStart(text, right, from)
	line.CutLeft, line.CutRight = left > from, right < to
	if !line.CutRight && right > left && text[right-1] == '\r' {
		right--
	}
	// Every place where the class of the bytes changes.
	edges := []int{left, right, hitFrom, hitTo}
	for _, c := range captures {
		edges = append(edges, c.Start, c.End)
	}
	sort.Ints(edges)
	for i := 1; i < len(edges); i++ {
		a, b := max(edges[i-1], left), min(edges[i], right)
		if a >= b {
			continue
		}
		span := Span{Text: string(text[a:b]), Hit: a >= hitFrom && b <= hitTo}
		for _, c := range captures {
			if span.Hit && a >= c.Start && b <= c.End {
				span.Capture, span.Name = numbers[c.Name], c.Name
			}
		}
		line.Spans = append(line.Spans, span)
	}
	return line
}

// runeStart moves back to the beginning of a character.
func runeStart(text []byte, at, least int) int {
	for back := 0; back < utf8.UTFMax && at > least && at < len(text) && !utf8.RuneStart(text[at]); back++ {
		at--
	}
	return at
}

// HTML spells the excerpt out. Marks are elements, so that they are there for
// those who do not see the colours: mark for the message, strong for a value.
func (e Excerpt) HTML() Prose {
	var b strings.Builder
	class := "paste"
	if e.Numbers {
		class = "paste numbered"
	}
	b.WriteString(`<pre class="` + class + `"><code>`)
	for _, line := range e.Lines {
		class := "line"
		for _, s := range line.Spans {
			if s.Hit {
				class = "line hit"
			}
		}
		b.WriteString(`<span class="` + class + `"`)
		if e.Numbers {
			b.WriteString(` data-n="` + strconv.Itoa(line.Number) + `"`)
		}
		b.WriteString(">")
		if line.CutLeft {
			b.WriteString(`<span class="cut">…</span>`)
		}
		open := false
		for _, s := range line.Spans {
			if s.Hit != open {
				if s.Hit {
					b.WriteString("<mark>")
				} else {
					b.WriteString("</mark>")
				}
				open = s.Hit
			}
			text := visibleHTML(s.Text)
			if s.Capture > 0 {
				text = `<strong class="cap ` + capClass(s.Capture) + `" title="` + html.EscapeString(visible(s.Name)) + `">` + text + `</strong>`
			}
			b.WriteString(text)
		}
		if open {
			b.WriteString("</mark>")
		}
		if line.CutRight {
			b.WriteString(`<span class="cut">…</span>`)
		}
		b.WriteString("\n</span>")
	}
	b.WriteString("</code></pre>")
	return Prose(b.String())
}
