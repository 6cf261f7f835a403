package diagnose

import "sync"

// spelling finds the words of the messages that a mistyped word may stand for. It is
// made when it is first asked for: only unknown texts ask.
type spelling struct {
	once  sync.Once
	words map[spellingKey][]string // sorted
}

// spellingKey are length and first letter of a word: few mistype the first one.
type spellingKey struct {
	length int
	first  byte
}

// minMistyped is the length of the shortest word whose typing errors are undone.
const minMistyped = 5

// closest is the word of a message that is most like a word that no message has: at
// most one letter off, or two where it is long; "" when there is none.
func (s *spelling) closest(x *lexicon, word string) string {
	s.once.Do(func() {
		s.words = map[spellingKey][]string{}
		for i := range x.owners.len() {
			if w := string(x.owners.word(i)); len(w) >= minMistyped && !isNumberLike(w) {
				k := spellingKey{len(w), w[0]}
				s.words[k] = append(s.words[k], w)
			}
		}
	})
	if len(word) < minMistyped {
		return ""
	}
	most := 1
	if len(word) > minMistyped {
		most = 2
	}
	best, distance, rarest := "", most+1, 0.0
	for length := len(word) - most; length <= len(word)+most; length++ {
		for _, w := range s.words[spellingKey{length, word[0]}] {
			d := editDistance(word, w, most)
			if rare := x.weightOf(w); d < distance || d == distance && d <= most && rare > rarest {
				best, distance, rarest = w, d, rare
			}
		}
	}
	return best
}

// editDistance is the number of letters that have to be added, removed, changed or
// swapped with the next one to make b of a; most+1 when it is more than most. Words
// are at most as long as lower gives.
func editDistance(a, b string, most int) int {
	var rows [3][32]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
			least = min(least, d)
		}
		if least > most {
			return most + 1
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], most+1)
}

// otherForm is a word of the messages that is another form of a word: with an s, or
// without; "" when there is none.
func otherForm(x *lexicon, word string) string {
	if x.has(word + "s") {
		return word + "s"
	}
	if n := len(word) - 1; n > 2 && word[n] == 's' && x.has(word[:n]) {
		return word[:n]
	}
	return ""
}
