package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"errorkb/internal/kb"
	"errorkb/internal/render"
)

// Prover finds what makes the error of a record happen. It says false for a
// record of which nothing can.
type Prover func(record *kb.Record) (run LiveRun, found bool)

// LiveRun makes the error of a record happen. It tells of each step as it
// happens, never of two at once, and returns when nothing of the run is left. A
// context that ends makes it end early, with an error. Of its result, how it
// ended and how long it took are not looked at.
type LiveRun func(ctx context.Context, tell func(kb.LiveEvent)) (kb.LiveResult, error)

// Why a run is ended early.
var (
	errTimeLimit   = errors.New("the time limit of a live proof")
	errOutputLimit = errors.New("the output limit of a live proof")
	errStopping    = errors.New("the server is stopping")
)

// Media types of what a run tells.
const (
	mediaEvents = "text/event-stream"
	mediaHTML   = "text/html"
)

// liveStall is how long a client may leave what was sent to it unread. Nobody
// else can have a run meanwhile.
const liveStall = 10 * time.Second

// handleProve runs the scenario of a record, one at a time, and tells of it:
// in events as it happens, or on a page in the end for a browser without a
// script.
func (s *Server) handleProve(ctx context.Context, q *request) (answer, error) {
	accept := strings.Join(q.Header.Values("Accept"), ",")
	q.trace.page = quality(accept, mediaHTML) > quality(accept, mediaEvents)
	if q.snapshot.Prove == nil {
		return answer{}, refuse(render.ProblemLiveOff, "", "This server was not started with --live-proof.")
	}
	if err := fromHere(q.Request); err != nil {
		return answer{}, err
	}
	if q.ContentLength != 0 {
		return answer{}, refuse(render.ProblemBadBody, "", "A live proof takes no body: the record in the address is all it asks for.")
	}
	record, err := recordNamed(ctx, q, q.params("id"))
	if err != nil {
		return answer{}, err
	}
	run, found := q.snapshot.Prove(record)
	if !found {
		return answer{}, refuse(render.ProblemNoScenario, record.ID, "The record %s has no scenario that could be run.", render.Quote(record.Slug))
	}
	if !s.live.TryLock() {
		r := refuse(render.ProblemLiveBusy, "", "Another live proof is running.")
		r.retryAfter = retrySoon
		return answer{}, r
	}
	if !q.trace.page {
		return answer{status: http.StatusOK, contentType: mediaEvents, cache: cacheNever, stream: func(w http.ResponseWriter) {
			defer s.live.Unlock()
			s.streamRun(ctx, q, w, record, run)
		}}, nil
	}
	defer s.live.Unlock()
	var events []kb.LiveEvent
	result := s.runLive(ctx, q, run, liveOutput{
		event: func(e kb.LiveEvent, _ []byte) error {
			events = append(events, e)
			return nil
		},
		beat: func() error { return nil },
	})
	if err := ctx.Err(); err != nil {
		return answer{}, err // hung up: nobody reads the page
	}
	page, err := q.snapshot.Pages.LivePage(ctx, record, events, result)
	if err != nil {
		return answer{}, fmt.Errorf("page of a live proof: %w", err)
	}
	return answer{status: page.Status, contentType: page.ContentType, body: newBody(page.Body), cache: cacheNever}, nil
}

// recordNamed finds a record by its id or another name.
func recordNamed(ctx context.Context, q *request, key string) (*kb.Record, error) {
	id, err := q.snapshot.Source.Resolve(ctx, key)
	if err == nil {
		var record *kb.Record
		if record, err = q.snapshot.Source.Record(ctx, id); err == nil {
			return record, nil
		}
	}
	if errors.Is(err, kb.ErrNotFound) {
		return nil, noRecord(key, err)
	}
	return nil, fmt.Errorf("find record %s: %w", render.Quote(key), err)
}

// fromHere refuses requests that may come from elsewhere: a run starts programs
// on this machine. It looks at the other end of the connection, which cannot be
// forged; at the headers that proxies add, since behind one everybody comes
// from here; at the name by which the browser knows this server, which another
// one's page can point here; and at the page that the request comes from.
func fromHere(r *http.Request) error {
	refused := func(input, format string, args ...any) error {
		return refuse(render.ProblemLiveElsewhere, input, format, args...)
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().IsLoopback() {
		return refused("", "The request comes from another machine.")
	}
	for _, name := range []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip"} {
		if _, given := r.Header[name]; given {
			return refused(name, "The request came through a proxy, as its header %s says.", name)
		}
	}
	if !loopbackHost(r.Host) {
		return refused(r.Host, "The server is called %s in the request; a live proof answers to localhost and addresses of this machine only.", render.Quote(r.Host))
	}
	var origins http.CrossOriginProtection
	if err := origins.Check(r); err != nil {
		return refused(r.Header.Get("Origin"), "The request was sent by a page of another site.")
	}
	return nil
}

// loopbackHost reports whether a Host header names this machine whoever
// resolves it.
func loopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && address.IsLoopback()
}

// liveOutput takes what a run tells. An error ends the run.
type liveOutput struct {
	event func(e kb.LiveEvent, encoded []byte) error
	beat  func() error // now and then, so that a client that is gone is noticed
}

// runLive runs a scenario within its limits and returns when nothing of it is
// left.
func (s *Server) runLive(ctx context.Context, q *request, run LiveRun, out liveOutput) kb.LiveResult {
	started := time.Now()
	limited, stopLimit := context.WithTimeoutCause(ctx, s.limits.LiveTimeout, errTimeLimit)
	defer stopLimit()
	within, end := context.WithCancelCause(limited)
	defer end(nil)
	defer context.AfterFunc(s.quit, func() { end(errStopping) })()

	events := make(chan kb.LiveEvent)
	over := make(chan error, 1)
	var result kb.LiveResult
	go func() {
		var err error
		defer func() {
			if value := recover(); value != nil {
				err = &panicError{value}
				q.trace.panicked = debug.Stack()
			}
			over <- err
		}()
		result, err = run(within, func(e kb.LiveEvent) {
			select {
			case events <- e:
			case <-within.Done():
			}
		})
	}()
	beat := time.NewTicker(s.limits.LiveBeat)
	defer beat.Stop()
	size := 0
	for {
		var err error
		select {
		case e := <-events:
			if within.Err() != nil {
				continue // told at the very end; there is nobody to hear it
			}
			encoded := encodeEvent(e)
			if size += len(encoded); size > s.limits.LiveBytes {
				err = errOutputLimit
			} else {
				err = out.event(e, encoded)
			}
		case <-beat.C:
			if within.Err() == nil {
				err = out.beat()
			}
		case err := <-over:
			result = s.ended(q, within, result, err)
			result.Milliseconds = time.Since(started).Milliseconds()
			result.Summary = render.LiveSummary(result)
			return result
		}
		if err != nil {
			end(err)
		}
	}
}

// ended is the result of a run with the way it ended.
func (s *Server) ended(q *request, within context.Context, result kb.LiveResult, err error) kb.LiveResult {
	if err == nil {
		result.Ended = kb.LiveComplete
		return result
	}
	early := func(end kb.LiveEnd, format string, args ...any) kb.LiveResult {
		return kb.LiveResult{Ended: end, Problems: []string{fmt.Sprintf(format, args...)}, Differs: []string{}}
	}
	switch cause := context.Cause(within); {
	case errors.Is(cause, errTimeLimit):
		return early(kb.LiveTimeLimit, "The run took longer than %s and was ended.", s.limits.LiveTimeout)
	case errors.Is(cause, errOutputLimit):
		return early(kb.LiveOutputLimit, "The run told more than %s and was ended.", byteSize(s.limits.LiveBytes))
	case errors.Is(cause, errStopping):
		return early(kb.LiveStopped, "The server stops, and the run was ended.")
	case cause != nil:
		return early(kb.LiveFailed, "The client is gone, and the run was ended.")
	}
	q.trace.fault, q.trace.incident = err, incident()
	if q.trace.panicked != nil {
		s.metrics.panics.Inc()
	}
	return early(kb.LiveFailed, "The run failed inside the server. Reference: %s.", q.trace.incident)
}

// streamRun sends what a run tells as server-sent events.
func (s *Server) streamRun(ctx context.Context, q *request, w http.ResponseWriter, record *kb.Record, run LiveRun) {
	control := http.NewResponseController(w)
	send := func(text []byte) error {
		// The time for an answer as a whole is not meant for one that lasts. A
		// writer that has no deadline is one of a test.
		if err := control.SetWriteDeadline(time.Now().Add(liveStall)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
		return control.Flush()
	}
	start := struct {
		Record   string `json:"record"`
		Title    string `json:"title"`
		Scenario string `json:"scenario"`
		Dataset  string `json:"datasetVersion"`
		Seconds  int    `json:"limitSeconds"`
	}{record.ID, record.ErrorMessage, *record.Scenario, q.snapshot.version, int(s.limits.LiveTimeout.Seconds())}
	if send(sse("start", start)) != nil {
		return
	}
	result := s.runLive(ctx, q, run, liveOutput{
		event: func(_ kb.LiveEvent, encoded []byte) error { return send(encoded) },
		beat:  func() error { return send([]byte(": still running\n\n")) },
	})
	_ = send(sse("result", result)) // whoever hung up has nobody to be told
}

// encodeEvent encodes what a run tells.
func encodeEvent(e kb.LiveEvent) []byte {
	var text []byte
	if e.Part != nil {
		text = append(text, sse("part", e.Part)...)
	}
	if e.Step != nil {
		text = append(text, sse("step", e.Step)...)
	}
	if e.Emitted != nil {
		text = append(text, sse("emitted", e.Emitted)...)
	}
	return text
}

// sse is one server-sent event. JSON has no line end inside, so its data is one
// line.
func sse(name string, data any) []byte {
	var text bytes.Buffer
	text.WriteString("event: " + name + "\ndata: ")
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // to be read by people, too
	if err := e.Encode(data); err != nil {
		panic("server: an event cannot be encoded: " + err.Error()) // it has only strings, numbers and lists
	}
	text.WriteByte('\n')
	return text.Bytes()
}
