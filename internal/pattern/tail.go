package pattern

import (
	"bytes"
	"strings"

	"errorkb/internal/pattern/little"
)

// This file reads the values at the end of a message.

// tailEnd returns where the gaps behind the last chain end.
func (m *matcher) tailEnd(start int, last place) (int, bool) {
	v := m.v
	gaps := v.steps[v.chains[len(v.chains)-1].to:]
	if len(gaps) == 0 {
		return last.end, true
	}
	limit := m.limit(gaps, last.end)
	if last.end == last.start+1 && m.text[last.start] == ':' {
		limit = portEnd(m.text, last.end, limit)
	}
	m.work += limit - last.end
	if len(gaps) > 1 || gaps[0].set.any {
		end := tailOf(m.text, start, last.end, limit)
		if m.fits(gaps, last.end, end) {
			return end, true
		}
		if len(gaps) == 1 {
			return 0, false
		}
		for end = limit; end >= last.end && end > limit-maxShared; end-- {
			if m.fits(gaps, last.end, end) {
				return end, true
			}
		}
		return 0, false
	}
	n := gaps[0].set.prefix(m.text[last.end:limit])
	return last.end + n, n >= 0
}

// portEnd returns where the number behind a colon ends, or limit when there is
// none or it is part of a longer word.
func portEnd(text []byte, from, limit int) int {
	i := from
	for i < limit && isDigit(text[i]) {
		i++
	}
	if i > from && i < limit && !isWord(text[i]) && text[i] != '.' && text[i] != ':' && text[i] != '-' {
		return i
	}
	return limit
}

// trailers begin what some programs put behind a message.
var trailers = [][]byte{[]byte(" (SQLSTATE "), []byte("; nested exception is "), []byte("\x1b[")}

// wideStops are the full stops, commas and the like of Chinese and Japanese text.
// In front of them a value of another script ends.
const wideStops = "，。；！？、"

// tailOf returns where the last value of a message ends: at the quote or bracket
// that encloses the message, at what some program put behind it, else at the end
// of the line. The full stop behind a single word is not part of it.
func tailOf(text []byte, start, from, limit int) int {
	for _, t := range trailers {
		if i := bytes.Index(text[from:limit], t); i >= 0 {
			limit = from + i
		}
	}
	for i := from; i < limit; i++ {
		for i+8 <= limit && little.Uint64(text[i:])&0x8080808080808080 == 0 {
			i += 8
		}
		if i < limit && text[i] >= 0x80 {
			if n := charLen(text[i:]); strings.Contains(wideStops, string(text[i:i+n])) && n > 1 {
				limit = i
			}
			break
		}
	}
	limit = tailEnclosed(text, start, from, limit)
	if end := quotedEnd(text, from, limit); end > 0 {
		return end
	}
	limit = pathEnd(text, from, limit)
	word := limit
	if i := bytes.IndexAny(text[from:limit], " \t"); i >= 0 {
		word = from + i
	}
	if word-from < 2 || text[word-1] != '.' || !isWord(text[word-2]) {
		return limit
	}
	if word == limit || word+1 < limit && text[word+1]-'A' < 26 {
		return word - 1
	}
	return limit
}

// goingOn are words with which a sentence goes on behind a path that it quotes.
var goingOn = [...]string{"when", "while", "after", "before", "although", "though", "but", "because", "so", "then", "how", "what", "why", "which", "whenever", "since", "any", "even"}

// pathEnd returns where a path or an address ends in running text. A path may hold
// blanks, so it ends only where a sentence clearly goes on.
func pathEnd(text []byte, from, limit int) int {
	value := text[from:limit]
	if !isPath(value) && bytes.Index(value, []byte("://")) < 1 {
		return limit
	}
	for i := 1; i < len(value); i++ {
		if value[i] != ' ' {
			continue
		}
		rest := value[i+1:]
		if bytes.ContainsAny(rest, `/\`) {
			continue
		}
		if value[i-1] == ',' || value[i-1] == ';' {
			return from + i - 1
		}
		word, _, more := bytes.Cut(rest, []byte(" "))
		for _, w := range goingOn {
			if more && string(word) == w {
				return from + i
			}
		}
	}
	return limit
}

// quotedEnd returns where a value ends that is a quoted word with a remark behind
// it, as in 'a.b'; 'a' is not a package. It is 0 for other values.
func quotedEnd(text []byte, from, limit int) int {
	if from >= limit || !isQuote(text[from]) {
		return 0
	}
	i := bytes.IndexByte(text[from+1:limit], text[from])
	if i < 0 {
		return 0
	}
	end := from + i + 2
	rest := text[end:limit]
	if bytes.HasPrefix(rest, []byte("; ")) || bytes.HasPrefix(rest, []byte(" (")) ||
		len(rest) > 2 && rest[0] == '.' && rest[1] == ' ' && rest[2]-'A' < 26 {
		return end
	}
	return 0
}

// tailEnclosed returns where a value ends for the quote or bracket around it.
func tailEnclosed(text []byte, start, from, limit int) int {
	for limit > from && isBlank(text[limit-1]) {
		limit--
	}
	line := lineStart(text, start, maxBefore)
	prefix := text[line:start]
	if from > start && isQuote(text[from-1]) {
		q := text[from-1]
		for i := from; i < limit; i++ {
			if text[i] == q && (i+1 == len(text) || !isWord(text[i+1])) {
				return i
			}
		}
	}
	var open [3]int
	for _, b := range text[start:from] {
		if !pairs[b] {
			continue
		}
		switch b {
		case '(', '[', '{':
			open[bracket(b)]++
		case ')', ']', '}':
			open[bracket(b)]--
		}
	}
	var outer [3]int
	quoted := [3]bool{}
	for i, b := range prefix {
		if !pairs[b] {
			continue
		}
		switch b {
		case '(', '[', '{':
			outer[bracket(b)]++
		case ')', ']', '}':
			outer[bracket(b)] = max(0, outer[bracket(b)]-1)
		case '"':
			quoted[0] = !quoted[0]
		case '`':
			quoted[1] = !quoted[1]
		case '\'':
			if !(i > 0 && i+1 < len(prefix) && isWord(prefix[i-1]) && isWord(prefix[i+1])) {
				quoted[2] = !quoted[2]
			}
		}
	}
	if outer == [3]int{} && quoted == [3]bool{} {
		return limit // nothing around the message can close
	}
	var inner [3]int
	for i := from; i < limit; i++ {
		b := text[i]
		if !pairs[b] {
			continue
		}
		switch b {
		case '(', '[', '{':
			open[bracket(b)]++
		case ')', ']', '}':
			j := bracket(b)
			if open[j] > 0 {
				open[j]--
			} else if outer[j] > 0 {
				return trimRight(text, from, i)
			}
		case '"', '`', '\'':
			j := 0
			if b == '`' {
				j = 1
			} else if b == '\'' {
				j = 2
			}
			ends := i+1 == len(text) || !isWord(text[i+1])
			if quoted[j] && ends && inner[j]%2 == 0 {
				return trimRight(text, from, i)
			}
			inner[j]++
		}
	}
	return limit
}

func trimRight(text []byte, from, end int) int {
	for end > from && isBlank(text[end-1]) {
		end--
	}
	return end
}
