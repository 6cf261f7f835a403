package search

import (
	"context"
	"errors"
	"math"

	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
	index "github.com/blevesearch/bleve_index_api"
)

// either matches what any of its clauses matches. The best clause gives the
// score and each other one adds a share of its own. Bleve's disjunction
// multiplies the sum by the share of the clauses that match, so that a word in
// many fields of small weight would beat one in the field that counts.
type either struct {
	clauses []query.Query
	share   float64 // 0: the best alone; 1: the sum
}

// Shares of the clauses that are not the best.
const (
	mostlyBest = 0.1
	allOfThem  = 1
)

// Searcher is how Bleve runs a query.
func (q *either) Searcher(ctx context.Context, i index.IndexReader, m mapping.IndexMapping, options search.SearcherOptions) (search.Searcher, error) {
	s := &eitherSearcher{share: q.share}
	for _, clause := range q.clauses {
		child, err := clause.Searcher(ctx, i, m, options)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.children = append(s.children, child)
	}
	s.current = make([]*search.DocumentMatch, len(s.children))
	s.SetQueryNorm(1)
	return s, nil
}

// eitherSearcher walks its children side by side, in order of documents.
type eitherSearcher struct {
	children []search.Searcher
	current  []*search.DocumentMatch // of each child, nil at its end
	started  bool
	share    float64
}

func (s *eitherSearcher) start(ctx *search.SearchContext) (err error) {
	if s.started {
		return nil
	}
	s.started = true
	for i, child := range s.children {
		if s.current[i], err = child.Next(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Next returns the next document that a child is at, and moves on all that
// are at it.
func (s *eitherSearcher) Next(ctx *search.SearchContext) (*search.DocumentMatch, error) {
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	var found *search.DocumentMatch
	for _, match := range s.current {
		if match != nil && (found == nil || match.IndexInternalID.Compare(found.IndexInternalID) < 0) {
			found = match
		}
	}
	if found == nil {
		return nil, nil
	}
	best, sum := 0.0, 0.0
	for i, match := range s.current {
		if match == nil || match != found && !match.IndexInternalID.Equals(found.IndexInternalID) {
			continue
		}
		best, sum = max(best, match.Score), sum+match.Score
		if match != found {
			ctx.DocumentMatchPool.Put(match)
		}
		var err error
		if s.current[i], err = s.children[i].Next(ctx); err != nil {
			return nil, err
		}
	}
	found.Score = best + s.share*(sum-best)
	return found, nil
}

// Advance skips to the first document that is not before id.
func (s *eitherSearcher) Advance(ctx *search.SearchContext, id index.IndexInternalID) (*search.DocumentMatch, error) {
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	for i, match := range s.current {
		if match == nil || match.IndexInternalID.Compare(id) >= 0 {
			continue
		}
		ctx.DocumentMatchPool.Put(match)
		var err error
		if s.current[i], err = s.children[i].Advance(ctx, id); err != nil {
			return nil, err
		}
	}
	return s.Next(ctx)
}

// Weight is what the query norm is computed from.
func (s *eitherSearcher) Weight() (weight float64) {
	for _, child := range s.children {
		weight += child.Weight()
	}
	return weight
}

// SetQueryNorm keeps the norm of all terms at 1, whatever query they stand in:
// it would only make scores of one query small, not compare those of two.
func (s *eitherSearcher) SetQueryNorm(float64) {
	for _, child := range s.children {
		child.SetQueryNorm(1)
	}
}

// Close closes the children.
func (s *eitherSearcher) Close() error {
	var errs []error
	for _, child := range s.children {
		errs = append(errs, child.Close())
	}
	return errors.Join(errs...)
}

// Count is an upper bound of the documents found.
func (s *eitherSearcher) Count() (count uint64) {
	for _, child := range s.children {
		count += child.Count()
	}
	return count
}

// Min is the number of clauses that must match, of which Bleve knows none.
func (s *eitherSearcher) Min() int { return 0 }

// Size is an estimate of the memory in use, in bytes.
func (s *eitherSearcher) Size() int {
	size := 64 + 8*len(s.current)
	for _, child := range s.children {
		size += child.Size()
	}
	return size
}

// DocumentMatchPoolSize is the number of matches held at a time.
func (s *eitherSearcher) DocumentMatchPoolSize() int {
	size := len(s.current) + 1
	for _, child := range s.children {
		size += child.DocumentMatchPoolSize()
	}
	return size
}

// present scores a term by its boost and how rare it is alone. In a short text
// a word stands or does not; how often, and among how many others, says
// little, and would let a short list of tags outdo a long message.
type present struct{ query.Query }

// Searcher is how Bleve runs a query.
func (q present) Searcher(ctx context.Context, i index.IndexReader, m mapping.IndexMapping, options search.SearcherOptions) (search.Searcher, error) {
	child, err := q.Query.Searcher(ctx, i, m, options)
	if err != nil {
		return nil, err
	}
	return &presentSearcher{child, math.Sqrt(child.Weight())}, nil // a term weighs (boost × idf)²
}

type presentSearcher struct {
	search.Searcher
	score float64
}

// Next returns the next document.
func (s *presentSearcher) Next(ctx *search.SearchContext) (*search.DocumentMatch, error) {
	return s.scored(s.Searcher.Next(ctx))
}

// Advance skips to the first document that is not before id.
func (s *presentSearcher) Advance(ctx *search.SearchContext, id index.IndexInternalID) (*search.DocumentMatch, error) {
	return s.scored(s.Searcher.Advance(ctx, id))
}

func (s *presentSearcher) scored(match *search.DocumentMatch, err error) (*search.DocumentMatch, error) {
	if match != nil {
		match.Score = s.score
	}
	return match, err
}
