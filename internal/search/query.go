package search

import (
	"math"
	"slices"

	"errorkb/internal/kb"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search/query"
)

// A query is built from the words of the text alone, one clause a term: no
// character of it is ever read as syntax.

// Boosts, strongest first. Exact names beat words of the message, these beat
// solutions and prose, and a guess at what was meant comes last.
const (
	boostWhole = 30 // the whole query is a name or the whole message
	boostExact = 12 // a word is a name
	boostPair  = 3  // two words stand in the message as they do in the query
	boostGuess = 0.2
)

var boosts = []struct {
	field string
	boost float64
}{
	{fieldTitle, 5},
	{fieldCodes, 4},
	{fieldTags, 3},
	{fieldPlace, 2.5},
	{fieldWordings, 2},
	{fieldSolution, 2},
	{fieldProse, 1},
}

// effort is how far a search goes to find something.
type effort int

const (
	asWritten effort = iota // all words; the last may be unfinished
	misspelt                // all words, each may have a mistake
	mostWords
	someWords
)

// someShare is the share of the words that mostWords asks for.
const someShare = 0.6

// Shortest words, in characters, that are completed, and that may have one
// and two mistakes.
const (
	minPrefix   = 2
	minMistake  = 5
	minMistakes = 9
)

// parsed is the text of a query as words.
type parsed struct {
	words []word
	open  bool     // the text ends in its last word, which may go on
	whole string   // the whole text without case and marks
	pairs []string // of neighbouring stems
}

// parse reads a text.

func parse(text string) parsed {
	p := parsed{words: split(text), whole: squash(text), pairs: pairTerms(text)}
	if n := len(p.words); n > 0 {
		parts := p.words[n-1].parts
		p.open = parts[len(parts)-1].end == len(text)
	}
	return p
}

// must gives the words that a record must hold: all but stop words, unless
// there is nothing else.
func (p parsed) must() []word {
	if list := slices.DeleteFunc(slices.Clone(p.words), word.isStop); len(list) > 0 {
		return list
	}
	return p.words
}

// may gives the other words.
func (p parsed) may() []word {
	list := slices.DeleteFunc(slices.Clone(p.words), func(w word) bool { return !w.isStop() })
	if len(list) == len(p.words) {
		return nil
	}
	return list
}

// build makes the Bleve query. In each part of it something is asked for:
// Bleve takes a must without clauses for no condition.
func (p parsed) build(q kb.Query, e effort) query.Query {
	last := p.words[len(p.words)-1]
	guess := e >= misspelt
	should := []query.Query{term(fieldExact, p.whole, boostWhole)}
	var must []query.Query
	for _, w := range p.must() {
		open := p.open && w.parts[0].start == last.parts[0].start
		if e < mostWords {
			must = append(must, wordQuery(w, open, guess))
			continue
		}
		// Of a path or a pasted chain of names some parts may be there.
		should = append(should, anyOf(wholeQueries(w, open, guess)...))
		for i, part := range w.parts {
			must = append(must, anyOf(partQueries(part, open && i == len(w.parts)-1, guess)...))
		}
	}
	for _, w := range p.may() {
		should = append(should, wordQuery(w, false, false))
	}
	for _, pair := range p.pairs {
		should = append(should, term(fieldPairs, pair, boostPair))
	}
	var needed query.Query
	if e < mostWords {
		needed = bleve.NewConjunctionQuery(must...)
	} else {
		some := bleve.NewDisjunctionQuery(must...)
		some.SetMin(1)
		if e == mostWords {
			some.SetMin(math.Ceil(someShare * float64(len(must))))
		}
		needed = some
	}
	b := bleve.NewBooleanQuery()
	b.AddMust(needed)
	b.AddShould(&either{should, allOfThem})
	if filter := filterQuery(q); filter != nil {
		b.AddFilter(filter)
	}
	return b
}

// anyOf is the best of some clauses.
func anyOf(clauses ...query.Query) query.Query { return &either{clauses, mostlyBest} }

// wordQuery finds one word: kept whole, or all its parts.
func wordQuery(w word, open, guess bool) query.Query {
	clauses := wholeQueries(w, open, guess)
	var parts []query.Query
	for i, p := range w.parts {
		parts = append(parts, anyOf(partQueries(p, open && i == len(w.parts)-1, guess)...))
	}
	if len(parts) == 1 {
		return anyOf(append(clauses, parts[0])...)
	}
	return anyOf(append(clauses, bleve.NewConjunctionQuery(parts...))...)
}

// wholeQueries find a word as the name that it is.
func wholeQueries(w word, open, guess bool) []query.Query {
	name := squashed(w)
	clauses := []query.Query{term(fieldExact, name, boostExact)}
	if len(w.parts) == 1 {
		return clauses // the rest is in partQueries
	}
	for _, b := range boosts {
		clauses = append(clauses, term(b.field, name, b.boost))
	}
	return append(clauses, guesses(name, open, guess)...)
}

// partQueries find a part of a word.
func partQueries(p part, open, guess bool) []query.Query {
	var clauses []query.Query
	stem := p.stem()
	for _, b := range boosts {
		clauses = append(clauses, term(b.field, stem, b.boost))
		if p.plain != stem { // it may be a name elsewhere, which is not stemmed
			clauses = append(clauses, term(b.field, p.plain, b.boost))
		}
	}
	return append(clauses, guesses(p.plain, open, guess)...)
}

// guesses find words that go on where text ends, and misspelt ones.
func guesses(text string, open, guess bool) []query.Query {
	var clauses []query.Query
	if open && runeCount(text) >= minPrefix {
		q := bleve.NewPrefixQuery(text)
		q.SetField(fieldWords)
		q.SetBoost(boostGuess)
		clauses = append(clauses, q)
	}
	if n := mistakes(text); guess && n > 0 {
		q := bleve.NewFuzzyQuery(text)
		q.SetField(fieldWords)
		q.SetFuzziness(n)
		q.SetPrefix(1) // people get the first letter right
		q.SetBoost(boostGuess)
		clauses = append(clauses, q)
	}
	return clauses
}

// squashed is the term of the whole word.
func squashed(w word) string {
	if n := len(w.wholes); n > 0 {
		return w.wholes[n-1].term
	}
	return w.parts[0].plain
}

func term(field, text string, boost float64) query.Query {
	q := bleve.NewTermQuery(text)
	q.SetField(field)
	q.SetBoost(boost)
	if field == fieldSolution || field == fieldProse {
		return q
	}
	return present{q}
}

// mistakes is the number of mistakes a word may have. Numbers and codes have
// none: E0277 is not E0278.
func mistakes(text string) int {
	for _, r := range text {
		if r >= '0' && r <= '9' {
			return 0
		}
	}
	switch n := runeCount(text); {
	case n < minMistake:
		return 0
	case n < minMistakes:
		return 1
	}
	return 2
}

// filterQuery is nil when the query has no filter.
func filterQuery(q kb.Query) query.Query {
	var all []query.Query
	for _, f := range []struct {
		kind  kb.GroupKind
		value string
	}{
		{kb.GroupRepo, q.Repo},
		{kb.GroupTag, q.Tag},
		{kb.GroupBackground, q.Background},
		{kb.GroupSeverity, q.Severity},
		{kb.GroupClass, q.Class},
		{kb.GroupCode, q.Code},
		{kb.GroupStatus, q.Status},
	} {
		if f.value != "" {
			all = append(all, term(facetPrefix+string(f.kind), f.value, 1))
		}
	}
	if all == nil {
		return nil
	}
	return bleve.NewConjunctionQuery(all...)
}
