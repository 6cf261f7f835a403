package server

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"errorkb/internal/render"
)

// handler decides the answer to a request. It knows nothing of echo, which is
// used in this file and for the address of the client only.
type handler func(ctx context.Context, q *request) (answer, error)

// route is one entry of the table of routes.
type route struct {
	method string // GET stands for HEAD too
	place  render.Place
	args   []string // names of the variable parts of the address
	handle handler
}

// routes is the table of routes. The addresses are those of render.
func (s *Server) routes() []route {
	get := func(place render.Place, handle handler, args ...string) route {
		return route{http.MethodGet, place, args, handle}
	}
	document := func(place render.Place, args ...string) route {
		return get(place, s.document(place, args...), args...)
	}
	const repo = "owner/:name" // the two parts of a repository
	return []route{
		document(render.PlaceHome),
		get(render.PlaceErrors, s.handleList),
		document(render.PlaceErrorsPage, "page"),
		document(render.PlaceErrorsRepo, repo),
		document(render.PlaceError, repo, "slug"),
		document(render.PlaceErrorID, "key"),
		document(render.PlaceRepo, repo),
		document(render.PlaceRepoPage, repo, "page"),
		document(render.PlaceOwner, "owner"),
		document(render.PlaceTag, "tag"),
		document(render.PlaceTagPage, "tag", "page"),
		document(render.PlaceBackground, "tag"),
		document(render.PlaceBackgroundPage, "tag", "page"),
		document(render.PlaceRepos),
		document(render.PlaceTags),
		document(render.PlaceBackgrounds),
		document(render.PlaceDiagnose),
		{http.MethodPost, render.PlaceDiagnose, nil, s.handleDiagnosePage},
		get(render.PlaceSearch, s.handleSearch),
		document(render.PlaceProof),
		document(render.PlaceSource, restOfPath),
		document(render.PlaceProblem, "type"),
		document(render.PlaceNotFound),

		get(render.PlaceAPIError, s.handleRecordAPI, "id"),
		{http.MethodPost, render.PlaceAPIProve, []string{"id"}, s.handleProve},
		get(render.PlaceAPIErrors, s.handleListAPI),
		get(render.PlaceAPISearch, s.handleSearchAPI),
		{http.MethodPost, render.PlaceAPIDiagnose, nil, s.handleDiagnoseAPI},
		document(render.PlaceAPIDataset),
		document(render.PlaceAPIDatasetLines),
		document(render.PlaceAPIModified),
		document(render.PlaceAPISchema),
		document(render.PlaceAPIOpenAPI),

		document(render.PlaceFeed),
		document(render.PlaceSitemap),
		document(render.PlaceRobots),
		document(render.PlaceLLMs),
		document(render.PlaceOpenSearch),

		get(render.PlaceHealth, s.handleHealth),
		get(render.PlaceReady, s.handleReady),
		get(render.PlaceVersion, s.handleVersion),
		get(render.PlaceMetrics, s.handleMetrics),
		get(render.PlaceAsset, s.handleAsset, "file"),
	}
}

// restOfPath is the name of a variable part that takes everything that is left
// of an address, slashes included.
const restOfPath = "rest"

// pattern is the address of a route with the names of its variable parts.
func (s *Server) pattern(r route) string {
	args := make([]string, len(r.args))
	for i, name := range r.args {
		args[i] = ":" + name
	}
	return strings.Replace(s.base.Address(r.place, args...), ":"+restOfPath, "*", 1)
}

// newRouter makes the router of the table.
func (s *Server) newRouter() *echo.Echo {
	e := echo.New()
	e.IPExtractor = s.clientIP
	e.HTTPErrorHandler = s.unrouted
	for _, r := range s.routes() {
		path := s.pattern(r)
		e.Add(r.method, path, s.adapt(path, r.handle))
		if r.method == http.MethodGet {
			e.Add(http.MethodHead, path, s.adapt(path, r.handle))
		}
	}
	return e
}

// adapt makes a handler of echo out of one of ours.
func (s *Server) adapt(path string, handle handler) echo.HandlerFunc {
	return func(c echo.Context) error {
		q := newRequest(c)
		q.trace.route = path
		s.serve(c.Response(), q, handle)
		return nil
	}
}

// unrouted answers what no route takes: an unknown address or method.
func (s *Server) unrouted(err error, c echo.Context) {
	q := newRequest(c)
	q.trace.route = "none"
	s.serve(c.Response(), q, func(context.Context, *request) (answer, error) {
		var status *echo.HTTPError
		if errors.As(err, &status) && status.Code == http.StatusMethodNotAllowed {
			allow, _ := c.Get(echo.ContextKeyHeaderAllow).(string)
			r := refuse(render.ProblemMethod, q.Method, "This address does not take %s; it takes %s.", render.Quote(q.Method), allow)
			r.allow = allow
			return answer{}, r
		}
		if errors.As(err, &status) && status.Code == http.StatusNotFound {
			return answer{}, errNoRoute
		}
		return answer{}, err
	})
}

func newRequest(c echo.Context) *request {
	r := c.Request()
	return &request{Request: r, snapshot: snapshotOf(r.Context()), trace: traceOf(r.Context()), params: func(name string) string {
		value := c.Param(name)
		if r.URL.RawPath == "" {
			return value
		}
		// echo matches the path as it was sent, so that an escaped slash does
		// not cut a part in two; it leaves the unescaping to us.
		if decoded, err := url.PathUnescape(value); err == nil {
			return decoded
		}
		return value
	}}
}

// serve lets a handler decide and sends its answer.
func (s *Server) serve(w http.ResponseWriter, q *request, handle handler) {
	a, err := handle(q.Context(), q)
	if err != nil {
		if location, found := s.elsewhere(q.Context(), q, err); found {
			a = redirect(location, q.URL.RawQuery)
		} else {
			a = s.failure(q, err)
		}
	}
	respond(w, q.Request, a)
}

func redirect(location, query string) answer {
	if query != "" {
		location += "?" + query
	}
	return answer{status: http.StatusMovedPermanently, location: location, cache: cacheRedirect}
}
