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
	for _, p := range paragraphs(markdown) {
		if s, _ := cutSentence(plainInline(p)); s != "" {
			return s
		}
	}
	return ""
}

// Sentences gives every sentence of a Markdown text as plain text, in order.
// Headings, code blocks, tables and rules are no prose and are passed over.
func Sentences(markdown string) []string {
	var all []string
	for _, p := range paragraphs(markdown) {
		for rest := plainInline(p); rest != ""; {
			var s string
			if s, rest = cutSentence(rest); s != "" {
				all = append(all, s)
			}
		}
	}
	return all
}

var listMarker = regexp.MustCompile(`^(?:[-*+]|[0-9]{1,9}[.)]) +`)

// paragraphs gives the paragraphs, list items and quotations of a text, each on
// one line.
func paragraphs(markdown string) []string {
	var all, lines []string
	flush := func() {
		if len(lines) > 0 {
			all = append(all, strings.Join(lines, " "))
			lines = nil
		}
	}
	fence := ""
	for raw := range strings.Lines(markdown) {
		line := strings.TrimSpace(raw)
		if fence != "" {
			if strings.HasPrefix(line, fence) {
				fence = ""
			}
			continue
		}
		switch {
		case strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~"):
			flush()
			fence = line[:3]
		case len(lines) == 0 && (strings.HasPrefix(raw, "    ") || strings.HasPrefix(raw, "\t")):
			// an indented code block
		case strings.HasPrefix(line, "#") || strings.HasPrefix(line, "|") || strings.Trim(line, "-*_= ") == "":
			flush()
		default:
			line = strings.TrimSpace(strings.TrimLeft(line, ">"))
			if bare := listMarker.ReplaceAllString(line, ""); bare != line {
				flush()
				line = bare
			}
			lines = append(lines, line)
		}
	}
	flush()
	return all
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
	if !strings.ContainsAny(s, "\\[<*_") {
		return s
	}
	// An escaped mark is a mark no more; it waits as a private-use character.
	s = escaped.ReplaceAllStringFunc(s, func(e string) string { return string(escapedBase + rune(e[1])) })
	s = image.ReplaceAllString(s, "$1")
	s = link.ReplaceAllString(s, "$1")
	s = autolink.ReplaceAllString(s, "$1")
	s = strong.ReplaceAllString(s, "$1$2")
	s = emphasis.ReplaceAllString(s, "$1$2")
	return strings.Map(func(r rune) rune {
		if r > escapedBase && r < escapedBase+0x80 {
			return r - escapedBase
		}
		return r
	}, s)
}

const escapedBase = '\uE100'

// abbreviations end in a full stop that ends no sentence.
var abbreviations = []string{"e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "No.", "resp.", "incl."}

// cutSentence cuts after the first full stop, question or exclamation mark that
// ends a sentence.
func cutSentence(s string) (first, rest string) {
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
	return strings.ReplaceAll(s[:end], string(codeDot), "."), strings.TrimSpace(s[end:])
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
