package diagnose

import "bytes"

// maxEscapes is how many levels of escaping are undone.
const maxEscapes = 3

// minString is the length below which a string is not worth a reading.
const minString = 8

// readStrings reads the strings inside a text on their own: values of JSON and
// logfmt, and any stretch in double quotes that holds escapes. What is between
// the quotes is one message with an end of its own.
func (w *work) readStrings(m *mapped, depth int) {
	t := m.text
	loose := false
	for i := 0; i < len(t); i++ {
		switch t[i] {
		case '\\':
			if i+1 < len(t) && isEscape(t[i+1]) {
				loose = true
			}
			i++
			continue
		case '"':
		default:
			continue
		}
		end, escaped := stringEnd(t, i)
		if end < 0 {
			continue
		}
		if end-i-1 >= minString && (escaped || isValue(t, i)) {
			w.readString(m, i+1, end, escaped, depth)
			i = end
			continue
		}
		if isValue(t, i) || isKey(t, end) {
			i = end
		}
	}
	if loose && depth == 0 {
		// Escapes outside of any string: a value whose quotes were not copied.
		if sub := unescape(m, 0, len(t)); sub != nil {
			w.read(sub, depth+1, false)
		}
	}
}

func (w *work) readString(m *mapped, from, to int, escaped bool, depth int) {
	if escaped {
		if sub := unescape(m, from, to); sub != nil {
			w.read(sub, depth+1, true)
			return
		}
	}
	if bytes.IndexByte(m.text[from:to], ' ') < 0 {
		return
	}
	b := newBuilder(m)
	b.copy(from, to)
	w.read(b.mapped(), depth+1, true)
}

// isValue reports whether the quote at i opens a value: after a colon or equals
// sign, a bracket or a comma.
func isValue(t []byte, i int) bool {
	for i > 0 && t[i-1] == ' ' {
		i--
	}
	if i == 0 {
		return false
	}
	switch t[i-1] {
	case ':':
		return i > 1 && t[i-2] == '"'
	case '=', '{', '[', ',', '(':
		return true
	}
	return false
}

// isKey reports whether the quote at end closes the key of a JSON object.
func isKey(t []byte, end int) bool {
	return end+1 < len(t) && t[end+1] == ':'
}

// stringEnd is the offset of the quote that closes the string opened at i, -1
// when there is none on the line; escaped says whether it holds escapes.
func stringEnd(t []byte, i int) (end int, escaped bool) {
	for j := i + 1; j < len(t); j++ {
		switch t[j] {
		case '\\':
			escaped = true
			j++
		case '"':
			return j, escaped
		case '\n':
			return -1, false
		}
	}
	return -1, false
}

func isEscape(c byte) bool {
	switch c {
	case 'n', 't', 'r', 'b', 'f', 'u', 'x', '0', '"', '\'', '\\', '/', 'e', '`', '$':
		return true
	}
	return false
}

// unescape is m.text[from:to] with one level of escapes undone, nil when there
// is none.
func unescape(m *mapped, from, to int) *mapped {
	t := m.text[:to]
	b := newBuilder(m)
	last := from
	changed := false
	for i := from; i < to; {
		if t[i] != '\\' || i+1 >= to {
			i++
			continue
		}
		with, n := escape(t[i:])
		if n == 0 {
			i++
			continue
		}
		b.copy(last, i)
		b.replace(i, i+n, with, layerEscape)
		changed = true
		i += n
		last = i
	}
	if !changed {
		return nil
	}
	b.copy(last, to)
	return b.mapped()
}

// escape is the text of the escape that t begins with and its length, 0 when it
// is none.
func escape(t []byte) (string, int) {
	switch t[1] {
	case 'n':
		return "\n", 2
	case 't':
		return "\t", 2
	case 'r':
		return "\r", 2
	case 'b', 'f', 'v', 'a':
		return " ", 2
	case 'e':
		return "\x1b", 2
	case '"', '\'', '\\', '/', '`', '$':
		return string(t[1:2]), 2
	case 'u':
		if r, ok := hexRune(t, 2, 4); ok {
			if r >= 0xd800 && r < 0xdc00 && len(t) >= 12 && t[6] == '\\' && t[7] == 'u' {
				if low, ok := hexRune(t, 8, 4); ok && low >= 0xdc00 && low < 0xe000 {
					return string((r-0xd800)<<10 + low - 0xdc00 + 0x10000), 12
				}
			}
			return string(r), 6
		}
	case 'x':
		if r, ok := hexRune(t, 2, 2); ok && r < 0x80 {
			return string(r), 4
		}
	case '0':
		if len(t) >= 4 && t[2] == '3' && t[3] == '3' {
			return "\x1b", 4
		}
	}
	return "", 0
}

func hexRune(t []byte, at, n int) (rune, bool) {
	if len(t) < at+n {
		return 0, false
	}
	var r rune
	for _, c := range t[at : at+n] {
		d := hexDigit(c)
		if d < 0 {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}
