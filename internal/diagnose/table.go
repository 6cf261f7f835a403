package diagnose

import (
	"math/bits"
	"slices"
)

// table maps words to ascending numbers, all in flat arrays: a map of a hundred
// thousand strings and lists is slow to make, and the garbage collector follows
// every one of them.
type table struct {
	text  []byte   // the words, in ascending order
	ends  []uint32 // of each word in text
	slots []uint32 // by hash of the word: its place in ends, plus one
	from  []uint32 // of each word: its first number; one more at the end
	list  []int32
}

// of returns the numbers of a word.
func (t *table) of(word string) []int32 {
	if i := t.find(word); i >= 0 {
		return t.list[t.from[i]:t.from[i+1]]
	}
	return nil
}

// len is the number of words.
func (t *table) len() int { return len(t.ends) }

func (t *table) word(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = t.ends[i-1]
	}
	return t.text[from:t.ends[i]]
}

func (t *table) find(word string) int {
	mask := uint64(len(t.slots) - 1)
	for s := hashWord(word) & mask; len(t.slots) > 0; s = (s + 1) & mask {
		i := int(t.slots[s]) - 1
		if i < 0 || string(t.word(i)) == word {
			return i
		}
	}
	return -1
}

func hashWord(word string) uint64 {
	h := uint64(len(word))
	for i := range len(word) {
		h = (h ^ uint64(word[i])) * mixer
	}
	return h ^ h>>32
}

// tableDraft collects the words of a share of the data.
type tableDraft struct {
	ids   map[string]int32
	words []string
	last  []int32 // of each word: the number that was added last
	pairs []tablePair
}

type tablePair struct{ word, number int32 }

// add notes a number of a word. Numbers must not get smaller.
func (d *tableDraft) add(word []byte, number int32) {
	id, ok := d.ids[string(word)]
	switch {
	case !ok:
		if d.ids == nil {
			d.ids = map[string]int32{}
		}
		id = int32(len(d.words))
		s := string(word)
		d.ids[s] = id
		d.words, d.last = append(d.words, s), append(d.last, number)
	case d.last[id] == number:
		return
	}
	d.last[id] = number
	d.pairs = append(d.pairs, tablePair{id, number})
}

// newTable makes the table of several shares. The numbers of a share are counted
// from its base.
func newTable(drafts []*tableDraft, bases []int32) table {
	var t table
	ids := map[string]int32{}
	var words []string
	for _, d := range drafts {
		for _, w := range d.words {
			if _, ok := ids[w]; !ok {
				ids[w] = 0
				words = append(words, w)
			}
		}
	}
	if len(words) == 0 {
		return t
	}
	slices.Sort(words)
	t.slots = make([]uint32, 2<<bits.Len(uint(len(words))))
	mask := uint64(len(t.slots) - 1)
	for i, w := range words {
		ids[w] = int32(i)
		t.text = append(t.text, w...)
		t.ends = append(t.ends, uint32(len(t.text)))
		s := hashWord(w) & mask
		for t.slots[s] != 0 {
			s = (s + 1) & mask
		}
		t.slots[s] = uint32(i + 1)
	}
	t.from = make([]uint32, len(words)+1)
	total := 0
	for _, d := range drafts {
		for k, w := range d.words {
			d.last[k] = ids[w] // from here on the word's place in the table
		}
		for _, p := range d.pairs {
			t.from[d.last[p.word]+1]++
		}
		total += len(d.pairs)
	}
	for i := range words {
		t.from[i+1] += t.from[i]
	}
	t.list = make([]int32, total)
	next := slices.Clone(t.from)
	for k, d := range drafts {
		for _, p := range d.pairs {
			w := d.last[p.word]
			t.list[next[w]] = bases[k] + p.number
			next[w]++
		}
	}
	return t
}
