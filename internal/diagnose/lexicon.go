package diagnose

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// maxPostings is how common a word may be before it says nothing about which
// message a line could be.
const maxPostings = 4096

// lexicon knows which messages hold which words. It finds messages that a text
// resembles when no pattern fits.
type lexicon struct {
	owners  table     // word in lower case → owners; none when they are more than maxPostings
	counts  []uint32  // of each word: how many owners it has
	weight  []float32 // of each owner: the sum of its words' weights
	total   float64   // number of owners
	scratch sync.Pool // of *scores
}

// scores are what the owners share with a text, kept for the next text.
type scores struct {
	of      []float64 // by owner; all zero between two texts
	touched []int32   // owners with a score
}

// newLexicon makes the lexicon of n owners.
func newLexicon(n int, owners table) *lexicon {
	x := openLexicon(owners, make([]uint32, owners.len()), make([]float32, n))
	kept := uint32(0)
	from := uint32(0)
	// In the order of the words, as sums of fractions depend on it.
	for i := range x.owners.len() {
		list := x.owners.list[from:x.owners.from[i+1]]
		from = x.owners.from[i+1]
		x.counts[i] = uint32(len(list))
		weight := float32(x.weigh(string(x.owners.word(i)), len(list)))
		for _, owner := range list {
			x.weight[owner] += weight
		}
		if len(list) <= maxPostings {
			kept += uint32(copy(x.owners.list[kept:], list))
		}
		x.owners.from[i+1] = kept
	}
	x.owners.list = slices.Clone(x.owners.list[:kept])
	return x
}

// openLexicon makes the lexicon of owners that were weighed before.
func openLexicon(owners table, counts []uint32, weight []float32) *lexicon {
	x := &lexicon{owners: owners, counts: counts, weight: weight, total: float64(len(weight))}
	x.scratch.New = func() any { return &scores{of: make([]float64, len(x.weight))} }
	return x
}

// has reports whether a message has the word.
func (x *lexicon) has(word string) bool { return x.owners.find(word) >= 0 }

// hasBoth reports whether a message has the word that a and b make together. It has
// at most 24 bytes.
func (x *lexicon) hasBoth(a, b []byte) bool {
	var both [24]byte
	word := append(append(both[:0], a...), b...)
	for i, c := range word {
		if c >= 'A' && c <= 'Z' {
			word[i] = c + 'a' - 'A'
		}
	}
	return x.owners.find(string(word)) >= 0
}

// weightOf is how much a word says: rare words more than frequent ones.
func (x *lexicon) weightOf(word string) float64 {
	if i := x.owners.find(word); i >= 0 {
		return x.weigh(word, int(x.counts[i]))
	}
	return 0
}

// weigh is weightOf for a word that n owners have.
func (x *lexicon) weigh(word string, n int) float64 {
	if n == 0 {
		return 0
	}
	w := math.Log(1+x.total/float64(n)) / math.Log(1+x.total)
	if commonWords[word] {
		w /= 2
	}
	return w
}

// resemblance is an owner that shares words with a text.
type resemblance struct {
	owner int
	rank  float64 // by what is shared, and by its part of the whole
}

// like finds the owners that share most with a text, best first.
func (x *lexicon) like(text []byte, most int) []resemblance {
	s := x.scratch.Get().(*scores)
	seen := map[string]bool{}
	eachWord(text, func(from, to int) {
		w := lower(text[from:to])
		if len(w) < 2 || seen[w] {
			return
		}
		seen[w] = true
		list := x.owners.of(w)
		if len(list) == 0 {
			return
		}
		weight := x.weigh(w, len(list))
		for _, i := range list {
			if s.of[i] == 0 {
				s.touched = append(s.touched, i)
			}
			s.of[i] += weight
		}
	})
	before := func(a, b resemblance) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.owner, b.owner))
	}
	out := make([]resemblance, 0, most+1)
	for _, i := range s.touched {
		sum := s.of[i]
		s.of[i] = 0
		r := resemblance{int(i), sum * (0.5 + sum/float64(max(x.weight[i], 0.01)))}
		if len(out) == most && before(r, out[most-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(out, r, before)
		out = slices.Insert(out, at, r)
		out = out[:min(len(out), most)]
	}
	s.touched = s.touched[:0]
	x.scratch.Put(s)
	return out
}
