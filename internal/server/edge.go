package server

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"errorkb/internal/render"
)

// Everything that holds for every request stands here, as plain net/http
// around the router: log and metrics, panics, headers, other origins, limits.

// edge wraps the router.
func (s *Server) edge(router http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := time.Now()
		snapshot := s.acquire()
		if snapshot == nil {
			w.Header().Set("Connection", "close")
			http.Error(w, "the server has stopped", http.StatusServiceUnavailable)
			return
		}
		defer snapshot.release()
		t := &trace{route: "none"}
		ctx := context.WithValue(r.Context(), traceKey{}, t)
		ctx = context.WithValue(ctx, snapshotKey{}, snapshot)
		r = r.WithContext(ctx)
		counted := &countingWriter{ResponseWriter: w}

		s.metrics.inFlight.Inc()
		defer func() {
			s.metrics.inFlight.Dec()
			took := time.Since(started)
			s.metrics.answered(t.route, r.Method, counted.status, took)
			s.log(r, t, counted, took)
		}()
		s.guarded(counted, &request{Request: r, snapshot: snapshot, trace: t}, router)
	})
}

// guarded turns a panic of the router into a failure. An answer is written in
// one go when it is complete, so there is nearly always still time for one.
func (s *Server) guarded(w *countingWriter, q *request, router http.Handler) {
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		if value == http.ErrAbortHandler || w.status != 0 {
			panic(http.ErrAbortHandler) // net/http closes the connection and is quiet about it
		}
		s.metrics.panics.Inc()
		q.trace.panicked = debug.Stack()
		respond(w, q.Request, s.failure(q, &panicError{value}))
	}()

	s.setHeaders(w.Header(), q.Request)
	if err := s.admit(q); err != nil {
		respond(w, q.Request, s.failure(q, err))
		return
	}
	if q.Method == http.MethodOptions && q.Header.Get("Access-Control-Request-Method") != "" {
		s.preflight(w, q)
		return
	}
	router.ServeHTTP(w, q.Request)
}

// admit refuses requests that no handler should see.
func (s *Server) admit(q *request) error {
	if err := checkPath(q.URL); err != nil {
		return err
	}
	if wait, ok := s.limiter.allow(s.clientIP(q.Request), s.now()); !ok {
		r := refuse(render.ProblemTooManyRequests, "", "This client has sent more than %g requests a second.", s.limits.RateLimit)
		r.retryAfter = wait
		return r
	}
	return nil
}

// setHeaders sets the headers of every answer.
func (s *Server) setHeaders(h http.Header, r *http.Request) {
	h.Set("Content-Security-Policy", render.Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if r.URL.Path == s.base.Address(render.PlaceDiagnose) {
		// The script asks before it sends a text: a server of plain files, which
		// could not answer, shall not get it.
		h.Set("Accept-Post", mediaText+", "+mediaForm)
	}
	if s.open(r) {
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", "ETag, Link, Retry-After")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	} else {
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
	}
}

// open reports whether scripts of other origins may read the answer: that of a
// GET of data. Pages are for people, and a POST is for our own pages and for
// programs, which do not ask browsers for leave.
func (s *Server) open(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || s.forProof(r) {
		return false
	}
	if strings.HasPrefix(r.URL.Path, string(s.base)+"/api/") {
		return true
	}
	for _, place := range []render.Place{render.PlaceFeed, render.PlaceLLMs, render.PlaceOpenSearch, render.PlaceSitemap} {
		if r.URL.Path == s.base.Address(place) {
			return true
		}
	}
	return false
}

// forProof reports whether a request is for the address of a live proof, which
// other origins have no business with.
func (s *Server) forProof(r *http.Request) bool {
	if !strings.HasSuffix(r.URL.Path, "/prove") {
		return false
	}
	place, _, found := s.base.Locate(r.URL.EscapedPath())
	return found && place == render.PlaceAPIProve
}

// preflight answers a browser that asks what another origin may do: GET, with
// the headers that conditional requests need.
func (s *Server) preflight(w http.ResponseWriter, q *request) {
	q.trace.route = "preflight"
	if strings.HasPrefix(q.URL.Path, string(s.base)+"/api/") && !s.forProof(q.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Allow-Methods", "GET, HEAD")
		h.Set("Access-Control-Allow-Headers", "If-None-Match")
		h.Set("Access-Control-Max-Age", "86400")
	}
	w.WriteHeader(http.StatusNoContent)
}

// log writes the access log: what was asked for by its route and never by its
// path, query or body, which may hold what somebody pasted.
func (s *Server) log(r *http.Request, t *trace, w *countingWriter, took time.Duration) {
	level := slog.LevelInfo
	attributes := []slog.Attr{
		slog.String("method", logMethod(r.Method)),
		slog.String("route", t.route),
		slog.Int("status", w.status),
		slog.Duration("duration", took),
		slog.Int64("bytes", w.bytes),
	}
	if t.fault != nil {
		level = slog.LevelError
		attributes = append(attributes, slog.String("error", t.fault.Error()))
	}
	if t.incident != "" {
		attributes = append(attributes, slog.String("incident", t.incident))
	}
	if t.panicked != nil {
		attributes = append(attributes, slog.String("stack", string(t.panicked)))
	}
	s.logger.LogAttrs(r.Context(), level, "request", attributes...)
}

// logMethod shortens a method, which may be any word of any length.
func logMethod(method string) string {
	if len(method) > 16 {
		return "other"
	}
	return method
}

// countingWriter notes the status and the bytes of an answer.
type countingWriter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (w *countingWriter) WriteHeader(status int) {
	w.status = status
	if status == statusGone {
		return // the client hung up: there is nobody to send it to
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *countingWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the writer of the server.
func (w *countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
