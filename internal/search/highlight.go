package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"errorkb/internal/kb"
)

const (
	excerptLen   = 180 // bytes of text in an excerpt, about
	excerptLead  = 40  // of them before the first marked part, at most
	maxExcerpts  = 3   // of one hit, besides its title
	maxMarksSeen = 200 // of one text; a place that good is found by then
)

// marker finds in texts what a query found.
type marker struct {
	terms  map[string]bool // stems, plain parts and wholes of words that count
	stops  map[string]bool // stop words of the query, marked between other marks
	prefix string          // of the unfinished last word, "" when finished
	rough  []string        // words that may be misspelt
	begins beginnings      // of everything above
}

// newMarker makes the marker of a query that found its hits with an effort.
func newMarker(p parsed, e effort) *marker {
	m := &marker{terms: map[string]bool{}, stops: map[string]bool{}}
	for _, w := range p.must() {
		m.terms[squashed(w)] = true
		for _, part := range w.parts {
			m.terms[part.stem()] = true
			m.terms[part.plain] = true
			if e >= misspelt && mistakes(part.plain) > 0 {
				m.rough = append(m.rough, part.plain)
			}
		}
	}
	for _, w := range p.may() {
		m.stops[w.parts[0].plain] = true
	}
	if n := len(p.words); n > 0 && p.open && !p.words[n-1].isStop() {
		parts := p.words[n-1].parts
		if last := parts[len(parts)-1].plain; runeCount(last) >= minPrefix {
			m.prefix = last
		}
	}
	for _, terms := range []map[string]bool{m.terms, m.stops} {
		for term := range terms {
			m.begins.add(term)
		}
	}
	if m.prefix != "" {
		m.begins.add(m.prefix)
	}
	return m
}

// mark is a marked place of a text, and the term that it stands for.
type mark struct {
	start, end int
	term       string
	weak       bool // a stop word: marked only beside another mark
}

// marks finds the places of a text to mark, in order, apart from each other.
func (m *marker) marks(text string) []mark {
	var list []mark
	for w := range m.begins.words(text) {
		if s, ok := m.whole(w); ok {
			list = append(list, mark{s.start, s.end, s.term, false})
			continue
		}
		for _, p := range w.parts {
			if term, ok := m.part(p); ok {
				list = append(list, mark{p.start, p.end, term, false})
			} else if m.stops[p.plain] {
				list = append(list, mark{p.start, p.end, p.plain, true})
			}
		}
	}
	return join(text, list)
}

// whole finds the longest name in a word that the query names whole.
func (m *marker) whole(w word) (span, bool) {
	for _, s := range slices.Backward(w.wholes) {
		if m.terms[s.term] {
			return s, true
		}
	}
	return span{}, false
}

func (m *marker) part(p part) (string, bool) {
	switch stem := p.stem(); {
	case m.terms[stem]:
		return stem, true
	case m.terms[p.plain]:
		return p.plain, true
	case m.prefix != "" && strings.HasPrefix(p.plain, m.prefix):
		return m.prefix, true
	}
	for _, r := range m.rough {
		if near(r, p.plain) {
			return r, true
		}
	}
	return "", false
}

// isGap says whether what lies between two marks is so little that both are
// shown as one.
func isGap(text string) bool { return len(text) <= 2 && strings.Trim(text, " ,:'_-./") == "" }

// join drops stop words that have no other mark on both sides.
func join(text string, list []mark) []mark {
	var out []mark
	for i := 0; i < len(list); {
		j := i + 1
		for j < len(list) && isGap(text[list[j-1].end:list[j].start]) {
			j++
		}
		run := list[i:j]
		i = j
		for len(run) > 0 && run[0].weak {
			run = run[1:]
		}
		for len(run) > 0 && run[len(run)-1].weak {
			run = run[:len(run)-1]
		}
		out = append(out, run...)
	}
	return out
}

// parts cuts text[start:end] at the marks.
func parts(text string, start, end int, marks []mark) []kb.Part {
	var out []kb.Part
	add := func(text string, marked bool) {
		if text == "" {
			return
		}
		if n := len(out); n > 0 && out[n-1].Marked == marked {
			out[n-1].Text += text
			return
		}
		out = append(out, kb.Part{Text: text, Marked: marked})
	}
	at := start
	for _, m := range marks {
		if m.start < at || m.end > end {
			continue
		}
		add(text[at:m.start], at > start && isGap(text[at:m.start]))
		add(text[m.start:m.end], true)
		at = m.end
	}
	add(text[at:end], false)
	return out
}

// fragments makes what a hit shows: the whole title, then the excerpts that
// hold the most of the query, in the order of the page.
func (m *marker) fragments(s *stored) []kb.Fragment {
	title := s.Item.Title
	out := []kb.Fragment{{Field: kb.FieldTitle, Parts: parts(title, 0, len(title), m.marks(title))}}

	type excerpt struct {
		kb.Fragment
		place, terms int
	}
	var best []excerpt
	for i, t := range s.Texts {
		marks := m.marks(t.Text)
		if len(marks) == 0 {
			continue
		}
		start, end, terms := window(t.Text, marks)
		e := excerpt{kb.Fragment{Field: t.Field, Parts: parts(t.Text, start, end, marks)}, i, terms}
		if start > 0 {
			e.Parts = append([]kb.Part{{Text: "… "}}, e.Parts...)
		}
		if end < len(t.Text) {
			e.Parts = append(e.Parts, kb.Part{Text: " …"})
		}
		// One excerpt a field: the first of the best.
		if n := len(best); n > 0 && best[n-1].Field == t.Field {
			if terms > best[n-1].terms {
				best[n-1] = e
			}
			continue
		}
		best = append(best, e)
	}
	slices.SortStableFunc(best, func(a, b excerpt) int { return cmp.Compare(b.terms, a.terms) })
	best = best[:min(len(best), maxExcerpts)]
	slices.SortFunc(best, func(a, b excerpt) int { return cmp.Compare(a.place, b.place) })
	for _, e := range best {
		out = append(out, e.Fragment)
	}
	return out
}

// window chooses the part of a text that holds the most different terms, cut
// at blanks where that costs little.
func window(text string, marks []mark) (start, end, terms int) {
	first := 0
	for i := range marks[:min(len(marks), maxMarksSeen)] {
		seen := map[string]bool{}
		for _, m := range marks[i:] {
			if m.end > marks[i].start+excerptLen-excerptLead {
				break
			}
			if !m.weak {
				seen[m.term] = true
			}
		}
		if len(seen) > terms {
			first, terms = i, len(seen)
		}
	}
	start = cutBack(text, max(0, marks[first].start-excerptLead), marks[first].start)
	end = max(marks[first].end, min(len(text), start+excerptLen))
	if end < len(text) {
		last := marks[first].end
		for _, m := range marks[first:] {
			if m.end <= end {
				last = m.end
			}
		}
		if i := strings.LastIndexByte(text[last:end], ' '); i >= 0 {
			end = last + i
		} else {
			for end < len(text) && !utf8.RuneStart(text[end]) {
				end++
			}
		}
	}
	return start, end, terms
}

// cutBack moves a cut at start forward, behind a blank or to a whole
// character, but not past limit.
func cutBack(text string, start, limit int) int {
	if start == 0 {
		return 0
	}
	if i := strings.IndexByte(text[start:limit], ' '); i >= 0 {
		return start + i + 1
	}
	for start < limit && !utf8.RuneStart(text[start]) {
		start++
	}
	return start
}

func runeCount(s string) int { return utf8.RuneCountInString(s) }

// near says whether two words differ by at most the mistakes that the first
// may have: characters left out, put in, taken for another, or swapped with
// the next. It agrees with the fuzzy query of Bleve.
func near(written, word string) bool {
	limit := mistakes(written)
	a, b := []rune(written), []rune(word)
	if limit == 0 || len(a)-len(b) > limit || len(b)-len(a) > limit || a[0] != b[0] {
		return false
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)] <= limit
}
