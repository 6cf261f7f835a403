package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible makes what cannot be seen, or would turn the text around it, visible:
// control characters as their pictures, direction marks and zero-width
// characters by their code point. Tabs and line feeds stay.
func visible(text string) string {
	if !strings.ContainsFunc(text, hidden) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			b.WriteString(picture(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func hidden(r rune) bool {
	switch {
	case r == '\t', r == '\n':
		return false
	case r == '\u200d', r == '\u200c':
		return false // joiners belong to emoji and scripts
	case r == '\u2028', r == '\u2029':
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

func picture(r rune) string {
	switch {
	case r < 0x20:
		return string(0x2400 + r)
	case r == 0x7f:
		return "␡"
	default:
		return fmt.Sprintf("⟨U+%04X⟩", r)
	}
}
