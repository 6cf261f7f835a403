package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"errorkb/internal/kb"
	"errorkb/internal/render"
)

// refusal is an error of the request: the visitor is told what was wrong with
// it. Everything else that goes wrong is ours, and told to the log only.
type refusal struct {
	slug       string // type of the problem
	detail     string // a sentence for the visitor
	input      string // the offending part of the request; shortened before it is shown
	allow      string // methods, for render.ProblemMethod
	retryAfter int    // seconds
	cause      error
}

func (r *refusal) Error() string { return r.slug + ": " + r.detail }

func (r *refusal) Unwrap() error { return r.cause }

// refuse makes a refusal that quotes the offending input.
func refuse(slug, input, format string, args ...any) *refusal {
	return &refusal{slug: slug, input: input, detail: fmt.Sprintf(format, args...)}
}

// errSearch is wrapped by failures of the search that are not the query's.
var errSearch = errors.New("search failed")

// retrySoon is how many seconds a client is asked to wait when the server is
// busy. A diagnosis takes a second or two at most.
const retrySoon = 2

// statusGone is logged, and never sent, for a client that hung up.
const statusGone = 499

// refusals turns the errors of other packages into refusals. It is the one
// place that does, and the problem type holds the status.
var refusals = []struct {
	err     error
	refusal refusal
}{
	{kb.ErrNotFound, refusal{slug: render.ProblemNotFound, detail: "Nothing has this address."}},
	{kb.ErrBadCursor, refusal{slug: render.ProblemBadCursor, detail: "The cursor was not given out by this list."}},
	{kb.ErrBadQuery, refusal{slug: render.ProblemBadParameter, detail: "The list cannot be asked for in this way."}},
	{errBusy, refusal{slug: render.ProblemBusy, detail: "Too many texts are being diagnosed at the moment.", retryAfter: retrySoon}},
	{errSearch, refusal{slug: render.ProblemSearch, detail: "The search did not answer.", retryAfter: retrySoon}},
	{os.ErrDeadlineExceeded, refusal{slug: render.ProblemTimeout, detail: "The body of the request did not arrive in time."}},
	{io.ErrUnexpectedEOF, refusal{slug: render.ProblemBadBody, detail: "The body of the request ended early."}},
}

// refusalOf finds what to tell the visitor about an error. It says false when
// that is nothing, because the failure is ours.
func refusalOf(err error) (*refusal, bool) {
	var own *refusal
	if errors.As(err, &own) {
		return own, true
	}
	for _, entry := range refusals {
		if errors.Is(err, entry.err) {
			found := entry.refusal
			return &found, true
		}
	}
	return nil, false
}

// failure is the answer to a request that failed: a problem document for
// programs, a page for people.
func (s *Server) failure(q *request, err error) answer {
	r, known := refusalOf(err)
	if !known {
		if errors.Is(err, context.Canceled) && q.Context().Err() != nil {
			return answer{status: statusGone}
		}
		q.trace.fault, q.trace.incident = err, incident()
		r = &refusal{slug: render.ProblemInternal, detail: "The request could not be answered. Reference: " + q.trace.incident + "."}
	}
	if errors.Is(err, errSearch) {
		q.trace.fault = err
	}
	if r.slug == render.ProblemNotFound && r.input == "" {
		r.input, r.detail = q.URL.Path, fmt.Sprintf("Nothing has the address %s.", render.Quote(q.URL.Path))
	}
	problem := render.NewProblem(s.base, r.slug, r.detail, r.input)
	a := answer{status: problem.Status, allow: r.allow, retryAfter: r.retryAfter}
	if problem.Status != http.StatusNotFound {
		a.cache = cacheNever
	}
	if s.forPrograms(q.URL.Path) && !q.trace.page {
		a.contentType = "application/problem+json"
		a.body = newBody(problem.JSON())
		return a
	}
	page := q.snapshot.Pages.FailurePage(q.Context(), problem)
	a.contentType, a.body = page.ContentType, newBody(page.Body)
	return a
}

// forPrograms reports whether programs ask at a path, who want failures as
// problem documents.
func (s *Server) forPrograms(path string) bool {
	if api := string(s.base) + "/api"; path == api || strings.HasPrefix(path, api+"/") {
		return true
	}
	for _, place := range []render.Place{render.PlaceHealth, render.PlaceReady, render.PlaceVersion, render.PlaceMetrics} {
		if path == s.base.Address(place) {
			return true
		}
	}
	return false
}

// incident is a reference that joins what the visitor sees with the log.
func incident() string {
	var random [6]byte
	rand.Read(random[:]) // does not fail: crypto/rand promises it
	return hex.EncodeToString(random[:])
}

// panicError is a panic of a handler, made an error.
type panicError struct{ value any }

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }
