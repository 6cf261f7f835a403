package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"errorkb/internal/diagnose"
	"errorkb/internal/kb"
)

// reloader is a loader whose next outcome a test decides.
type reloader struct {
	t    testing.TB
	sets []*kb.Set // loaded in turn
	err  error

	mu      sync.Mutex
	loads   int
	sources []*fakeSource
}

func (l *reloader) load(context.Context) (*Snapshot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil, l.err
	}
	snapshot, source := newSnapshot(l.t, l.sets[l.loads%len(l.sets)], "")
	l.loads++
	l.sources = append(l.sources, source)
	return snapshot, nil
}

// twoSets are the bundled records, whole and without the first.
func twoSets(t testing.TB) []*kb.Set {
	whole := bundled(t)
	return []*kb.Set{whole, kb.NewSetOf(whole.Records[1:]...)}
}

func TestReloadServesTheNewSet(t *testing.T) {
	loader := &reloader{t: t, sets: twoSets(t)}
	config := testConfig(t)
	config.Load = loader.load
	s := newTestServer(t, config)
	gone := loader.sets[0].Records[0]
	address := "/api/errors/" + gone.ID
	if status := get(t, s.Handler(), asking(address)).StatusCode; status != 200 {
		t.Fatalf("before: status %d", status)
	}
	if err := s.Reload(context.Background()); err != nil {
		t.Fatal(err)
	}
	if status := get(t, s.Handler(), asking(address)).StatusCode; status != 404 {
		t.Errorf("after: status %d, a document of the old set", status)
	}
	if got, want := s.Dataset(), loader.sets[1].Version; got != want {
		t.Errorf("serves %s, want %s", got, want)
	}
	if !loader.sources[0].closed.Load() {
		t.Error("the old set is still open")
	}
	ready := string(contentOf(t, get(t, s.Handler(), asking("/readyz"))))
	if !strings.Contains(ready, `"loaded":true`) {
		t.Errorf("readyz says %s", ready)
	}
}

func TestBadSetLeavesTheOldOne(t *testing.T) {
	loader := &reloader{t: t, sets: twoSets(t)}
	config := testConfig(t)
	config.Load = loader.load
	s := newTestServer(t, config)
	loader.err = errors.New("a/b/c.json:3:7: [unknown-field] colour")
	err := s.Reload(context.Background())
	if !errors.Is(err, loader.err) {
		t.Fatalf("Reload gives %v", err)
	}
	if status := get(t, s.Handler(), asking("/errors/")).StatusCode; status != 200 {
		t.Errorf("status %d after a bad set", status)
	}
	answer := get(t, s.Handler(), asking("/readyz"))
	var ready struct {
		Status     string
		LastReload struct {
			Loaded bool
			Reason string
		}
	}
	if err := json.Unmarshal(contentOf(t, answer), &ready); err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != 200 || ready.Status != "ready" || ready.LastReload.Loaded || !strings.Contains(ready.LastReload.Reason, "a/b/c.json:3:7") {
		t.Errorf("readyz: %d %+v", answer.StatusCode, ready)
	}
	metrics := string(contentOf(t, get(t, s.Handler(), asking("/metrics"))))
	if !strings.Contains(metrics, `kb_reloads_total{outcome="refused"} 1`) {
		t.Error("the metrics do not count the refused set")
	}
	loader.err = nil
	if err := s.Reload(context.Background()); err != nil {
		t.Errorf("a good set after a bad one: %v", err)
	}
}

func TestNewRefusesABadSet(t *testing.T) {
	config := testConfig(t)
	config.Load = func(context.Context) (*Snapshot, error) { return nil, errors.New("no records") }
	if _, err := New(context.Background(), config); err == nil || !strings.Contains(err.Error(), "no records") {
		t.Errorf("New gives %v", err)
	}
	closed := false
	config.Load = func(context.Context) (*Snapshot, error) {
		return &Snapshot{Close: func() error { closed = true; return nil }}, nil
	}
	if _, err := New(context.Background(), config); err == nil || !closed {
		t.Errorf("New gives %v for a snapshot without parts, closed %v", err, closed)
	}
}

// TestReloadUnderLoad reloads again and again while pages, answers and
// diagnoses are asked for: each must come from one set that is open.
func TestReloadUnderLoad(t *testing.T) {
	loader := &reloader{t: t, sets: twoSets(t)}
	config := testConfig(t)
	config.Load = loader.load
	config.Limits.Waiting = 1000
	s := newTestServer(t, config)
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	versions := map[string]bool{loader.sets[0].Version: true, loader.sets[1].Version: true}

	var stop atomic.Bool
	var requests atomic.Int64
	var wait sync.WaitGroup
	for worker := range 8 {
		wait.Go(func() {
			for i := worker; !stop.Load(); i++ {
				if err := askOnce(server, i, versions); err != nil {
					t.Error(err)
					return
				}
				requests.Add(1)
			}
		})
	}
	const reloads = 30
	for range reloads {
		before := requests.Load()
		if err := s.Reload(context.Background()); err != nil {
			t.Error(err)
		}
		// Every set answers at least once before the next one replaces it.
		for requests.Load() == before && !t.Failed() {
			asked, err := http.Get(server.URL + "/healthz")
			if err != nil {
				t.Fatal(err)
			}
			asked.Body.Close()
		}
	}
	stop.Store(true)
	wait.Wait()
	for i, source := range loader.sources {
		if open, last := !source.closed.Load(), i == len(loader.sources)-1; open != last {
			t.Errorf("set %d of %d: open is %v", i, len(loader.sources), open)
		}
	}
	if len(loader.sources) != reloads+1 || requests.Load() < reloads {
		t.Errorf("%d sets, %d requests", len(loader.sources), requests.Load())
	}
}

func askOnce(server *httptest.Server, i int, versions map[string]bool) error {
	targets := []string{"/", "/errors/", "/api/errors", "/api/dataset", "/search?q=duplex", "/api/diagnose"}
	target := targets[i%len(targets)]
	var answer *http.Response
	var err error
	if target == "/api/diagnose" {
		answer, err = http.Post(server.URL+target, mediaText, strings.NewReader("Sandbox driver does not support duplex channels for this lease."))
	} else {
		answer, err = http.Get(server.URL + target)
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != 200 {
		return errors.New(target + ": " + answer.Status + ": " + string(content[:min(len(content), 300)]))
	}
	if !strings.HasPrefix(target, "/api/") {
		return nil
	}
	var body struct{ DatasetVersion string }
	if err := json.Unmarshal(content, &body); err != nil {
		return err
	}
	if !versions[body.DatasetVersion] {
		return errors.New(target + ": version " + body.DatasetVersion + " was never loaded")
	}
	return nil
}

// TestRequestKeepsItsSet: a request that began before a reload ends with the
// set it began with, which is open until then.
func TestRequestKeepsItsSet(t *testing.T) {
	loader := &reloader{t: t, sets: twoSets(t)}
	began, goOn := make(chan struct{}), make(chan struct{})
	config := testConfig(t)
	config.Load = func(ctx context.Context) (*Snapshot, error) {
		snapshot, err := loader.load(ctx)
		if err != nil {
			return nil, err
		}
		whole := snapshot.Diagnose
		snapshot.Diagnose = func(ctx context.Context, text []byte) diagnose.Answer {
			close(began)
			<-goOn
			return whole(ctx, text)
		}
		return snapshot, nil
	}
	s := newTestServer(t, config)
	answered := make(chan *http.Response)
	go func() {
		r := httptest.NewRequest("POST", "/diagnose", strings.NewReader("Sandbox driver does not support duplex channels for this lease."))
		r.Header.Set("Content-Type", mediaText)
		answered <- get(t, s.Handler(), r)
	}()
	<-began
	if err := s.Reload(context.Background()); err != nil {
		t.Fatal(err)
	}
	if loader.sources[0].closed.Load() {
		t.Error("the set was closed under a request")
	}
	close(goOn)
	if answer := <-answered; answer.StatusCode != 200 {
		t.Errorf("status %d: %s", answer.StatusCode, contentOf(t, answer))
	}
	if !loader.sources[0].closed.Load() {
		t.Error("the set is open after its last request")
	}
}

func TestClosedServerAnswers(t *testing.T) {
	s := newTestServer(t, testConfig(t))
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if status := get(t, s.Handler(), asking("/")).StatusCode; status != 503 {
		t.Errorf("status %d", status)
	}
	if err := s.Reload(context.Background()); err == nil {
		t.Error("a closed server can be reloaded")
	}
}
