package search

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// beginnings are the first two bytes of words that are looked for. Most words
// of a text begin otherwise; telling so costs two bytes, splitting and stemming
// them would be nearly all the work of a search.
type beginnings struct {
	pairs [1 << 16 / 64]uint64
	all   bool // some word begins with other than ASCII: look at everything
}

// add takes a word into the set.
func (b *beginnings) add(term string) {
	switch {
	case term == "":
	case term[0] >= utf8.RuneSelf || len(term) > 1 && term[1] >= utf8.RuneSelf:
		b.all = true
	case len(term) == 1:
		for second := range 256 {
			b.set(term[0], byte(second))
		}
	default:
		b.set(term[0], term[1])
		// o'neil is looked up as oneil.
		b.set(term[0], '\'')
		b.set(term[0], "’"[0])
		// The stem of dying is die.
		if term[1] == 'i' {
			b.set(term[0], 'y')
		}
	}
}

func (b *beginnings) set(first, second byte) {
	at := uint(first)<<8 | uint(second)
	b.pairs[at/64] |= 1 << (at % 64)
}

// at says whether a word that is looked for may begin at text[i].
func (b *beginnings) at(text string, i int) bool {
	second := byte(0) // at the end of the text, for words of one letter
	if i+1 < len(text) {
		second = lower(text[i+1])
	}
	pair := uint(lower(text[i]))<<8 | uint(second)
	return b.pairs[pair/64]&(1<<(pair%64)) != 0
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// words splits a text as split does, and leaves out words in which nothing
// that is looked for can begin.
func (b *beginnings) words(text string) iter.Seq[word] {
	return func(yield func(word) bool) {
		done := 0 // everything before it was looked at
		for i := 0; i < len(text); i++ {
			if !b.all && !b.at(text, i) {
				continue
			}
			// Blanks part words for certain, so a word starts behind one.
			start := max(done, strings.LastIndexAny(text[done:i], " \n")+1+done)
			for start <= i {
				r, size := utf8.DecodeRuneInString(text[start:])
				if !inWord(r) {
					start += size
					continue
				}
				w, end := splitWord(text, start)
				if end > i && !yield(w) {
					return
				}
				start = end
			}
			done, i = start, start-1
		}
	}
}
