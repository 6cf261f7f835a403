package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"errorkb/internal/kb"
	"errorkb/internal/render"
)

// errNoRoute is the failure of an address that no route has.
var errNoRoute = fmt.Errorf("no route: %w", kb.ErrNotFound)

// document answers with the document at an address that needs no query.
func (s *Server) document(place render.Place, args ...string) handler {
	return func(ctx context.Context, q *request) (answer, error) {
		values := make([]string, len(args))
		for i, name := range args {
			if owner, rest, pair := strings.Cut(name, "/:"); pair {
				values[i] = q.params(owner) + "/" + q.params(rest)
				continue
			}
			if name == restOfPath {
				name = "*"
			}
			values[i] = q.params(name)
		}
		return s.documentAt(ctx, q, s.base.Address(place, values...))
	}
}

func (s *Server) documentAt(ctx context.Context, q *request, address string) (answer, error) {
	entry, err := s.cached(ctx, q.snapshot, address)
	if err != nil {
		return answer{}, err
	}
	d := entry.document
	a := answer{status: d.Status, contentType: d.ContentType, body: entry.body, location: d.Location}
	if d.Location != "" {
		a.cache = cacheRedirect
	}
	return a, nil
}

// cached gives the document at an address, made once for each data set.
func (s *Server) cached(ctx context.Context, snapshot *held, address string) (*cached, error) {
	if entry, found := snapshot.cache.get(address); found {
		s.metrics.cacheHits.Inc()
		return entry, nil
	}
	s.metrics.cacheMisses.Inc()
	document, err := snapshot.Pages.Document(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("document of %s: %w", render.Quote(address), err)
	}
	return snapshot.cache.put(address, document), nil
}

// handleList answers with the list of records, whole or filtered.
func (s *Server) handleList(ctx context.Context, q *request) (answer, error) {
	p, err := q.parameters(false, append(slices.Clone(filterNames), "sort", "page")...)
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
	page, err := p.number("page", 1, 1, maxPage)
	if err != nil {
		return answer{}, err
	}
	if filter == (kb.Filter{}) && page == 1 {
		return s.documentAt(ctx, q, s.base.Address(render.PlaceErrors))
	}
	filter.Offset = (page - 1) * kb.DefaultLimit
	document, err := q.snapshot.Pages.ErrorsPage(ctx, filter)
	if err != nil {
		return answer{}, fmt.Errorf("page of the list: %w", err)
	}
	return answer{status: document.Status, contentType: document.ContentType, body: newBody(document.Body)}, nil
}

// maxPage bounds page numbers, far behind the last page of any list.
const maxPage = 1_000_000

// listOrders are the orders of a list.
var listOrders = []string{"title", "changed", "severity"}

// handleSearch answers with the page of a search.
func (s *Server) handleSearch(ctx context.Context, q *request) (answer, error) {
	p, err := q.parameters(false, append([]string{"q", "page"}, filterNames...)...)
	if err != nil {
		return answer{}, err
	}
	query, err := p.query()
	if err != nil {
		return answer{}, err
	}
	page, err := p.number("page", 1, 1, render.MaxSearchOffset/kb.DefaultHits+1)
	if err != nil {
		return answer{}, err
	}
	if query == (kb.Query{}) {
		return s.documentAt(ctx, q, s.base.Address(render.PlaceSearch))
	}
	query.Limit, query.Offset = kb.DefaultHits, (page-1)*kb.DefaultHits
	result, err := search(ctx, q, query)
	if err != nil {
		return answer{}, err
	}
	document, err := q.snapshot.Pages.SearchPage(ctx, query, result)
	if err != nil {
		return answer{}, fmt.Errorf("page of a search: %w", err)
	}
	return answer{status: document.Status, contentType: document.ContentType, body: newBody(document.Body)}, nil
}

// search asks the index. A failure that is not the query's is marked as one of
// the search, which the rest of the site does not share.
func search(ctx context.Context, q *request, query kb.Query) (kb.SearchResult, error) {
	result, err := q.snapshot.Search.Search(ctx, query)
	switch {
	case err == nil:
		return result, nil
	case errors.Is(err, kb.ErrBadQuery), ctx.Err() != nil:
		return result, fmt.Errorf("search: %w", err)
	}
	return result, fmt.Errorf("%w: %w", errSearch, err)
}

// elsewhere decides where a request that found nothing should go: to the same
// address with or without its last slash, in lower case, or under the present
// name of a record.
func (s *Server) elsewhere(ctx context.Context, q *request, err error) (location string, found bool) {
	if !errors.Is(err, kb.ErrNotFound) || q.Method != http.MethodGet && q.Method != http.MethodHead {
		return "", false
	}
	path := q.URL.EscapedPath()
	other := path + "/"
	if bare, slash := strings.CutSuffix(path, "/"); slash {
		other = bare
	}
	for _, address := range []string{other, path} {
		place, args, known := s.base.Locate(address)
		if !known {
			continue
		}
		if address != path && s.exists(ctx, q, place, address) {
			return s.final(ctx, q, address), true
		}
		if better, found := s.better(ctx, q, place, args); found && better != path {
			return better, true
		}
	}
	return "", false
}

// exists reports whether a GET of an address would find something.
func (s *Server) exists(ctx context.Context, q *request, place render.Place, address string) bool {
	switch place {
	case render.PlaceAPISearch, render.PlaceHealth, render.PlaceReady, render.PlaceVersion, render.PlaceMetrics:
		return true // needs no document
	case render.PlaceAPIDiagnose, render.PlaceAPIProve, render.PlaceAsset:
		return false
	}
	_, err := s.cached(ctx, q.snapshot, address)
	return err == nil
}

// final follows a redirect, so that a visitor is sent on once and not twice.
func (s *Server) final(ctx context.Context, q *request, address string) string {
	if entry, err := s.cached(ctx, q.snapshot, address); err == nil && entry.document.Location != "" {
		return entry.document.Location
	}
	return address
}

// better finds the address that is meant by one that names something in upper
// case or by an earlier name.
func (s *Server) better(ctx context.Context, q *request, place render.Place, args []string) (string, bool) {
	var address string
	switch place {
	case render.PlaceError:
		repo := s.repoNamed(ctx, q, args[0])
		record, err := q.snapshot.Source.BySlug(ctx, repo, strings.ToLower(args[1]))
		if err != nil {
			id, err := q.snapshot.Source.Resolve(ctx, args[1])
			if err != nil {
				return "", false
			}
			if record, err = q.snapshot.Source.Record(ctx, id); err != nil || record.Repo != repo {
				return "", false
			}
		}
		return s.base.Address(render.PlaceError, record.Repo, record.Slug), true
	case render.PlaceRepo, render.PlaceErrorsRepo:
		place = render.PlaceRepo
		address = s.base.Address(place, s.repoNamed(ctx, q, args[0]))
	case render.PlaceOwner, render.PlaceErrorID:
		place = render.PlaceOwner
		address = s.base.Address(place, s.ownerNamed(ctx, q, args[0]))
	case render.PlaceTag, render.PlaceBackground, render.PlaceProblem:
		address = s.base.Address(place, strings.ToLower(args[0]))
	default:
		return "", false
	}
	return address, s.exists(ctx, q, place, address)
}

// repoNamed finds the spelling of a repository's name, which hosts of code
// take in any case.
func (s *Server) repoNamed(ctx context.Context, q *request, name string) string {
	return s.spelled(ctx, q, name, func(repo string) string { return repo })
}

// ownerNamed finds the spelling of an owner's name.
func (s *Server) ownerNamed(ctx context.Context, q *request, name string) string {
	return s.spelled(ctx, q, name, func(repo string) string {
		owner, _, _ := strings.Cut(repo, "/")
		return owner
	})
}

// spelled finds the spelling of a name that is a part of the names of repositories.
func (s *Server) spelled(ctx context.Context, q *request, name string, part func(repo string) string) string {
	groups, err := q.snapshot.Source.Groups(ctx, kb.GroupRepo, kb.Filter{})
	if err != nil {
		return name
	}
	for _, g := range groups {
		if p := part(g.Name); strings.EqualFold(p, name) {
			return p
		}
	}
	return name
}
