package diagnose

import "bytes"

// minBlanks is how many blanks a value that was encoded for a link must have to be worth a
// reading.
const minBlanks = 2

// readQuoted reads what was quoted in other ways than with back slashes.
func (w *work) readQuoted(m *mapped, depth int) {
	if mayHoldDoubled(m.text) {
		if sub := undoDoubled(m); sub != nil {
			w.read(sub, depth+1, false)
		}
	}
	if mayHoldPercent(m.text) {
		w.readPercent(m, depth)
	}
}

// mayHoldQuoted reports whether readQuoted may find anything in a text.
func mayHoldQuoted(t []byte) bool {
	return mayHoldDoubled(t) || mayHoldPercent(t)
}

func mayHoldPercent(t []byte) bool {
	return bytes.IndexByte(t, '+') >= 0 || bytes.Contains(t, []byte("%20"))
}

func mayHoldDoubled(t []byte) bool {
	return bytes.IndexByte(t, '"') >= 0 && bytes.Contains(t, []byte(`""`)) ||
		bytes.IndexByte(t, '\'') >= 0 && (bytes.Contains(t, []byte("''")) || bytes.Contains(t, []byte(`'\''`)) || bytes.Contains(t, []byte("##teamcity[")))
}

// undoDoubled is a text without what spreadsheets, SQL, YAML, shells and TeamCity do to
// quotes inside of quotes; nil when nothing was done. Empty quotes stay: a doubled one
// touches a word.
func undoDoubled(m *mapped) *mapped {
	t := m.text
	var b *builder
	from := 0
	replace := func(i, n int, with string) int {
		if b == nil {
			b = newBuilder(m)
		}
		b.copy(from, i)
		b.replace(i, i+n, with, layerEscape)
		from = i + n
		return from
	}
	for i := 0; i < len(t); {
		k := bytes.IndexAny(t[i:], `"'#`)
		if k < 0 {
			break
		}
		switch i += k; {
		case t[i] == '#':
			if !bytes.HasPrefix(t[i:], []byte("##teamcity[")) {
				i++
				continue
			}
			for end := lineEndOf(t, i); i < end; i++ {
				if with, n := teamcityEscape(t[i:end]); n > 0 {
					i = replace(i, n, with) - 1
				}
			}
		case bytes.HasPrefix(t[i:], []byte(`'\''`)):
			i = replace(i, 4, "'")
		case i+1 < len(t) && t[i+1] == t[i] && (i > 0 && isWord(t[i-1]) || i+2 < len(t) && isWord(t[i+2])):
			i = replace(i, 2, string(t[i:i+1]))
		default:
			for quote := t[i]; i < len(t) && t[i] == quote; i++ {
			}
		}
	}
	if b == nil {
		return nil
	}
	b.copy(from, len(t))
	return b.mapped()
}

// teamcityEscape is the text of the escape that a value in a service message of TeamCity
// begins with, and its length; 0 when it is none.
func teamcityEscape(t []byte) (string, int) {
	if len(t) < 2 || t[0] != '|' {
		return "", 0
	}
	switch t[1] {
	case 'n', 'r', 'x', 'l', 'p':
		return "\n", 2
	case '|', '\'', '[', ']':
		return string(t[1:2]), 2
	case '0':
		if r, ok := hexRune(t, 3, 4); ok && t[2] == 'x' {
			return string(r), 7
		}
	}
	return "", 0
}

// readPercent reads the values of links and forms whose blanks were encoded, each on its
// own.
func (w *work) readPercent(m *mapped, depth int) {
	t := m.text
	for i := 0; i < len(t); {
		k := bytes.IndexByte(t[i:], '=')
		if k < 0 {
			return
		}
		i += k + 1
		end, blanks, percent := i, 0, false
		for ; end < len(t) && t[end] > ' ' && bytes.IndexByte([]byte(`&"'<>;`), t[end]) < 0; end++ {
			switch {
			case t[end] == '+':
				blanks++
			case t[end] == '%' && end+2 < len(t) && hexDigit(t[end+1]) >= 0 && hexDigit(t[end+2]) >= 0:
				percent = true
				if t[end+1] == '2' && t[end+2] == '0' {
					blanks++
				}
			}
		}
		if blanks >= minBlanks && !(w.unwrapped && !m.isWrapped(i, end)) {
			b := newPartBuilder(m, end-i)
			last := i
			for j := i; j < end; j++ {
				n, with := 0, ""
				switch {
				case t[j] == '+':
					n, with = 1, " "
				case t[j] == '%' && percent && j+2 < len(t):
					if hi, lo := hexDigit(t[j+1]), hexDigit(t[j+2]); hi >= 0 && lo >= 0 {
						n, with = 3, string([]byte{byte(hi<<4 | lo)})
					}
				}
				if n > 0 {
					b.copy(last, j)
					b.replace(j, j+n, with, layerEscape)
					last, j = j+n, j+n-1
				}
			}
			b.copy(last, end)
			w.read(b.mapped(), depth+1, true)
		}
		i = end
	}
}

// undoUTF16 makes one byte of two where a text begins with the mark of UTF-16.
func undoUTF16(m *mapped) *mapped {
	t := m.text
	if len(t) < 4 || t[0]^t[1] != 1 || t[0] < 0xfe || t[1] < 0xfe {
		return m
	}
	high := 0 // which of two bytes is the high one
	if t[0] == 0xff {
		high = 1
	}
	b := newPartBuilder(m, len(t)/2)
	b.replace(0, 2, "", layerEscape)
	for i := 2; i < len(t); i += 2 {
		if i+1 == len(t) {
			b.replace(i, i+1, "", layerEscape)
			break
		}
		b.replace(i, i+2, string(rune(t[i+high])<<8|rune(t[i+1-high])), layerEscape)
	}
	return b.mapped()
}
