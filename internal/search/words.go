package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
)

// A word is what a person would take as one name in error text, such as
// providerLeaseId, DUPLEX_CHANNEL, src/environment-runtime.ts or lease.
type word struct {
	parts  []part
	wholes []span // of names made of several parts, and of the whole word if it is one
}

// part is the smallest piece: provider, lease, id.
type part struct {
	start, end int    // bytes of the text
	plain      string // lower case
}

func (p part) stem() string { return stem(p.plain) }

// span is a name kept whole, written without case and marks, so that
// providerLeaseId, provider_lease_id and provider-lease-id are one term.
type span struct {
	start, end int
	term       string
}

// How strongly the place between two parts divides them: a path is kept whole,
// and so are its file name and the words of that.
const (
	noBreak   = -1
	caseBreak = iota - 1
	dashBreak
	dotBreak
	pathBreak
)

// breakAt is how strongly a mark divides what stands directly before and after
// it, false if that belongs to two words.
func breakAt(r rune) (strength int, joins bool) {
	switch r {
	case '\'', '’':
		return noBreak, true
	case '_', '-', '+', '$':
		return dashBreak, true
	case '.':
		return dotBreak, true
	case '/', '\\', ':', '@', '#':
		return pathBreak, true
	}
	return 0, false
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// split finds the words of a text.
func split(text string) []word {
	var words []word
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !inWord(r) {
			i += size
			continue
		}
		w, end := splitWord(text, i)
		words = append(words, w)
		i = end
	}
	return words
}

// splitWord reads the word that starts at a letter or digit.
func splitWord(text string, start int) (w word, end int) {
	var breaks []int // between each part and the next
	partStart, i := start, start
	var before, last rune // the two characters before i, 0 at the start of a part
	cut := func(at, next, strength int) {
		w.parts = append(w.parts, newPart(text, partStart, at))
		breaks = append(breaks, strength)
		partStart, before, last = next, 0, 0
	}
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if inWord(r) {
			switch {
			case last == 0:
			case unicode.IsUpper(r) && !unicode.IsUpper(last): // fooBar
				cut(i, i, caseBreak)
			case unicode.IsLower(r) && unicode.IsUpper(last) && unicode.IsUpper(before) && !isPlural(text[i:]): // HTTPServer
				at := i - utf8.RuneLen(last)
				kept := last
				cut(at, at, caseBreak)
				last = kept
			}
			before, last = last, r
			i += size
			continue
		}
		strength, joins := breakAt(r)
		next, _ := utf8.DecodeRuneInString(text[i+size:])
		if !joins || !inWord(next) {
			break
		}
		if strength == noBreak {
			before, last = 0, 0
		} else {
			cut(i, i+size, strength)
		}
		i += size
	}
	w.parts = append(w.parts, newPart(text, partStart, i))
	w.wholes = wholes(text, w.parts, breaks)
	return w, i
}

// isPlural says whether text goes on with the s of IDs and URLs.
func isPlural(text string) bool {
	after, _ := utf8.DecodeRuneInString(text[1:])
	return text[0] == 's' && !inWord(after)
}

func newPart(text string, start, end int) part {
	plain := strings.ToLower(text[start:end])
	if strings.ContainsAny(plain, "'’") {
		plain = strings.ReplaceAll(plain, "’", "'")
		plain = strings.ReplaceAll(strings.TrimSuffix(plain, "'s"), "'", "")
	}
	return part{start, end, plain}
}

// wholes joins parts that stand together, at each strength of break.
func wholes(text string, parts []part, breaks []int) []span {
	var spans []span
	for strength := caseBreak; strength <= pathBreak; strength++ {
		for i := 0; i < len(parts); {
			j := i + 1
			for j < len(parts) && breaks[j-1] <= strength {
				j++
			}
			start, end := parts[i].start, parts[j-1].end
			// A span with no break of just this strength was there before.
			known := true
			for _, b := range breaks[i : j-1] {
				known = known && b != strength
			}
			if !known {
				spans = append(spans, span{start, end, squash(text[start:end])})
			}
			i = j
		}
	}
	return spans
}

// squash keeps the letters and digits of s, in lower case.
func squash(s string) string {
	return strings.Map(func(r rune) rune {
		if !inWord(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

var stemmer = en.NewEnglishStemmerFilter()

// stem takes the endings off an English word in lower case. What holds
// anything but ASCII letters is no English word and stays.
func stem(plain string) string {
	for i := range len(plain) {
		if plain[i] < 'a' || plain[i] > 'z' {
			return plain
		}
	}
	stream := stemmer.Filter(analysis.TokenStream{{Term: []byte(plain)}})
	return string(stream[0].Term)
}

// stopWords carry no meaning alone: a record need not hold them to be found.
var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields("a an and are as at be been but by can could did do does for from had has have how i if in into is it its my no not of on or so that the their then there these they this to was we were what when which why will with you your") {
		m[w] = true
	}
	return m
}()

// isStop says whether a word is a stop word.
func (w word) isStop() bool { return len(w.parts) == 1 && stopWords[w.parts[0].plain] }
