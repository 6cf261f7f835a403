package diagnose

import "bytes"

// maxRounds bounds how often the layers are gone through again because one of
// them uncovered work for another (an entity that hides an escape code).
const maxRounds = 8

// normalize undoes what can be undone without knowing lines: colours, carriage
// returns, typography and entities. Doing it again changes nothing. Escapes of
// strings are undone later and apart, as readings of their own: a back slash
// may well be part of a message.
func normalize(m *mapped) *mapped {
	for range maxRounds {
		before := m
		m = undoUTF16(m)
		m = undoEntities(m)
		m = undoTypography(m)
		m = undoTerminal(m)
		m = undoCarriage(m)
		if m == before {
			break
		}
	}
	return m
}

// undoCarriage turns every kind of line end into a line feed. A carriage return
// that overwrites a line ends it: the text before it was on the screen, and
// what came after is a line of its own.
func undoCarriage(m *mapped) *mapped {
	if bytes.IndexByte(m.text, '\r') < 0 {
		return m
	}
	b := newBuilder(m)
	from := 0
	for i := 0; i < len(m.text); i++ {
		if m.text[i] != '\r' {
			continue
		}
		b.copy(from, i)
		end := i + 1
		for end < len(m.text) && m.text[end] == '\r' {
			end++
		}
		if end < len(m.text) && m.text[end] == '\n' {
			end++
		}
		b.replace(i, end, "\n", layerCarriage)
		from = end
		i = end - 1
	}
	b.copy(from, len(m.text))
	return b.mapped()
}

// undoTerminal removes ANSI and OSC sequences, backspaces, other control bytes,
// and colour codes that lost their escape byte ("[31m").
func undoTerminal(m *mapped) *mapped {
	if !hasTerminal(m.text) {
		return m
	}
	t := m.text
	b := newBuilder(m)
	from := 0
	for i := 0; i < len(t); {
		n := 0
		switch c := t[i]; {
		case c == 0x1b:
			n = escapeSequence(t[i:])
		case c == '\b':
			b.copy(from, i)
			if k := len(b.text); k > 0 && b.text[k-1] != '\n' {
				b.cut(lastRune(b.text))
			}
			b.replace(i, i+1, "", layerANSI)
			i++
			from = i
			continue
		case c == 'm':
			// A code without its escape byte: look back at what is kept.
			b.copy(from, i+1)
			from = i + 1
			if k := bareColour(b.text); k > 0 && !closed(t[i+1:]) {
				end := len(b.text)
				b.cut(end - k)
				b.replace(max(0, i+1-k), i+1, "", layerANSI)
			}
		case c < 0x20 && c != '\n' && c != '\t' && c != '\r' || c == 0x7f:
			n = 1
		}
		if n == 0 {
			i++
			continue
		}
		b.copy(from, i)
		b.replace(i, i+n, "", layerANSI)
		i += n
		from = i
	}
	b.copy(from, len(t))
	if len(b.text) == len(t) {
		return m
	}
	return b.mapped()
}

func hasTerminal(t []byte) bool {
	if hasControl(t) {
		return true
	}
	// A colour code that lost its escape byte.
	for i := 0; ; {
		k := bytes.IndexByte(t[i:], '[')
		if k < 0 {
			return false
		}
		i += k + 1
		end := i
		for end < len(t) && end < i+maxColour && (isDigit(t[end]) || t[end] == ';') {
			end++
		}
		if end > i && end < len(t) && t[end] == 'm' && !closed(t[end+1:]) {
			return true
		}
	}
}

// maxColour is how many digits and semicolons a colour code may have.
const maxColour = 16

// closed reports whether a bracket closes here: "[5m]" is a duration.
func closed(t []byte) bool { return len(t) > 0 && t[0] == ']' }

// lastRune is the length of text without its last character.
func lastRune(text []byte) int {
	k := len(text) - 1
	for k > 0 && text[k]&0xc0 == 0x80 && len(text)-k < 4 {
		k--
	}
	return k
}

// bareColour is the length of a colour code without escape byte ("[1;31m",
// "^[[0m") at the end of text, 0 if there is none.
func bareColour(text []byte) int {
	i := len(text) - 2
	digits := 0
	for i >= 0 && digits < maxColour && (text[i] >= '0' && text[i] <= '9' || text[i] == ';') {
		i--
		digits++
	}
	if i < 0 || text[i] != '[' || digits == 0 {
		return 0
	}
	n := len(text) - i
	for _, escape := range writtenEscapes {
		if bytes.HasSuffix(text[:i], escape) {
			n += len(escape)
			// However often it was escaped.
			for n < len(text) && text[len(text)-n-1] == '\\' {
				n++
			}
			break
		}
	}
	return n
}

// writtenEscapes are the forms in which an escape byte is written out.
var writtenEscapes = [][]byte{
	[]byte("^["), []byte(`\u001b`), []byte(`\u001B`), []byte(`\x1b`), []byte(`\x1B`), []byte(`\033`), []byte(`\e`),
}

// escapeSequence is the length of the control sequence that t begins with, at
// least 1. One without an end takes only what can belong to it.
func escapeSequence(t []byte) int {
	if len(t) < 2 {
		return len(t)
	}
	switch t[1] {
	case '[':
		i := 2
		for i < len(t) && i < 64 && (t[i] >= 0x20 && t[i] <= 0x3f) {
			i++
		}
		if i < len(t) && t[i] >= 0x40 && t[i] <= 0x7e {
			i++
		}
		return i
	case ']', 'P', '^', '_', 'X':
		// Strings: title, hyperlink. They end at BEL or ESC \ on the same line.
		for i := 2; i < len(t) && i < 4096 && t[i] != '\n'; i++ {
			if t[i] == 0x07 {
				return i + 1
			}
			if t[i] == 0x1b {
				if i+1 < len(t) && t[i+1] == '\\' {
					return i + 2
				}
				return i
			}
		}
		return 2
	case '(', ')', '*', '+', '#', '%':
		return min(3, len(t))
	}
	if t[1] >= 0x30 && t[1] <= 0x7e {
		return 2
	}
	return 1
}
