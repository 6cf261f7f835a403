package pattern

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// startsByByte is the definition of word starts, byte by byte.
func startsByByte(text []byte, from, to int) []uint32 {
	var out []uint32
	for i := from; i < to; i++ {
		if wordStart(text, i) {
			out = append(out, uint32(i-from))
		}
	}
	return out
}

// checkStarts compares the word starts of windows at a place of a text as the
// processor finds them, as any does, and by definition.
func checkStarts(t *testing.T, text []byte, from int) {
	t.Helper()
	windows := (len(text) - 1 - from) / 64
	carry := uint64(0)
	if from > 0 && isASCIILetter(text[from-1]) {
		carry = 1
	}
	want := startsByByte(text, from, from+64*windows)
	eachWay(func(way string) {
		out := make([]uint32, 32*windows+32)
		if got := out[:startsIn(text[from:], windows, carry, out)]; !slices.Equal(got, want) {
			t.Fatalf("%s from %d of %q: %d, want %d", way, from, text, got, want)
		}
	})
}

func TestStarts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 64))
	found := 0
	for n := range 2000 {
		text := make([]byte, 1+r.IntN(400))
		for i := range text {
			if n%2 == 0 {
				text[i] = byte(r.IntN(256))
			} else {
				text[i] = "ab Zz@[`{é\n1_"[r.IntN(14)]
			}
		}
		checkStarts(t, text, r.IntN(len(text)))
		found += len(startsByByte(text, 0, len(text)))
	}
	if found < 10_000 {
		t.Errorf("only %d word starts were compared", found)
	}
	checkStarts(t, bytes.Repeat([]byte("ab "), 500), 0) // the most there can be
	for n := range 22 {                                 // as many in one window
		window := append(bytes.Repeat([]byte("ab "), n), bytes.Repeat([]byte("."), 100)...)
		checkStarts(t, window, 0)
	}
	for b := range 256 {
		checkStarts(t, bytes.Repeat([]byte{byte(b), 'x', 'y'}, 50), 1)
	}
}

func FuzzStarts(f *testing.F) {
	f.Add(bytes.Repeat([]byte("an error in line 12: "), 10), 3)
	f.Add(bytes.Repeat([]byte{0xc1, 'A', 0xff}, 70), 0)
	f.Fuzz(func(t *testing.T, text []byte, from int) {
		if from < 0 || from >= len(text) || len(text) > 1<<14 {
			return
		}
		checkStarts(t, text, from)
	})
}
