package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"errorkb/internal/kb"
	"errorkb/internal/render"
)

const (
	provableID = "fbc48e17530ae3db"
	bareID     = "ec727a874bad4398" // has no scenario here
)

// proves makes a configuration whose live proofs do what run does.
func proves(t testing.TB, run LiveRun) Config {
	config := testConfig(t)
	load := config.Load
	config.Load = func(ctx context.Context) (*Snapshot, error) {
		snapshot, err := load(ctx)
		snapshot.Prove = func(r *kb.Record) (LiveRun, bool) { return run, r.ID != bareID }
		return snapshot, err
	}
	return config
}

// proving asks for a live proof as this machine does.
func proving(id string, headers ...string) *http.Request {
	r := httptest.NewRequest("POST", "/api/errors/"+id+"/prove", nil)
	r.RemoteAddr, r.Host = "127.0.0.1:1000", "localhost:8080"
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// shortRun fails, then a remedy works.
func shortRun(_ context.Context, tell func(kb.LiveEvent)) (kb.LiveResult, error) {
	solution, code := 1, "A_CODE"
	tell(kb.LiveEvent{Part: &kb.LivePart{Heading: "It is <opened>"}})
	tell(kb.LiveEvent{Step: &kb.ProofStep{Text: "Start `a`"}})
	tell(kb.LiveEvent{Step: &kb.ProofStep{Text: "Open it", Result: "It fails: `a text`"}, Emitted: &kb.Emitted{
		Channel: kb.ChannelError, Text: "a text", Message: "a text", Code: &code, Chain: []kb.ChainLink{},
		Place: kb.ProofPlace{Place: kb.Place{File: "duplex/route.go", Line: 3, Symbol: "errBusy"}, Start: 3, Lines: []string{"a line"}},
	}})
	tell(kb.LiveEvent{Part: &kb.LivePart{Heading: "Remedy: solution 1", Solution: &solution}})
	tell(kb.LiveEvent{Step: &kb.ProofStep{Text: "Open it", Result: "It succeeds"}})
	same := true
	return kb.LiveResult{Proven: true, Problems: []string{}, Agrees: &same, Differs: []string{}}, nil
}

// event is one server-sent event.
type event struct{ name, data string }

// eventsOf takes a stream apart. Signs of life are left out.
func eventsOf(t *testing.T, stream string) (events []event) {
	t.Helper()
	for text := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		if strings.HasPrefix(text, ":") {
			continue
		}
		name, data, found := strings.Cut(text, "\ndata: ")
		name, named := strings.CutPrefix(name, "event: ")
		if !found || !named || strings.Contains(data, "\n") || !json.Valid([]byte(data)) {
			t.Fatalf("not an event: %q", text)
		}
		events = append(events, event{name, data})
	}
	return events
}

// resultOf is the last event of a stream.
func resultOf(t *testing.T, stream string) (r kb.LiveResult) {
	t.Helper()
	events := eventsOf(t, stream)
	last := events[len(events)-1]
	if err := json.Unmarshal([]byte(last.data), &r); err != nil || last.name != "result" {
		t.Fatalf("the last event is %+v: %v", last, err)
	}
	return r
}

func TestLiveProofStreams(t *testing.T) {
	s := newTestServer(t, proves(t, shortRun))
	answer := get(t, s.Handler(), proving(provableID, "Accept", "text/event-stream", "Accept-Encoding", "gzip, br, zstd"))
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store", "Content-Encoding": "", "ETag": "",
		"Access-Control-Allow-Origin": "", "Content-Security-Policy": render.Policy,
	} {
		if got := answer.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	stream := string(contentOf(t, answer))
	var names []string
	document := openAPIDocument(t, s)
	schemas := map[string]string{"start": "LiveStart", "part": "LivePart", "step": "ProofStep", "emitted": "Emitted", "result": "LiveResult"}
	for _, e := range eventsOf(t, stream) {
		names = append(names, e.name)
		var data any
		if err := json.Unmarshal([]byte(e.data), &data); err != nil {
			t.Fatal(err)
		}
		schema := document.Components.Schemas[schemas[e.name]]
		if schema == nil {
			t.Fatalf("no schema for event %q", e.name)
		}
		if err := schema.Value.VisitJSON(data); err != nil {
			t.Errorf("event %s: %v", e.name, err)
		}
	}
	if want := []string{"start", "part", "step", "step", "emitted", "part", "step", "result"}; !slices.Equal(names, want) {
		t.Errorf("the events are %q", names)
	}
	if r := resultOf(t, stream); r.Ended != kb.LiveComplete || !r.Proven || r.Agrees == nil || !*r.Agrees || !strings.HasPrefix(r.Summary, "Proven in ") {
		t.Errorf("the result is %+v", r)
	}
	// What asks for nothing in particular, as curl does, gets the stream; so
	// does whoever names another name of the record.
	for _, r := range []*http.Request{proving(provableID), proving(provableID, "Accept", "*/*"), proving("environment-driver-does-not-support-duplex-channels")} {
		if answer := get(t, s.Handler(), r); answer.StatusCode != 200 || answer.Header.Get("Content-Type") != mediaEvents {
			t.Errorf("%s, Accept %q: status %d, %s", r.URL, r.Header.Get("Accept"), answer.StatusCode, answer.Header.Get("Content-Type"))
		}
	}
}

const browserAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

func TestLiveProofAsPage(t *testing.T) {
	s := newTestServer(t, proves(t, shortRun))
	answer := get(t, s.Handler(), proving(provableID, "Accept", browserAccept))
	content := string(contentOf(t, answer))
	if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/html; charset=utf-8" || answer.Header.Get("Cache-Control") != cacheNever {
		t.Errorf("status %d, %v", answer.StatusCode, answer.Header)
	}
	for _, want := range []string{"It is &lt;opened&gt;", "<code>a</code>", "A_CODE", "duplex/route.go:3", "step-fails", "step-works", "verdict-known", "This agrees"} {
		if !strings.Contains(content, want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
	if again := get(t, s.Handler(), proving(provableID, "Accept", browserAccept)); again.StatusCode != 200 {
		t.Errorf("once more: status %d", again.StatusCode)
	}
	// A browser is told of failures by a page, too.
	for id, want := range map[string]string{bareID: render.ProblemNoScenario, "unknown": render.ProblemRecordNotFound} {
		answer := get(t, s.Handler(), proving(id, "Accept", browserAccept))
		if complaint := check("page", want, answer, contentOf(t, answer)); complaint != "" {
			t.Errorf("%s: %s", id, complaint)
		}
	}
}

// TestLiveProofRefuses: nobody elsewhere starts anything on this machine.
func TestLiveProofRefuses(t *testing.T) {
	ran := 0
	s := newTestServer(t, proves(t, func(ctx context.Context, tell func(kb.LiveEvent)) (kb.LiveResult, error) {
		ran++
		return shortRun(ctx, tell)
	}))
	from := func(peer, host string, headers ...string) *http.Request {
		r := proving(provableID, headers...)
		r.RemoteAddr, r.Host = peer, host
		return r
	}
	const here = "127.0.0.1:1000"
	body := proving(provableID)
	body.Body, body.ContentLength = io.NopCloser(strings.NewReader("x=1")), -1
	for _, test := range []struct {
		request *http.Request
		problem string // "" when it is taken
	}{
		{from(here, "127.0.0.1:8080"), ""},
		{from(here, "LOCALHOST"), ""},
		{from("[::1]:1000", "[::1]:8080"), ""},
		{from("[::ffff:127.0.0.1]:1000", "127.0.0.2"), ""},
		{from("[::1]:1000", "[::ffff:127.0.0.1]"), ""},
		{from(here, "localhost:8080", "Origin", "http://localhost:8080", "Sec-Fetch-Site", "same-origin"), ""},
		{from(here, "localhost:8080", "Origin", "http://localhost:8080"), ""},

		{from("192.0.2.1:1000", "localhost:8080"), render.ProblemLiveElsewhere},
		{from("[2001:db8::1]:1000", "localhost:8080"), render.ProblemLiveElsewhere},
		{from("@", "localhost:8080"), render.ProblemLiveElsewhere},
		{from("192.0.2.1:1000", "localhost:8080", "X-Forwarded-For", "127.0.0.1"), render.ProblemLiveElsewhere},
		// Behind a proxy on this machine.
		{from(here, "localhost:8080", "X-Forwarded-For", "192.0.2.1"), render.ProblemLiveElsewhere},
		{from(here, "localhost:8080", "Forwarded", "for=192.0.2.1"), render.ProblemLiveElsewhere},
		{from(here, "localhost:8080", "Via", "1.1 proxy"), render.ProblemLiveElsewhere},
		// A name that its owner lets point here.
		{from(here, "evil.example:8080", "Origin", "http://evil.example:8080", "Sec-Fetch-Site", "same-origin"), render.ProblemLiveElsewhere},
		{from(here, "127.0.0.1.evil.example"), render.ProblemLiveElsewhere},
		{from(here, "localhost.evil.example"), render.ProblemLiveElsewhere},
		{from(here, "192.0.2.1:8080"), render.ProblemLiveElsewhere},
		{from(here, "0.0.0.0:8080"), render.ProblemLiveElsewhere},
		{from(here, ""), render.ProblemLiveElsewhere},
		// A page of another site, one of another server on this machine among them.
		{from(here, "localhost:8080", "Sec-Fetch-Site", "cross-site"), render.ProblemLiveElsewhere},
		{from(here, "localhost:8080", "Origin", "http://localhost:3000", "Sec-Fetch-Site", "same-site"), render.ProblemLiveElsewhere},
		{from(here, "localhost:8080", "Origin", "http://localhost:3000"), render.ProblemLiveElsewhere},
		{from(here, "localhost:8080", "Origin", "https://evil.example"), render.ProblemLiveElsewhere},
		{from(here, "localhost:8080", "Origin", "null"), render.ProblemLiveElsewhere},

		{proving("0000000000000000"), render.ProblemRecordNotFound},
		{proving(bareID), render.ProblemNoScenario},
		{body, render.ProblemBadBody},
	} {
		before := ran
		answer := get(t, s.Handler(), test.request)
		content := contentOf(t, answer)
		what := fmt.Sprintf("%s from %s for %q, %v", test.request.URL, test.request.RemoteAddr, test.request.Host, test.request.Header)
		if taken := ran > before; taken != (test.problem == "") {
			t.Errorf("%s: ran %v", what, taken)
		}
		if test.problem == "" {
			continue
		}
		if complaint := checkProblem(test.problem, answer, content); complaint != "" {
			t.Errorf("%s: %s", what, complaint)
		}
		if answer.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: other origins may read the answer", what)
		}
	}
}

// waiting is a run that says when it began and ends when it may, or when its
// context does.
type waiting struct {
	began chan struct{}
	goOn  chan struct{}
	ended chan error // why it ended early
}

func newWaiting() *waiting {
	return &waiting{make(chan struct{}, 10), make(chan struct{}), make(chan error, 10)}
}

func (w *waiting) run(ctx context.Context, tell func(kb.LiveEvent)) (kb.LiveResult, error) {
	w.began <- struct{}{}
	select {
	case <-w.goOn:
		return shortRun(ctx, tell)
	case <-ctx.Done():
		w.ended <- context.Cause(ctx)
		return kb.LiveResult{}, ctx.Err()
	}
}

// open starts a live proof over a real connection.
func open(t *testing.T, ctx context.Context, address string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", "http://"+address+"/api/errors/"+provableID+"/prove", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

func TestLiveProofsOneAtATime(t *testing.T) {
	w := newWaiting()
	address, _ := running(t, proves(t, w.run))
	first := open(t, t.Context(), address)
	<-w.began
	second := open(t, t.Context(), address)
	if complaint := checkProblem(render.ProblemLiveBusy, second, contentOf(t, second)); complaint != "" || second.Header.Get("Retry-After") == "" {
		t.Errorf("a second one: %s, Retry-After %q", complaint, second.Header.Get("Retry-After"))
	}
	close(w.goOn)
	if r := resultOf(t, string(contentOf(t, first))); !r.Proven {
		t.Errorf("the first one: %+v", r)
	}
	if again := open(t, t.Context(), address); again.StatusCode != 200 {
		t.Errorf("after it: status %d", again.StatusCode)
	}
}

func TestLiveProofLimits(t *testing.T) {
	w := newWaiting()
	config := proves(t, w.run)
	config.Limits.LiveTimeout = time.Millisecond
	late := string(contentOf(t, get(t, newTestServer(t, config).Handler(), proving(provableID))))
	if r := resultOf(t, late); r.Ended != kb.LiveTimeLimit || r.Proven || r.Agrees != nil || !strings.Contains(r.Problems[0], "1ms") {
		t.Errorf("a run that takes too long: %+v", r)
	}
	if cause := <-w.ended; !errors.Is(cause, errTimeLimit) {
		t.Errorf("it was ended for %v", cause)
	}
	config = proves(t, func(ctx context.Context, tell func(kb.LiveEvent)) (kb.LiveResult, error) {
		for ctx.Err() == nil {
			tell(kb.LiveEvent{Step: &kb.ProofStep{Text: strings.Repeat("x", 1000)}})
		}
		return kb.LiveResult{}, ctx.Err()
	})
	config.Limits.LiveBytes = 10 << 10
	for _, accept := range []string{mediaEvents, browserAccept} {
		answer := get(t, newTestServer(t, config).Handler(), proving(provableID, "Accept", accept))
		content := string(contentOf(t, answer))
		if !strings.Contains(content, "The run told more than 10 KiB and was ended.") || len(content) > 30<<10 {
			t.Errorf("a run that tells too much, as %s: %d bytes: %.300s", accept, len(content), content)
		}
		if accept == mediaEvents && resultOf(t, content).Ended != kb.LiveOutputLimit {
			t.Errorf("it ended with %+v", resultOf(t, content))
		}
	}
}

// TestLiveProofLasts: signs of life keep the stream open for longer than an
// ordinary answer may take.
func TestLiveProofLasts(t *testing.T) {
	w := newWaiting()
	config := proves(t, w.run)
	config.Limits.WriteTimeout, config.Limits.LiveBeat = 20*time.Millisecond, 10*time.Millisecond
	address, _ := running(t, config)
	answer := open(t, t.Context(), address)
	lines := bufio.NewScanner(answer.Body)
	var rest strings.Builder
	for beats := 0; lines.Scan(); {
		rest.WriteString(lines.Text() + "\n")
		if lines.Text() == ": still running" {
			if beats++; beats == 6 {
				close(w.goOn)
			}
		}
	}
	if err := lines.Err(); err != nil || !resultOf(t, rest.String()).Proven {
		t.Errorf("the stream broke off: %v\n%s", err, rest.String())
	}
}

func TestLiveProofOfSomebodyGone(t *testing.T) {
	w := newWaiting()
	address, _ := running(t, proves(t, w.run))
	ctx, hangUp := context.WithCancel(t.Context())
	open(t, ctx, address)
	<-w.began
	hangUp()
	if cause := <-w.ended; !errors.Is(cause, context.Canceled) {
		t.Errorf("it was ended for %v", cause)
	}
	// Its turn is over once the run is; until then others are told to wait.
	close(w.goOn)
	for {
		answer := open(t, t.Context(), address)
		if answer.StatusCode == 200 {
			break
		}
		if complaint := checkProblem(render.ProblemLiveBusy, answer, contentOf(t, answer)); complaint != "" {
			t.Fatal(complaint)
		}
	}
}

func TestLiveProofWhenTheServerStops(t *testing.T) {
	w := newWaiting()
	address, stop := running(t, proves(t, w.run))
	answer := open(t, t.Context(), address)
	<-w.began
	if err := stop(); err != nil {
		t.Errorf("Run gives %v", err)
	}
	if r := resultOf(t, string(contentOf(t, answer))); r.Ended != kb.LiveStopped {
		t.Errorf("the result is %+v", r)
	}
}

func TestReloadDuringLiveProof(t *testing.T) {
	w := newWaiting()
	var sources []*fakeSource
	config := proves(t, w.run)
	load := config.Load
	config.Load = func(ctx context.Context) (*Snapshot, error) {
		snapshot, err := load(ctx)
		sources = append(sources, snapshot.Source.(*fakeSource))
		return snapshot, err
	}
	s := newTestServer(t, config)
	over := make(chan string, 1)
	go func() {
		recorder := httptest.NewRecorder()
		s.Handler().ServeHTTP(recorder, proving(provableID, "Accept", browserAccept))
		over <- recorder.Body.String()
	}()
	<-w.began
	if err := s.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sources[0].closed.Load() {
		t.Error("the data set was closed under the run")
	}
	close(w.goOn)
	if page := <-over; !strings.Contains(page, "This agrees") {
		t.Errorf("the page is %.300s", page)
	}
	if !sources[0].closed.Load() {
		t.Error("the data set is still open")
	}
}

func TestLiveProofThatFails(t *testing.T) {
	for name, run := range map[string]LiveRun{
		"error": func(context.Context, func(kb.LiveEvent)) (kb.LiveResult, error) {
			return kb.LiveResult{}, errors.New("disk on fire")
		},
		"panic": func(context.Context, func(kb.LiveEvent)) (kb.LiveResult, error) { panic("disk on fire") },
	} {
		var log syncBuffer
		config := proves(t, run)
		config.Logger = slog.New(slog.NewJSONHandler(&log, nil))
		s := newTestServer(t, config)
		stream := contentOf(t, get(t, s.Handler(), proving(provableID)))
		r := resultOf(t, string(stream))
		if r.Ended != kb.LiveFailed || r.Proven || bytes.Contains(stream, []byte("fire")) {
			t.Errorf("%s: the visitor is told %s", name, stream)
		}
		var entry struct {
			Level, Error, Incident, Stack string
		}
		if err := json.Unmarshal([]byte(log.String()), &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Level != "ERROR" || !strings.Contains(entry.Error, "fire") || entry.Incident == "" || !strings.Contains(r.Problems[0], entry.Incident) {
			t.Errorf("%s: the log says %+v, the visitor is told %q", name, entry, r.Problems)
		}
		if (name == "panic") != strings.Contains(entry.Stack, "live_test.go") {
			t.Errorf("%s: stack %q", name, entry.Stack)
		}
		if again := get(t, s.Handler(), proving(provableID)); again.StatusCode != 200 {
			t.Errorf("after the %s: status %d", name, again.StatusCode)
		}
	}
}
