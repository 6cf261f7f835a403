package render

import (
	"fmt"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible makes what cannot be seen, or would turn the text around it, visible:
// control characters by their name, direction marks and zero-width characters by
// their code point. Tabs and line feeds stay.
func visible(text string) string {
	if !strings.ContainsFunc(text, hidden) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			b.WriteString("⟨" + nameOf(r) + "⟩")
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

// controls names the characters below the space.
var controls = [...]string{
	"NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "TAB", "LF", "VT", "FF", "CR", "SO", "SI",
	"DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US",
}

// nameOf names a hidden character.
func nameOf(r rune) string {
	switch {
	case int(r) < len(controls):
		return controls[r]
	case r == 0x7f:
		return "DEL"
	default:
		return fmt.Sprintf("U+%04X", r)
	}
}

// visibleHTML is visible for a page: hidden characters become small labels
// that cannot be taken for text.
func visibleHTML(text string) string {
	var b strings.Builder
	plain := 0
	text = strings.ToValidUTF8(text, "\uFFFD")
	for i, r := range text {
		if hidden(r) {
			b.WriteString(html.EscapeString(text[plain:i]))
			b.WriteString(`<span class="ctl">` + nameOf(r) + `</span>`)
			plain = i + utf8.RuneLen(r)
		}
	}
	b.WriteString(html.EscapeString(text[plain:]))
	return b.String()
}

// holdable makes a text fit for an attribute or a text area, out of which it is
// copied or sent: everything stays but the bytes that HTML cannot hold.
func holdable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
