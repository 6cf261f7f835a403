package diagnose

import "bytes"

// maxEscapes is how many levels of escaping are undone.
const maxEscapes = 4

// minString is the length below which a string is not worth a reading.
const minString = 8

// readStrings reads the strings inside a text on their own: values of JSON and
// logfmt, and any stretch in double quotes that holds escapes. What is between
// the quotes is one message with an end of its own.
func (w *work) readStrings(m *mapped, depth int) {
	t := m.text
	loose := false
	slashes := bytes.IndexByte(t, '\\') >= 0
	for i := 0; i < len(t); i++ {
		if !slashes {
			// Nothing but quotes to stop at.
			k := bytes.IndexByte(t[i:], '"')
			if k < 0 {
				break
			}
			i += k
		}
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
		end, escaped := stringEnd(m, i)
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
	w.readJSONLines(m, depth)
	w.readQuoted(m, depth)
	if loose && depth == 0 {
		// Escapes outside of any string: a value whose quotes were not copied.
		if sub := unescape(m, 0, len(t)); sub != nil {
			w.read(sub, depth+1, false)
		}
	}
}

func (w *work) readString(m *mapped, from, to int, escaped bool, depth int) {
	if w.unwrapped && !m.isWrapped(from, to) {
		return // it was read where it stands
	}
	if escaped {
		if sub := unescape(m, from, to); sub != nil {
			w.read(sub, depth+1, true)
			return
		}
	}
	if bytes.IndexByte(m.text[from:to], ' ') < 0 {
		return
	}
	b := newPartBuilder(m, to-from)
	b.copy(from, to)
	w.read(b.mapped(), depth+1, true)
}

// messageKeys are the keys under which JSON log lines hold what was written.
var messageKeys = [][]byte{[]byte(`"log":`), []byte(`"msg":`), []byte(`"message":`), []byte(`"MESSAGE":`), []byte(`"textPayload":`), []byte(`"text":`), []byte(`"line":`)}

// readJSONLines reads lines that are JSON objects, one for each line that was
// written, as the text that was written.
func (w *work) readJSONLines(m *mapped, depth int) {
	t := m.text
	var b *builder
	count := 0
	flush := func() {
		if count > 1 {
			w.read(b.mapped(), depth+1, false)
		}
		b, count = nil, 0
	}
	for start := 0; start < len(t); {
		end := start + bytes.IndexByte(t[start:], '\n')
		if end < start {
			end = len(t)
		}
		from, to := messageOf(m, start, end)
		if from < 0 {
			flush()
		} else {
			if b == nil {
				b = newPartBuilder(m, to-from)
			}
			if count > 0 {
				b.replace(from, from, "\n", layerEscape)
			}
			for to-from >= 2 && t[to-2] == '\\' && (t[to-1] == 'n' || t[to-1] == 'r') {
				to -= 2
			}
			appendUnescaped(b, t, from, to)
			count++
		}
		start = end + 1
	}
	flush()
}

// messageOf is the message string in the JSON object that a line is, -1 when it
// is none.
func messageOf(m *mapped, start, end int) (from, to int) {
	line := m.text[start:end]
	open := bytes.IndexByte(line, '{')
	if open < 0 || open > 40 || line[len(line)-1] != '}' {
		return -1, -1
	}
	for _, key := range messageKeys {
		k := bytes.Index(line, key)
		if k < 0 {
			continue
		}
		at := start + skipBlank(line, k+len(key), len(line))
		if at >= end || m.text[at] != '"' {
			continue
		}
		if stop, _ := stringEnd(m, at); stop > 0 {
			return at + 1, stop
		}
	}
	return -1, -1
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
func stringEnd(m *mapped, i int) (end int, escaped bool) {
	t := m.text
	curly := m.isCurly(i)
	for j := i + 1; j < len(t); j++ {
		switch t[j] {
		case '\\':
			escaped = true
			j++
		case '"':
			if m.isCurly(j) == curly {
				return j, escaped
			}
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
	b := newPartBuilder(m, to-from)
	if !appendUnescaped(b, m.text, from, to) {
		return nil
	}
	return b.mapped()
}

// appendUnescaped appends t[from:to] with one level of escapes undone and
// reports whether there was any.
func appendUnescaped(b *builder, t []byte, from, to int) bool {
	t = t[:to]
	last := from
	changed := false
	for i := from; i < to; {
		if t[i] != '\\' || i+1 >= to {
			i++
			continue
		}
		if isDrive(t, i) {
			// What is not escaped here is not escaped in the rest of the line.
			k := bytes.IndexByte(t[i:], '\n')
			if k < 0 {
				break
			}
			i += k
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
	b.copy(last, to)
	return changed
}

// isDrive reports whether the backslash at i, with more behind it, follows the
// drive of a path that is not escaped: "C:\node", unlike "C:\\node", and unlike
// the end of a line in "b:\nc" and the quote in \"b:\".
func isDrive(t []byte, i int) bool {
	if i < 2 || t[i-1] != ':' || t[i+1] == '\\' || t[i+1] == '/' || isQuote(t[i+1]) || i > 2 && isWord(t[i-3]) {
		return false
	}
	c, next := t[i-2], t[i+1]
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' && next != 'n' && next != 'r' && next != 't' && next != 'u' && next != 'x'
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

// isCurly reports whether the quote at i was a typographic one: it does not
// close a string that a program opened.
func (m *mapped) isCurly(i int) bool {
	r := m.runs[m.runAt(i)]
	return !r.copied && r.layers&(1<<layerTypography) != 0
}
