package pattern

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// sieved is what is left of a text behind each bitmap.
type sieved struct {
	words []uint32
	keys  []keyAt
}

func sieve(ix *Index, text []byte) (out sieved) {
	f := newFinder()
	f.all, f.seg = text, ix.parts[0]
	for f.base = 0; f.base < len(text); f.base += blockSize {
		n := f.passWords(f.base, min(f.base+blockSize, len(text)))
		out.words = append(out.words, f.words[:n]...)
		out.keys = append(out.keys, f.keys[:f.passKeys(f.sieveKeys(n))]...)
	}
	return out
}

// checkSieve compares what each way to sieve leaves of a text.
func checkSieve(t *testing.T, ix *Index, text []byte) (want sieved) {
	t.Helper()
	ways := map[string]sieved{}
	eachWay(func(way string) { ways[way] = sieve(ix, text) })
	want = ways["portable"]
	for way, got := range ways {
		if !slices.Equal(got.words, want.words) {
			t.Fatalf("%s: %d of %q", way, got.words, text)
		}
		if !slices.Equal(got.keys, want.keys) {
			t.Fatalf("%s: %x of %q, want %x", way, got.keys, text, want.keys)
		}
	}
	return want
}

// sieveSets are indexes with bitmaps of several sizes, with and without keys in
// either case.
func sieveSets() []*Index {
	var sets []*Index
	for _, n := range []int{1, 30, 5000} {
		exprs := mapSlice(messages(n), exprFor)
		sets = append(sets, Build(compileAll(exprs)))
		sets = append(sets, Build(compileAll(append(exprs, "(?i)the lease of the buffer", "it is", "x: no a"))))
	}
	return sets
}

func TestSieve(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 12))
	words, keys := 0, 0
	for _, ix := range sieveSets() {
		check := func(text []byte) {
			got := checkSieve(t, ix, text)
			words, keys = words+len(got.words), keys+len(got.keys)
		}
		log := logText(1<<16, messages(5000))
		check(log)
		for range 300 { // texts that end, and begin, at any place of a word or block
			from := r.IntN(len(log) - 3*blockSize)
			check(log[from : from+r.IntN(200)])
			check(log[from : from+blockSize-10+r.IntN(20)])
		}
		check([]byte(strings.Repeat("ab ", 3*blockSize))) // the most there can be
		check([]byte(strings.Repeat("it is ", 2*blockSize)))
		check(bytes.Repeat([]byte{0xff, 'a', 'b', 0}, 2*blockSize))
	}
	if words < 10_000 || keys < 1000 {
		t.Errorf("only %d words and %d keys were compared", words, keys)
	}
}

func FuzzSieve(f *testing.F) {
	sets := sieveSets()
	f.Add(uint8(0), []byte("2026-03-01 ERROR cannot open the table"))
	f.Add(uint8(3), bytes.Repeat([]byte("The Lease of THE buffer x: no a\n"), 400))
	f.Fuzz(func(t *testing.T, set uint8, text []byte) {
		checkSieve(t, sets[int(set)%len(sets)], text)
	})
}
