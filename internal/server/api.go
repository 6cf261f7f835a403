package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"errorkb/internal/kb"
	"errorkb/internal/render"
)

// handleRecordAPI answers with one record. Another name of it redirects to its
// id, which is the one address that stays.
func (s *Server) handleRecordAPI(ctx context.Context, q *request) (answer, error) {
	key := q.params("id")
	a, err := s.documentAt(ctx, q, s.base.Address(render.PlaceAPIError, key))
	if !errors.Is(err, kb.ErrNotFound) {
		return a, err
	}
	id, err := q.snapshot.Source.Resolve(ctx, key)
	if errors.Is(err, kb.ErrNotFound) {
		return answer{}, noRecord(key, err)
	}
	if err != nil {
		return answer{}, fmt.Errorf("resolve %s: %w", render.Quote(key), err)
	}
	return redirect(s.base.Address(render.PlaceAPIError, id), ""), nil
}

func noRecord(key string, cause error) error {
	r := refuse(render.ProblemRecordNotFound, key, "No record has the id or name %s.", render.Quote(key))
	r.cause = cause
	return r
}

// handleListAPI answers with a page of the list of records.
func (s *Server) handleListAPI(ctx context.Context, q *request) (answer, error) {
	p, err := q.parameters(true, append(slices.Clone(filterNames), "sort", "limit", "cursor")...)
	if err != nil {
		return answer{}, err
	}
	filter, err := p.filter()
	if err != nil {
		return answer{}, err
	}
	if filter.Sort, err = p.oneOf("sort", listOrders...); err != nil {
		return answer{}, err
	}
	if filter.Limit, err = p.number("limit", 0, 1, kb.MaxLimit); err != nil {
		return answer{}, err
	}
	filter.Cursor = p["cursor"]
	page, err := q.snapshot.Source.List(ctx, filter)
	if errors.Is(err, kb.ErrBadCursor) {
		return answer{}, refuse(render.ProblemBadCursor, filter.Cursor, "The cursor %s was not given out by this list.", render.Quote(filter.Cursor))
	}
	if err != nil {
		return answer{}, fmt.Errorf("list records: %w", err)
	}
	body, next, err := render.ListJSON(s.base, q.snapshot.version, filter, page)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, contentType: mediaJSON, body: newBody(body), link: next}, nil
}

// handleSearchAPI answers with a page of hits.
func (s *Server) handleSearchAPI(ctx context.Context, q *request) (answer, error) {
	p, err := q.parameters(true, append([]string{"q", "limit", "offset"}, filterNames...)...)
	if err != nil {
		return answer{}, err
	}
	if _, given := p["q"]; !given {
		return answer{}, refuse(render.ProblemBadParameter, "", "The parameter \"q\" is missing: it holds the words to search for.")
	}
	query, err := p.query()
	if err != nil {
		return answer{}, err
	}
	if query.Limit, err = p.number("limit", 0, 1, kb.MaxHits); err != nil {
		return answer{}, err
	}
	if query.Offset, err = p.number("offset", 0, 0, render.MaxSearchOffset); err != nil {
		return answer{}, err
	}
	result, err := search(ctx, q, query)
	if err != nil {
		return answer{}, err
	}
	body, next, err := render.SearchJSON(s.base, q.snapshot.version, query, result)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, contentType: mediaJSON, body: newBody(body), link: next}, nil
}
