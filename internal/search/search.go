// Package search finds records by the words of a query, with Bleve.
//
// Open an Index for a data directory, or OpenMemory for one that lives as long
// as the process, then Search. Like the database, the index is derived: one
// that is damaged or of another data set is built anew.
package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"errorkb/internal/kb"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
)

// maxFacet bounds the values of a facet.
const maxFacet = 50

// maxOffset bounds how deep a page can lie; Bleve keeps all hits before it.
const maxOffset = 100_000

// Index finds records of one data set. It is safe for concurrent use and
// never changes. Close it when the last search is done.
type Index struct {
	bleve   bleve.Index // nil for a set without records
	version string
	rebuilt bool
}

// OpenMemory builds the index of set in memory.
func OpenMemory(ctx context.Context, set *kb.Set) (*Index, error) {
	x := &Index{version: set.Version, rebuilt: true}
	if len(set.Records) == 0 {
		return x, nil
	}
	b, err := bleve.NewUsing("", indexMapping(), scorch.Name, scorch.Name, nil)
	if err != nil {
		return nil, fmt.Errorf("search index in memory: %w", err)
	}
	batch := b.NewBatch()
	err = eachDocument(ctx, set, nil, batch.Index)
	if err == nil {
		err = b.Batch(batch)
	}
	if err != nil {
		return nil, fmt.Errorf("search index in memory: %w", errors.Join(err, b.Close()))
	}
	x.bleve = b
	return x, nil
}

// eachDocument gives each record of the set to put as a document.
func eachDocument(ctx context.Context, set *kb.Set, progress func(done, total int), put func(id string, doc any) error) error {
	for i, r := range set.Records {
		if err := ctx.Err(); err != nil {
			return err
		}
		doc, err := document(r)
		if err != nil {
			return err
		}
		if err := put(r.ID, doc); err != nil {
			return fmt.Errorf("record %s: %w", r.ID, err)
		}
		if progress != nil {
			progress(i+1, len(set.Records))
		}
	}
	return nil
}

// Version is the version of the data set.
func (x *Index) Version() string { return x.version }

// Rebuilt says whether Open had to write the index.
func (x *Index) Rebuilt() bool { return x.rebuilt }

// Close frees the index. Searches that still run end first.
func (x *Index) Close() error {
	if x.bleve == nil {
		return nil
	}
	if err := x.bleve.Close(); err != nil {
		return fmt.Errorf("close search index: %w", err)
	}
	return nil
}

// Search finds records. It first wants all words of the text, of which the
// last may be unfinished; if nothing has them it allows for mistakes in
// writing, then for missing words. A negative limit or offset gives an error
// that wraps kb.ErrBadQuery.
func (x *Index) Search(ctx context.Context, q kb.Query) (kb.SearchResult, error) {
	if q.Limit < 0 || q.Offset < 0 || q.Offset > maxOffset {
		return kb.SearchResult{}, fmt.Errorf("search: limit %d, offset %d: %w", q.Limit, q.Offset, kb.ErrBadQuery)
	}
	if q.Limit == 0 {
		q.Limit = kb.DefaultHits
	}
	q.Limit = min(q.Limit, kb.MaxHits)
	text, cut := prepare(q.Text)
	result := kb.SearchResult{Text: text, Cut: cut}
	p := parse(text)
	if len(p.words) == 0 || x.bleve == nil {
		return result, ctx.Err()
	}
	for e := asWritten; e <= someWords; e++ {
		if e >= mostWords && len(p.must()) == 1 && len(p.must()[0].parts) == 1 {
			break // its only word is not there
		}
		found, err := x.bleve.SearchInContext(ctx, request(p, q, e))
		if err != nil {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return kb.SearchResult{}, fmt.Errorf("search: %w", err)
		}
		if found.Total == 0 {
			continue
		}
		result.SomeWords = e >= mostWords
		return result, fill(&result, found, newMarker(p, e))
	}
	return result, nil
}

// prepare trims a text and cuts it to what is looked at.
func prepare(text string) (prepared string, cut bool) {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	count := 0
	for i := range text {
		if count == kb.MaxQuery {
			return strings.TrimSpace(text[:i]), true
		}
		count++
	}
	return text, false
}

func request(p parsed, q kb.Query, e effort) *bleve.SearchRequest {
	r := bleve.NewSearchRequestOptions(p.build(q, e), q.Limit, q.Offset, false)
	r.Fields = []string{fieldStored}
	r.SortBy([]string{"-_score", "_id"})
	for _, kind := range facetFields {
		r.AddFacet(string(kind), bleve.NewFacetRequest(facetPrefix+string(kind), maxFacet))
	}
	return r
}

// fill puts what Bleve found into the result.
func fill(result *kb.SearchResult, found *bleve.SearchResult, m *marker) error {
	result.Total = int(found.Total)
	for _, match := range found.Hits {
		text, _ := match.Fields[fieldStored].(string)
		var s stored
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return fmt.Errorf("search: stored record %s: %w", match.ID, err)
		}
		result.Hits = append(result.Hits, kb.Hit{
			Item:      s.Item,
			Score:     math.Round(match.Score*1000) / 1000, // sums differ in their last bits
			Fragments: m.fragments(&s),
		})
	}
	for _, kind := range facetFields {
		facet := kb.Facet{Kind: kind}
		if f := found.Facets[string(kind)]; f != nil && f.Terms != nil {
			for _, term := range f.Terms.Terms() {
				facet.Groups = append(facet.Groups, kb.Group{Name: term.Term, Count: term.Count})
			}
		}
		slices.SortFunc(facet.Groups, func(a, b kb.Group) int {
			if a.Count != b.Count {
				return b.Count - a.Count
			}
			return strings.Compare(a.Name, b.Name)
		})
		if len(facet.Groups) > 0 {
			result.Facets = append(result.Facets, facet)
		}
	}
	return nil
}
