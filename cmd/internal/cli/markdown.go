package cli

import (
	"strings"
)

// Markdown writes the Markdown of a record as text for people: paragraphs and
// list items wrapped, code blocks as they are, inline code coloured. What it
// does not know stays as it was written, which is how Markdown is meant.
func (p *Printer) Markdown(indent int, text string) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	margin := strings.Repeat(" ", indent)
	var paragraph []string
	head, hang := margin, indent
	flush := func() {
		if len(paragraph) > 0 {
			p.Wrap(head, hang, Inline(strings.Join(paragraph, " "))...)
		}
		paragraph, head, hang = nil, margin, indent
	}
	fence := ""
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
				continue
			}
			p.Printf("%s    %s\n", margin, p.Styled(Value, line))
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			flush()
			fence = trimmed[:3]
		case trimmed == "":
			flush()
			p.Printf("\n")
		case strings.HasPrefix(trimmed, "#"):
			flush()
			p.Printf("%s%s\n", margin, p.Styled(Bold, strings.TrimSpace(strings.TrimLeft(trimmed, "#"))))
		default:
			if marker := listMarker(trimmed); marker != "" {
				flush()
				nested := len(line) - len(strings.TrimLeft(line, " "))
				head = margin + strings.Repeat(" ", nested) + marker
				hang = indent + nested + len(marker)
				trimmed = trimmed[len(marker):]
			}
			paragraph = append(paragraph, trimmed)
		}
	}
	flush()
}

// listMarker is the "- " or "12. " that a list item starts with, or "".
func listMarker(line string) string {
	if len(line) > 1 && strings.ContainsRune("-*+", rune(line[0])) && line[1] == ' ' {
		return line[:2]
	}
	digits := 0
	for digits < len(line) && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	if rest := line[digits:]; digits > 0 && digits < 10 && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")) {
		return line[:digits+2]
	}
	return ""
}

// Inline cuts inline Markdown into spans: code loses nothing but gains a
// style, and the marks of strong text give way to one.
func Inline(text string) []Span {
	var spans []Span
	for text != "" {
		i := strings.IndexAny(text, "`*")
		if i < 0 {
			break
		}
		mark := text[i : i+1]
		if strings.HasPrefix(text[i:], "**") {
			mark = "**"
		} else if mark == "`" {
			mark = text[i : i+len(text[i:])-len(strings.TrimLeft(text[i:], "`"))]
		}
		inner, rest, closed := strings.Cut(text[i+len(mark):], mark)
		if mark == "*" || !closed || inner == "" {
			spans = append(spans, Span{Text: text[:i+len(mark)]})
			text = text[i+len(mark):]
			continue
		}
		spans = append(spans, Span{Text: text[:i]})
		if mark == "**" {
			spans = append(spans, Span{inner, Bold})
		} else {
			spans = append(spans, Span{mark + inner + mark, Value})
		}
		text = rest
	}
	return append(spans, Span{Text: text})
}
