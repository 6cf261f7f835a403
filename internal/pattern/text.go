package pattern

import (
	"bytes"
	"math/bits"
	"unicode"

	"errorkb/internal/pattern/little"
)

// isWord reports whether a byte is part of a word: a letter, a digit or an
// underscore. Bytes beyond ASCII are not, so that a message that follows text
// in another script without a blank is still found.
func isWord(b byte) bool { return isAlnum(b) || b == '_' }

func isAlnum(b byte) bool { return b-'0' < 10 || isASCIILetter(b) }

func isASCIILetter(b byte) bool { return b|0x20-'a' < 26 }

// insideWord reports whether place i of text has word characters on both sides.
// An underscore at the end of a word is emphasis, not part of it.
func insideWord(text []byte, i int) bool {
	if i <= 0 || i >= len(text) || !isWord(text[i-1]) || !isWord(text[i]) {
		return false
	}
	return (isAlnum(text[i-1]) || i > 1 && isAlnum(text[i-2])) && (isAlnum(text[i]) || i+1 < len(text) && isAlnum(text[i+1]))
}

func isLetter(r rune) bool {
	return r < 0x80 && byte(r)|0x20-'a' < 26 || r >= 0x80 && unicode.IsLetter(r)
}

// isBlank reports whether a byte is white space as \s has it.
func isBlank(b byte) bool {
	return b == ' ' || b-'\t' < 2 || b-'\f' < 2
}

func isDigit(b byte) bool { return b-'0' < 10 }

// lineEnd returns the end of the line that from is in.
func lineEnd(text []byte, from int) int {
	if i := bytes.IndexByte(text[from:], '\n'); i >= 0 {
		return from + i
	}
	return len(text)
}

// lineStart returns the start of the line that at is in, or the place most bytes
// before it.
func lineStart(text []byte, at, most int) int {
	low := max(0, at-most)
	for ; at-8 >= low; at -= 8 {
		w := little.Uint64(text[at-8:]) ^ '\n'*ones
		if ends := ^(w&^tops + ^uint64(tops) | w) & tops; ends != 0 {
			return at - bits.LeadingZeros64(ends)/8
		}
	}
	for at > low && text[at-1] != '\n' {
		at--
	}
	return at
}

// equalFold compares without regard to the case of ASCII letters.
func equalFold(a, b []byte) bool {
	for i := range a {
		x, y := a[i], b[i]
		if x != y && (x^y != 0x20 || (x|0x20)-'a' >= 26) {
			return false
		}
	}
	return true
}

func indexFold(text, s []byte) int {
	for i := 0; i+len(s) <= len(text); i++ {
		if equalFold(text[i:i+len(s)], s) {
			return i
		}
	}
	return -1
}
