package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"errorkb/internal/kb"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search/query"
)

// either finds what Bleve's disjunction finds, alone and inside others, where
// it is asked to skip.
func TestEitherFindsWhatADisjunctionFinds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta"}
	var records []*kb.Record
	for n := range 300 {
		message := ""
		for range 1 + random.IntN(4) {
			message += words[random.IntN(len(words))] + " "
		}
		records = append(records, made(n, "acme/words", fmt.Sprintf("w-%d", n), message, func(*kb.Record) {}))
	}
	x := memory(t, kb.NewSetOf(records...))
	clauses := func() []query.Query {
		var list []query.Query
		for range 1 + random.IntN(4) {
			list = append(list, term(fieldTitle, stem(words[random.IntN(len(words))]), 1+random.Float64()))
		}
		return append(list, term(fieldTitle, "absent", 1))
	}
	ids := func(q query.Query) (list []string) {
		r := bleve.NewSearchRequestOptions(q, 1000, 0, false)
		r.SortBy([]string{"_id"})
		found, err := x.bleve.SearchInContext(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, hit := range found.Hits {
			list = append(list, hit.ID)
		}
		return list
	}
	found := 0
	for range 200 {
		a, b := clauses(), clauses()
		for name, pair := range map[string][2]query.Query{
			"alone":          {anyOf(a...), bleve.NewDisjunctionQuery(a...)},
			"in conjunction": {bleve.NewConjunctionQuery(anyOf(a...), anyOf(b...)), bleve.NewConjunctionQuery(bleve.NewDisjunctionQuery(a...), bleve.NewDisjunctionQuery(b...))},
			"nested":         {anyOf(anyOf(a...), anyOf(b...)), bleve.NewDisjunctionQuery(append(a, b...)...)},
		} {
			got, want := ids(pair[0]), ids(pair[1])
			found += len(want)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %d hits, want %d", name, len(got), len(want))
			}
		}
	}
	if found == 0 {
		t.Error("nothing was found in any case")
	}
}

// A word in the title alone beats one in every field of less weight.
func TestTheBestPlaceDecides(t *testing.T) {
	x := memory(t, kb.NewSetOf(
		made(1, "acme/a", "everywhere", "first", func(r *kb.Record) {
			r.Documentation, r.TriggerScenarios, r.CommonSituations = "quota quota", "quota", "quota"
			r.Solutions, r.Tags, r.FilePath = []string{"quota", "quota"}, []string{"quota"}, "quota.go"
		}),
		made(2, "acme/a", "title", "the quota is used up", func(r *kb.Record) {}),
		made(3, "acme/a", "alias", "third", func(r *kb.Record) { r.Aliases = []string{"quota"} }),
		made(4, "acme/a", "other", "fourth", func(r *kb.Record) {}),
	))
	var got []string
	for _, hit := range find(t, x, kb.Query{Text: "quota"}).Hits {
		got = append(got, hit.Slug)
	}
	if want := []string{"alias", "title", "everywhere"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Words that stand in the message as they do in the query beat the same words
// in another order.
func TestOrderOfWordsCounts(t *testing.T) {
	x := memory(t, kb.NewSetOf(
		made(1, "acme/a", "backward", "client refused by server at once", func(r *kb.Record) {}),
		made(2, "acme/a", "forward", "server refused by client at once", func(r *kb.Record) {}),
	))
	for text, want := range map[string]string{"server refused": "forward", "client refused": "backward"} {
		if r := find(t, x, kb.Query{Text: text}); len(r.Hits) != 2 || r.Hits[0].Slug != want {
			t.Errorf("%q: %s, want %s first", text, scores(r), want)
		}
	}
}
