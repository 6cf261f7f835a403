package pattern

import (
	"math/bits"

	"errorkb/internal/pattern/little"
)

// A key is what the index looks up at a word start: some of the bytes around it,
// in one of these shapes. Each pattern has one key, in the shape and at the word
// start where it is rarest.
type shape uint8

const (
	after8  shape = iota // the 8 bytes from the word start on
	around8              // 8 before and 8 after
	around4              // 4 before and 4 after
	after4               // 4 after
	folded4              // 4 after, without regard to case
	shapes
)

// salts keep the keys of the shapes apart.
var salts = [shapes]uint64{0, 0x9ae16a3b2f90404f, 0xc949c7defa1a4f6b, 0x1d8af066f4c8a2e3, 0x5bd1e9955bd1e995}

// spread multiplies a key so that its high bits depend on all of it.
const spread = 0x9e3779b97f4a7c15

// keyOf returns the key of a shape. The bytes before and after the word start
// are little-endian words; before ends at the word start.
func keyOf(s shape, before, after uint64) uint64 {
	switch s {
	case after8:
		return after
	case around8:
		return keyAround8(before, after)
	case around4:
		return keyAround4(before, after)
	case after4:
		return after&0xffffffff ^ salts[after4]
	}
	return (after|0x20202020)&0xffffffff ^ salts[folded4]
}

func keyAround8(before, after uint64) uint64 {
	return (before*0xff51afd7ed558ccd ^ before>>29) + after ^ salts[around8]
}

func keyAround4(before, after uint64) uint64 {
	return (before>>32 | after<<32) ^ salts[around4]
}

// slot returns the place of a key in a table of 1<<bits.
func slot(key uint64, bits uint) uint64 { return mix(key) >> (64 - bits) }

// mix makes a hash of a key, of which the high bits are good.
func mix(key uint64) uint64 { return (key ^ key>>32) * spread }

// tagOf is what an entry keeps of a key; the bucket it stands in says more. An
// entry that is found by mistake fails when its text is compared.
func tagOf(key uint64) uint32 { return uint32(key ^ key>>32) }

// The bitmaps are asked at every word start. The one for short keys is over 4 bytes,
// and with 16 KiB at most it stays in the first-level cache; the one for long keys is
// over 8 bytes, the last over whole keys, and these grow with the patterns. In them a
// key has two bits, both in one word, which is found in one place and seldom has both
// for another key.
const (
	maxSmallBits = 17
	maxLongBits  = 27
)

func smallSlot(word uint32, bits uint) uint32 { return word * 0x9e3779b1 >> ((32 - bits) & 31) }

// longBits returns the word of the second bitmap that stands for 8 bytes, and the
// bits in it. The shift is longShift of the bitmap.
func longBits(after uint64, shift uint) (word, one, two uint32) {
	h := uint32(after)*0x9e3779b1 ^ uint32(after>>32)
	h = (h ^ h>>16) * 0x85ebca6b >> (shift & 31)
	return h >> 10, h & 31, h >> 5 & 31
}

func longShift(bitmap []byte) uint { return 27 - log2(len(bitmap)*8) }

// keyBits returns the word of the last bitmap that stands for a key, and the bits in
// it. The shift is keyShift of the bitmap.
func keyBits(key uint64, shift uint) (word, one, two uint64) {
	h := mix(key) >> (shift & 63)
	return h >> 12, h & 63, h >> 6 & 63
}

func keyShift(bitmap []byte) uint { return 58 - log2(len(bitmap)*8) }

func log2(n int) uint { return uint(bits.Len(uint(n))) - 1 }

// long reports whether a key of the shape has 8 bytes after the word start.
func (s shape) long() bool { return s == after8 || s == around8 }

// wordStart reports whether a word starts at i: an ASCII letter that follows none
// and is followed by one.
func wordStart(text []byte, i int) bool {
	return isASCIILetter(text[i]) && (i == 0 || !isASCIILetter(text[i-1])) && i+1 < len(text) && isASCIILetter(text[i+1])
}

const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// letters marks the bytes of a word that are ASCII letters, in their top bits.
func letters(w uint64) uint64 {
	low := w&^tops | 0x20*ones
	return (low + (0x80-'a')*ones) &^ (low + (0x7f-'z')*ones) & tops &^ w
}

// gather moves the top bits of the eight bytes into the low eight bits.
func gather(m uint64) uint64 { return (m >> 7) * 0x0102040810204080 >> 56 }

// startsOf returns the word starts of 64 bytes as bits. The carry is 1 when the
// byte before them is a letter, and is passed on; next is 1 when the byte behind
// them is one.
func startsOf(b *[64]byte, next, carry uint64) (starts, out uint64) {
	var l uint64
	for i := range 8 {
		l |= gather(letters(little.Uint64(b[8*i:]))) << (8 * i)
	}
	return l &^ (l<<1 | carry) & (l>>1 | next<<63), l >> 63
}

// startsPortable is startsIn of any processor.
func startsPortable(text []byte, windows int, carry uint64, out []uint32) int {
	n := 0
	for w := range windows {
		next := letters(uint64(text[64*w+64])) >> 7
		var starts uint64
		starts, carry = startsOf((*[64]byte)(text[64*w:]), next, carry)
		for ; starts != 0; starts &= starts - 1 {
			out[n] = uint32(64*w + trailing(starts))
			n++
		}
	}
	return n
}

// before8At and after8At return the bytes around a place as words, with zeros
// beyond the ends of the text.
func before8At(text []byte, i int) uint64 {
	if i >= 8 {
		return little.Uint64(text[i-8:])
	}
	var b [8]byte
	copy(b[8-i:], text[:i])
	return little.Uint64(b[:])
}

func after8At(text []byte, i int) uint64 {
	if len(text)-i >= 8 {
		return little.Uint64(text[i:])
	}
	var b [8]byte
	copy(b[:], text[i:])
	return little.Uint64(b[:])
}

// wordBit is the bit of a word start in the signature of a line.
func wordBit(after uint64) uint64 { return 1 << (uint32(after) * 0x85ebca6b >> 26) }

// signature collects the word starts of a text.
func signature(text []byte) uint64 {
	var sig uint64
	carry := uint64(0)
	i := 0
	for ; i+16 <= len(text); i += 8 {
		l := letters(little.Uint64(text[i:]))
		next := letters(uint64(text[i+8])) << 56
		for s := gather(l &^ (l<<8 | carry) & (l>>8 | next)); s != 0; s &= s - 1 {
			sig |= wordBit(uint64(little.Uint32(text[i+trailing(s):])))
		}
		carry = l >> 56
	}
	for ; i < len(text); i++ {
		if wordStart(text, i) {
			sig |= wordBit(after8At(text, i))
		}
	}
	return sig
}
