package diagnose

import (
	"bytes"
	"strings"

	"errorkb/internal/pattern"
)

// same reports whether two bytes are the same to a person who types them: any
// quote is a quote, and a capital is no other letter.
func same(a, b byte) bool {
	return a == b || a^b == 0x20 && isLetter(a) || isQuote(a) && isQuote(b)
}

func isQuote(c byte) bool { return c == '\'' || c == '"' || c == '`' }

// common is the length of the common head of text and literal.
func common(text []byte, literal string) int {
	n := min(len(text), len(literal))
	for i := 0; i < n; i++ {
		if !same(text[i], literal[i]) {
			return i
		}
	}
	return n
}

// isRecased reports whether a text that is the same as the head of a literal has
// other capitals.
func isRecased(text []byte, literal string) bool {
	for i, c := range text {
		if c != literal[i] && isLetter(c) {
			return true
		}
	}
	return false
}

// closesEarly reports whether a value that follows a quote holds the same quote
// where it would close.
func closesEarly(t []byte, from, to int) bool {
	if from == 0 || !isQuote(t[from-1]) {
		return false
	}
	for i := from; i < to; i++ {
		if t[i] == t[from-1] && i+1 < len(t) && (t[i+1] == ' ' || t[i+1] == ',' || t[i+1] == ';') {
			return true
		}
	}
	return false
}

// indexLiteral finds the head of a literal in text: as it is written if it is there like
// that, else with other capitals or quotes.
func indexLiteral(text []byte, head string) int {
	if !strings.ContainsAny(head, "'\"`") {
		if k := bytes.Index(text, []byte(head)); k >= 0 {
			return k
		}
	}
	first := head[0]
	for i := 0; i+len(head) <= len(text); i++ {
		switch rest := text[i : len(text)-len(head)+1]; {
		case isLetter(first):
			for len(rest) > 0 && rest[0]|0x20 != first|0x20 {
				rest = rest[1:]
				i++
			}
		case isQuote(first):
			for len(rest) > 0 && !isQuote(rest[0]) {
				rest = rest[1:]
				i++
			}
		default:
			k := bytes.IndexByte(rest, first)
			if k < 0 {
				return -1
			}
			i += k
		}
		if i+len(head) <= len(text) && common(text[i:], head) == len(head) {
			return i
		}
	}
	return -1
}

// alignHead lays a message on text[from:to] from its first literal on, as far
// as it goes. It has to begin before until.
func alignHead(parts []segment, r *reading, from, until, to int) (aligned, bool) {
	t := r.m.text[:to]
	a := aligned{total: literalLen(parts)}
	a.reading = r
	if !canHead(parts) {
		return a, false
	}
	first := firstLiteral(parts)
	probe := probeOf(parts)
	k := indexLiteral(t[from:min(to, until+len(probe)-1)], probe)
	if k < 0 {
		return a, false
	}
	at := from + k
	if at > 0 && isWord(probe[0]) && isWord(t[at-1]) {
		return a, false
	}
	a.start = at
	if first == 1 {
		// The value in front reaches back to the last blank.
		for a.start > from && t[a.start-1] != ' ' {
			a.start--
		}
		a.captures = append(a.captures, pattern.Capture{Name: parts[0].gap, Start: a.start, End: at})
	}
	for i := first; i < len(parts); i++ {
		p := parts[i]
		if p.gap == "" {
			n := common(t[at:], p.text)
			a.recased = a.recased || isRecased(t[at:at+n], p.text)
			a.matched += n
			at += n
			if n < len(p.text) {
				break
			}
			continue
		}
		end := len(t)
		if i+1 < len(parts) {
			next := parts[i+1].text
			if at > a.start && t[at-1] == ' ' && next != "" && next[0] == ' ' && common(t[at-1:], next) == len(next) {
				// Nothing stands between two blanks, and one of them is gone.
				a.captures = append(a.captures, pattern.Capture{Name: p.gap, Start: at, End: at})
				at--
				continue
			}
			k := endOfValue(t, at, next, i+2 == len(parts))
			if k < 0 {
				// The value itself was cut.
				end = len(t)
				if tooLittle(a.matched, a.total) || i > 0 && !mayBeCutValue(t[at:end], parts[i-1].text) {
					break
				}
				a.captures = append(a.captures, pattern.Capture{Name: p.gap, Start: at, End: trimEllipsis(t, at, end)})
				at = end
				break
			}
			end = at + k
			if closesEarly(t, at, end) {
				break
			}
		}
		a.captures = append(a.captures, pattern.Capture{Name: p.gap, Start: at, End: trimEllipsis(t, at, end)})
		at = end
	}
	a.end = at
	a.finished = r.finished(at)
	a.stops = r.stops(at)
	return a, a.matched > 0
}

// endOfValue is how long the value at an offset of a text is before the literal that
// follows it, the last of its message or not; -1 when that is not there.
func endOfValue(t []byte, at int, literal string, last bool) int {
	if literal == "" {
		return 0
	}
	window := t[at:min(len(t), at+maxCutValue)]
	if k := indexLiteral(window, literal[:min(len(literal), 8)]); k >= 0 && !(last && len(literal) == 1) {
		return k
	}
	rest := t[at:trimEllipsis(t, at, len(t))]
	if isWord(literal[0]) || literal[0] == ' ' {
		// The text may end in the middle of it.
		for n := min(len(literal), len(rest), 7); n > 2; n-- {
			value := rest[:len(rest)-n]
			if common(rest[len(value):], literal) == n && (somePlainWords(value, 1) == 0 || bytes.IndexByte(value, ' ') < 0) {
				return len(value)
			}
		}
		return -1
	}
	rest = rest[:min(len(rest), maxCutValue)]
	for k := 0; k < len(rest); k++ {
		n := indexLiteral(rest[k:], literal[:1])
		if n < 0 {
			break
		}
		if k += n; !last || len(literal) > 1 || k+1 == len(rest) || !isWord(rest[k+1]) {
			return k
		}
	}
	return -1
}

// mayBeCutValue reports whether a text may be the head of a value: the quote before
// it did not close, and it does not go on with the words of another message.
func mayBeCutValue(value []byte, before string) bool {
	if n := len(before); n > 0 && isQuote(before[n-1]) {
		k := bytes.IndexByte(value, before[n-1])
		return k < 0 || k+1 < len(value) && isWord(value[k+1])
	}
	if n := len(value); n > 0 && value[n-1] == '.' && !bytes.HasSuffix(value, []byte("..")) {
		return false
	}
	return somePlainWords(value, 1) == 0 || bytes.IndexByte(value, ' ') < 0
}

// plainWords counts the words of a text that are nothing but small letters; those of
// a list, "a, b and c", do not count.
func plainWords(t []byte) int { return somePlainWords(t, len(t)) }

// somePlainWords is plainWords up to a number.
func somePlainWords(t []byte, most int) int {
	n := 0
	for i := 0; i < len(t) && n < most; {
		from := i
		for i < len(t) && t[i] >= 'a' && t[i] <= 'z' {
			i++
		}
		size := i - from
		for i < len(t) && strings.IndexByte(".,;:!?", t[i]) >= 0 {
			i++
		}
		if i < len(t) && !isBlank(t[i]) {
			for i < len(t) && !isBlank(t[i]) {
				i++
			}
			size = 0
		}
		if size > 1 {
			n++
		}
		i++
	}
	if n > 0 && bytes.Contains(t, []byte(", ")) && (bytes.Contains(t, []byte(" and ")) || bytes.Contains(t, []byte(" or "))) {
		return 0
	}
	return n
}

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// stops reports whether offset i is the end of a line, of a quoted part or of a
// sentence. Where a message goes on with other words it is another message.
func (r *reading) stops(i int) bool {
	t := r.m.text
	if i >= len(t) || bytes.IndexByte([]byte("\n\"'`)]}"), t[i]) >= 0 || r.firstJoint(i, i+1) >= 0 {
		return true
	}
	before := bytes.TrimRight(t[:i], " ")
	return len(before) < i && len(before) > 0 && bytes.IndexByte([]byte(".!?"), before[len(before)-1]) >= 0
}

// trimEllipsis takes dots of omission off the end of a value.
func trimEllipsis(t []byte, from, to int) int {
	for bytes.HasSuffix(t[from:to], []byte("...")) {
		to -= 3
	}
	return from + len(bytes.TrimRight(t[from:to], " "))
}

// alignTail lays a message on text[from:to] from its end back, as far as it goes: the
// head is missing. A value at its end goes as far as the text.
func alignTail(parts []segment, r *reading, from, to int) (aligned, bool) {
	a := aligned{total: literalLen(parts), head: true}
	a.reading = r
	t := r.m.text
	at := to
	last := len(parts) - 1
	blank := 0 // of a literal, that was squeezed
	var back []pattern.Capture
	for i := last; i >= 0; i-- {
		p := parts[i]
		if p.gap == "" {
			n := blank
			for n < len(p.text) && at-(n-blank) > from && same(t[at-(n-blank)-1], p.text[len(p.text)-n-1]) {
				n++
			}
			if rest := p.text[len(p.text)-n:]; n > blank && n < len(p.text) && rest[0] >= 'a' && t[at-n+blank] < rest[0] {
				n = blank // a capital where the message goes on in small letters: another one begins
			}
			a.matched += n
			at -= n - blank
			a.recased = a.recased || isRecased(t[at:at+n-blank], p.text[len(p.text)-n:])
			blank = 0
			if n < len(p.text) {
				break
			}
			continue
		}
		if i == 0 {
			break
		}
		prev := parts[i-1].text
		tail := prev[max(0, len(prev)-8):]
		if n := len(tail) - 1; i == last && n > 0 && tail[n] == ' ' && at-n >= from && common(t[at-n:at], tail) == n {
			back = append(back, pattern.Capture{Name: p.gap, Start: at, End: at}) // nothing stands behind its blank
			blank = 1
			continue
		}
		k := -1
		for j := at - len(tail); j >= max(from, at-maxCutValue); j-- {
			if tail == "" || same(t[j], tail[0]) && common(t[j:], tail) == len(tail) {
				k = j + len(tail)
				break
			}
		}
		if k < 0 {
			// The head was lost in the literal before the value, or in the value.
			n, k := 0, -1
			if float64(a.matched+len(prev)) >= minCutShare*float64(a.total) {
				n, k = lostHead(t[from:at], prev)
			}
			if k >= 0 {
				back = append(back, pattern.Capture{Name: p.gap, Start: from + k, End: at})
				a.matched += n
				at = from + k - n
			}
			break
		}
		if closesEarly(t, k, at) || i == last && somePlainWords(t[k:at], maxPlainValue+1) > maxPlainValue {
			break
		}
		back = append(back, pattern.Capture{Name: p.gap, Start: k, End: at})
		at = k
	}
	a.start, a.end = at, to
	for i := len(back) - 1; i >= 0; i-- {
		a.captures = append(a.captures, back[i])
	}
	a.finished = beginsAt(t[from:to], at-from)
	return a, a.matched > 0
}

// beginsAt reports whether what stands in a line from offset i on is the rest of a
// message: nothing stands before it, or dots of omission do.
func beginsAt(line []byte, i int) bool {
	return len(bytes.TrimLeft(line[:i], " \"'`(\n")) == 0 || bytes.HasSuffix(line[:i], []byte("..."))
}

// lostHead reads the start of a text as the rest of a message whose head is gone:
// the last n bytes of a literal and then a value from offset k on, or the value alone
// where no plain word is in it. K is -1 when it is neither.
func lostHead(t []byte, literal string) (n, k int) {
	open := len(t) - len(bytes.TrimLeft(t, " \"'`(\n"))
	for n := len(literal) - 1; n > 1; n-- {
		tail := literal[len(literal)-n:]
		if isWord(tail[0]) && !isWord(literal[len(literal)-n-1]) && common(t[open:], tail) == n {
			return n, open + n
		}
	}
	if value := t[open:]; len(value) > 0 && len(value) <= maxCutValue && !bytes.Contains(value, []byte(": ")) && somePlainWords(value, 1) == 0 {
		return 0, open
	}
	return 0, -1
}

// finished reports whether the text ends at offset i: at its very end, or with
// dots of omission. One full stop is no cut: the sentence is another one.
func (r *reading) finished(i int) bool {
	t := r.m.text
	if bytes.HasPrefix(bytes.TrimLeft(t[i:], " "), []byte("...")) || bytes.HasSuffix(t[:i], []byte("...")) {
		return true
	}
	return len(bytes.TrimLeft(t[i:], " \"'`)\n")) == 0
}
