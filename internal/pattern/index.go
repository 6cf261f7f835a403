package pattern

// Index finds which of many patterns stand in a text. It is immutable and may
// be used by several goroutines at once.
type Index struct {
	patterns []*Pattern
	words    map[string][]entry // variants by the rarest word that every match holds
	rest     []entry            // variants without such a word
	others   []int              // patterns that are regular expressions
}

// entry is a variant of a pattern.
type entry struct{ pattern, variant int }

// Build makes an index. The place of a pattern in the list is its id.
func Build(patterns []*Pattern) *Index {
	ix := &Index{patterns: patterns, words: map[string][]entry{}}
	count := map[string]int{}
	for _, p := range patterns {
		for i := range p.variants {
			p.variants[i].eachWord(func(w string) { count[w]++ })
		}
	}
	for id, p := range patterns {
		if p == nil {
			continue
		}
		if !p.Reduced() {
			ix.others = append(ix.others, id)
			continue
		}
		for i := range p.variants {
			best := ""
			p.variants[i].eachWord(func(w string) {
				if best == "" || count[w] < count[best] || count[w] == count[best] && len(w) > len(best) {
					best = w
				}
			})
			e := entry{id, i}
			if best == "" {
				ix.rest = append(ix.rest, e)
			} else {
				ix.words[best] = append(ix.words[best], e)
			}
		}
	}
	return ix
}

// eachWord calls f for every word that a match of the variant must hold whole.
func (v *variant) eachWord(f func(string)) {
	for s := range v.steps {
		st := &v.steps[s]
		if st.kind != literal || st.fold {
			continue
		}
		for i := 0; i < len(st.text); {
			if !isWord(st.text[i]) {
				i++
				continue
			}
			j := i
			for j < len(st.text) && isWord(st.text[j]) {
				j++
			}
			left := i > 0 || s == 0 || v.steps[s-1].kind == space && v.steps[s-1].min > 0
			right := j < len(st.text) || s == len(v.steps)-1 || v.steps[s+1].kind == space && v.steps[s+1].min > 0
			if left && right {
				f(st.text[i:j])
			}
			i = j
		}
	}
}

// Find calls report for every place of text where a pattern stands, until
// report returns false. Text may be one line or many; a pattern goes across line
// ends only where it says so. The order is by pattern within the order in which
// their rarest words stand in the text.
func (ix *Index) Find(text []byte, report func(id int, m Match) bool) {
	done := map[entry]int{} // end of what was searched for it
	var m matcher
	search := func(e entry, from, to int) bool {
		p := ix.patterns[e.pattern]
		v := &p.variants[e.variant]
		if v.lines {
			from, to = 0, len(text)
		}
		if d, ok := done[e]; ok && d >= to {
			return true
		}
		done[e] = to
		for from <= to {
			m.reset(text, v)
			r, ok := m.next(from, to)
			if !ok {
				break
			}
			if !report(e.pattern, m.match(p.names)) {
				return false
			}
			from = max(r.end, from+1)
		}
		return true
	}
	for from := 0; from <= len(text); {
		to := lineEnd(text, from)
		for i := from; i < to; {
			if !isWord(text[i]) {
				i++
				continue
			}
			j := i
			for j < to && isWord(text[j]) {
				j++
			}
			for _, e := range ix.words[string(text[i:j])] {
				if !search(e, from, to) {
					return
				}
			}
			i = j
		}
		for _, e := range ix.rest {
			if len(ix.patterns[e.pattern].literals) > 0 && !search(e, from, to) {
				return
			}
		}
		from = to + 1
	}
	for _, id := range ix.others {
		stop := false
		ix.patterns[id].each(text, func(m Match) bool {
			stop = !report(id, m)
			return !stop
		})
		if stop {
			return
		}
	}
}

// Len returns the number of patterns.
func (ix *Index) Len() int { return len(ix.patterns) }
