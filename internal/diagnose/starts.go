package diagnose

import "math/bits"

// starts goes through the starts of words in a stretch of text, eight bytes at a
// time.
type starts struct {
	text  []byte
	at    int    // of the eight bytes
	found uint64 // starts among them that are still to come, each by its highest bit
	carry uint64 // set when the byte before them is of a word
}

// startsIn are the starts in text[from:to]. A word that goes over from begins there.
func startsIn(text []byte, from, to int) starts {
	return starts{text: text[:max(from, to)], at: from - 8}
}

// startsBehind are the same, but for the rest of a word that goes over from.
func startsBehind(text []byte, from, to int) starts {
	s := startsIn(text, from, to)
	if from > 0 && isWord(text[from-1]) {
		s.carry = 0x80
	}
	return s
}

// next is the offset of the next start, -1 when there is none left.
func (s *starts) next() int {
	if s.found == 0 && !s.more() {
		return -1
	}
	k := bits.TrailingZeros64(s.found) / 8
	s.found &= s.found - 1
	return s.at + k
}

func (s *starts) more() bool {
	for s.found == 0 {
		s.at += 8
		rest := len(s.text) - s.at
		if rest <= 0 {
			return false
		}
		x := uint64(0)
		if rest >= 8 {
			x = eight(s.text[s.at:])
		} else {
			for i, c := range s.text[s.at:] {
				x |= uint64(c) << (8 * i)
			}
		}
		words := wordBits(x)
		s.found = words &^ (words<<8 | s.carry)
		s.carry = words >> 56
	}
	return true
}

// wordBits marks the bytes of x that are part of a word, as isWord has it, with
// their highest bit.
func wordBits(x uint64) uint64 {
	y := x &^ highs // so that no sum goes over into the next byte
	letter := y | ones*0x20
	in := (letter + ones*(0x80-'a')) &^ (letter + ones*(0x80-'z'-1))
	in |= (y + ones*(0x80-'0')) &^ (y + ones*(0x80-'9'-1))
	in |= ^((y ^ ones*'_') + ones*0x7f)
	return (in | x) & highs
}
