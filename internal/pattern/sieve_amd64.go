package pattern

// startsIn writes the places of the word starts of windows of 64 bytes each to
// out, and returns how many there are. The carry is 1 when the byte before the
// text is a letter. One more byte of text must follow the windows, and out must
// have 32 more places than there are word starts.
func startsIn(text []byte, windows int, carry uint64, out []uint32) int {
	if windows == 0 || !avx2 {
		return startsPortable(text, windows, carry, out)
	}
	_, _ = text[windows*64], out[windows*32+31]
	if avx512 {
		return startsAVX512(&text[0], windows, carry, &out[0])
	}
	return startsAVX2(&text[0], windows, carry, &out[0])
}

// wordsIn writes to out those of the word starts of text that are in one of the first
// bitmaps, and returns how many. Eight bytes of text must follow each, and out must
// have a place for each.
func (s *segment) wordsIn(text []byte, starts, out []uint32) int {
	if n := len(starts); avx512 && n > 0 {
		_ = out[n-1]
		return wordsAVX512(&text[0], &starts[0], n, &out[0], &s.small[0], &s.long[0], uint64(32-s.smallBits), uint64(s.longShift))
	}
	return s.wordsPortable(text, starts, out)
}

// sieveKeys keeps of the first n words those that have a key in the second bitmap;
// or all of them, as passKeys looks again.
func (f *finder) sieveKeys(n int) int {
	if !avx512 || n == 0 || f.base < 8 || f.base+int(f.words[n-1])+8 > len(f.all) {
		return n
	}
	s := f.seg
	return keysAVX512(&f.all[f.base], &f.words[0], n, &s.filter[0], uint64(s.keyShift), s.folds)
}

//go:noescape
func startsAVX2(text *byte, windows int, carry uint64, out *uint32) int

//go:noescape
func startsAVX512(text *byte, windows int, carry uint64, out *uint32) int

// wordsAVX512 is wordsIn of n > 0 word starts.
//
//go:noescape
func wordsAVX512(text *byte, words *uint32, n int, out *uint32, small, long *byte, smallShift, longShift uint64) int

// keysAVX512 keeps those of n > 0 word starts of which a key is in the filter. Eight
// bytes must stand before each, and eight must follow.
//
//go:noescape
func keysAVX512(text *byte, words *uint32, n int, filter *byte, shift uint64, folds bool) int
