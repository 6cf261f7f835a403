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
	owners  map[string][]int32 // word in lower case → owners, ascending
	weight  []float32          // of each owner: the sum of its words' weights
	total   float64            // number of owners
	scratch sync.Pool          // of *scores
}

// scores are what the owners share with a text, kept for the next text.
type scores struct {
	of      []float64 // by owner; all zero between two texts
	touched []int32   // owners with a score
}

func newLexicon(e *Engine) *lexicon {
	x := &lexicon{owners: map[string][]int32{}, weight: make([]float32, len(e.owners)), total: float64(len(e.owners))}
	x.scratch.New = func() any { return &scores{of: make([]float64, len(x.weight))} }
	for i := range e.owners {
		for _, l := range e.owners[i].pattern.Literals() {
			eachWord(l, func(from, to int) {
				w := lower(l[from:to])
				if len(w) < 2 {
					return
				}
				list := x.owners[w]
				if n := len(list); n == 0 || list[n-1] != int32(i) {
					x.owners[w] = append(list, int32(i))
				}
			})
		}
	}
	// In the order of the words, as sums of fractions depend on it.
	words := make([]string, 0, len(x.owners))
	for w := range x.owners {
		words = append(words, w)
	}
	slices.Sort(words)
	for _, w := range words {
		weight := float32(x.weightOf(w))
		for _, i := range x.owners[w] {
			x.weight[i] += weight
		}
	}
	return x
}

// has reports whether a message has the word.
func (x *lexicon) has(word string) bool { return len(x.owners[word]) > 0 }

// weightOf is how much a word says: rare words more than frequent ones.
func (x *lexicon) weightOf(word string) float64 {
	n := len(x.owners[word])
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
		list := x.owners[w]
		if len(list) == 0 || len(list) > maxPostings {
			return
		}
		weight := x.weightOf(w)
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
