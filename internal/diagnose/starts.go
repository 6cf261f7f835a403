package diagnose

import "math/bits"

// starts goes through the starts of words in a stretch of text.
type starts struct {
	text  []byte
	at    int        // of the 64 bytes that are looked at
	next  int        // of the words: those behind at
	found uint64     // starts among the 64 bytes that are still to come
	carry uint64     // 1 when the byte before what comes next is of a word
	words [16]uint64 // bytes that are of words, from a multiple of so many bytes behind the first on
}

// startsIn are the starts in text[from:to]. A word that goes over from begins there.
func startsIn(text []byte, from, to int) starts {
	s := starts{text: text[:max(from, to)], at: from - 64}
	s.next = len(s.words)
	return s
}

// startsBehind are the same, but for the rest of a word that goes over from.
func startsBehind(text []byte, from, to int) starts {
	s := startsIn(text, from, to)
	if from > 0 && isWord(text[from-1]) {
		s.carry = 1
	}
	return s
}

// step is the offset of the next start, -1 when there is none left.
func (s *starts) step() int {
	for s.found == 0 {
		if s.at += 64; s.at >= len(s.text) {
			return -1
		}
		if s.next == len(s.words) {
			classes(s.text[s.at:min(len(s.text), s.at+64*len(s.words))], wordClass, s.words[:])
			s.next = 0
		}
		words := s.words[s.next]
		s.next++
		s.found = words &^ (words<<1 | s.carry)
		s.carry = words >> 63
	}
	k := bits.TrailingZeros64(s.found)
	s.found &= s.found - 1
	return s.at + k
}
