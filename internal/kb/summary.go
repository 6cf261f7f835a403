package kb

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Summary gives the first sentence of a Markdown text as plain text, for lists
// and descriptions; "" when it has no prose.
func Summary(markdown string) string {
	return firstSentence(plainInline(firstParagraph(markdown)))
}

var listMarker = regexp.MustCompile(`^(?:[-*+]|[0-9]{1,9}[.)]) +`)

// firstParagraph finds the first paragraph, list item or quotation; headings,
// code blocks, tables and rules are passed over.
func firstParagraph(markdown string) string {
	var lines []string
	fence := ""
	for line := range strings.Lines(markdown) {
		raw := line
		line = strings.TrimSpace(line)
		if fence != "" {
			if strings.HasPrefix(line, fence) {
				fence = ""
			}
			continue
		}
		open := strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
		indented := len(lines) == 0 && (strings.HasPrefix(raw, "    ") || strings.HasPrefix(raw, "\t"))
		other := strings.HasPrefix(line, "#") || strings.HasPrefix(line, "|") || strings.Trim(line, "-*_= ") == ""
		if open {
			fence = line[:3]
		}
		if open || indented || other {
			if len(lines) > 0 {
				break
			}
			continue
		}
		line = strings.TrimSpace(strings.TrimLeft(line, ">"))
		if bare := listMarker.ReplaceAllString(line, ""); bare != line {
			if len(lines) > 0 {
				break
			}
			line = bare
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, " ")
}

// codeDot stands for a full stop inside a code span, where it ends nothing; a
// private-use character that no text has.
const codeDot = '\uE02E'

var (
	codeSpan = regexp.MustCompile("``+ ?(.+?) ?``+|`([^`]+)`")
	image    = regexp.MustCompile(`!\[([^\]]*)\]\([^)]*\)`)
	link     = regexp.MustCompile(`\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])`)
	autolink = regexp.MustCompile(`<((?:https?|mailto):[^>\s]*)>`)
	strong   = regexp.MustCompile(`\*\*([^*]+)\*\*|__([^_]+)__`)
	emphasis = regexp.MustCompile(`\*([^*\s][^*]*)\*|\b_([^_]+)_\b`)
	escaped  = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])")
)

// plainInline takes the inline marks of Markdown off; what stands in code
// spans stays as it is.
func plainInline(s string) string {
	var b strings.Builder
	last := 0
	for _, m := range codeSpan.FindAllStringSubmatchIndex(s, -1) {
		b.WriteString(plainMarks(s[last:m[0]]))
		code := s[max(m[2], m[4]):max(m[3], m[5])]
		b.WriteString(strings.ReplaceAll(code, ".", string(codeDot)))
		last = m[1]
	}
	b.WriteString(plainMarks(s[last:]))
	return strings.Join(strings.Fields(b.String()), " ")
}

func plainMarks(s string) string {
	s = image.ReplaceAllString(s, "$1")
	s = link.ReplaceAllString(s, "$1")
	s = autolink.ReplaceAllString(s, "$1")
	s = strong.ReplaceAllString(s, "$1$2")
	s = emphasis.ReplaceAllString(s, "$1$2")
	return escaped.ReplaceAllString(s, "$1")
}

// abbreviations end in a full stop that ends no sentence.
var abbreviations = []string{"e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "No.", "resp.", "incl."}

// firstSentence cuts after the first full stop, question or exclamation mark
// that ends a sentence.
func firstSentence(s string) string {
	end := len(s)
	depth := 0
	for i, r := range s {
		switch r {
		case '(', '[':
			depth++
		case ')', ']':
			depth = max(0, depth-1)
		}
		if !strings.ContainsRune(".!?", r) || depth > 0 {
			continue
		}
		after := strings.TrimLeft(s[i+1:], `"'”’)`)
		if after != "" && (after[0] != ' ' || !startsSentence(after[1:]) || abbreviated(s[:i+1])) {
			continue
		}
		end = len(s) - len(after)
		break
	}
	return strings.ReplaceAll(s[:end], string(codeDot), ".")
}

func startsSentence(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return !unicode.IsLower(r)
}

func abbreviated(s string) bool {
	for _, a := range abbreviations {
		if strings.HasSuffix(s, a) && (len(s) == len(a) || !isLetter(s[len(s)-len(a)-1])) {
			return true
		}
	}
	return false
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
