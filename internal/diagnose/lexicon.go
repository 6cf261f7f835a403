package diagnose

import (
	"math"
	"sort"
)

// maxPostings is how common a word may be before it says nothing about which
// message a line could be.
const maxPostings = 4096

// lexicon knows which messages hold which words. It finds messages that a text
// resembles when no pattern fits.
type lexicon struct {
	owners map[string][]int32 // word in lower case → owners, ascending
	weight []float32          // of each owner: the sum of its words' weights
	total  float64            // number of owners
}

func newLexicon(e *Engine) *lexicon {
	x := &lexicon{owners: map[string][]int32{}, weight: make([]float32, len(e.owners)), total: float64(len(e.owners))}
	for i := range e.owners {
		for _, l := range e.owners[i].pattern.Literals() {
			eachWord(l, func(from, to int) {
				w := lower([]byte(l[from:to]))
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
	for w, list := range x.owners {
		weight := float32(x.weightOf(w))
		for _, i := range list {
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
	scores := map[int32]float64{}
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
			scores[i] += weight
		}
	})
	out := make([]resemblance, 0, len(scores))
	for i, s := range scores {
		out = append(out, resemblance{int(i), s * (0.5 + s/float64(max(x.weight[i], 0.01)))})
	}
	sort.Slice(out, func(a, b int) bool {
		if out[a].rank != out[b].rank {
			return out[a].rank > out[b].rank
		}
		return out[a].owner < out[b].owner
	})
	if len(out) > most {
		out = out[:most]
	}
	return out
}
