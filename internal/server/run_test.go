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
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"errorkb/internal/diagnose"
	"errorkb/internal/kb"
	"errorkb/internal/render"
)

// syncBuffer is a buffer that several goroutines may write.
type syncBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// running runs a server on the loopback until stop is called, which gives what
// Run returns.
func running(t *testing.T, config Config) (address string, stop func() error) {
	t.Helper()
	s := newTestServer(t, config)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, listener) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() { stop() })
	return listener.Addr().String(), stop
}

func TestRunStopsGracefully(t *testing.T) {
	began, goOn := make(chan struct{}), make(chan struct{})
	config := testConfig(t)
	load := config.Load
	var source *fakeSource
	config.Load = func(ctx context.Context) (*Snapshot, error) {
		snapshot, err := load(ctx)
		source = snapshot.Source.(*fakeSource)
		whole := snapshot.Diagnose
		snapshot.Diagnose = func(ctx context.Context, text []byte) diagnose.Answer {
			close(began)
			<-goOn
			return whole(ctx, text)
		}
		return snapshot, err
	}
	address, stop := running(t, config)
	answered := make(chan error, 1)
	go func() {
		answer, err := http.Post("http://"+address+"/diagnose", mediaText, strings.NewReader("Sandbox driver does not support duplex channels for this lease."))
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
			if answer.StatusCode != 200 {
				err = errors.New(answer.Status)
			}
		}
		answered <- err
	}()
	<-began
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	// The listener is closed first; until then connections are still taken.
	for {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			break
		}
		conn.Close()
	}
	close(goOn)
	if err := <-answered; err != nil {
		t.Errorf("the request under way: %v", err)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Run gives %v", err)
	}
	if !source.closed.Load() {
		t.Error("the data set is still open")
	}
}

func TestRunCutsOffInTheEnd(t *testing.T) {
	config := testConfig(t)
	config.Limits.StopTimeout = time.Millisecond
	address, stop := running(t, config)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// A request whose body never comes, with an answer that shows it has begun.
	fmt.Fprintf(conn, "POST /api/diagnose HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\n")
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("got %q, %v", line, err)
	}
	if err := stop(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Run gives %v", err)
	}
}

func TestSlowBody(t *testing.T) {
	config := testConfig(t)
	config.Limits.BodyTimeout = 50 * time.Millisecond
	address, _ := running(t, config)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /api/diagnose HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\nabc")
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if complaint := checkProblem(render.ProblemTimeout, answer, contentOf(t, answer)); complaint != "" {
		t.Error(complaint)
	}
}

func TestSlowHeaders(t *testing.T) {
	config := testConfig(t)
	config.Limits.HeaderTimeout = 50 * time.Millisecond
	address, _ := running(t, config)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Errorf("the connection stays open: %v", err)
	}
}

func TestListenerThatFails(t *testing.T) {
	s := newTestServer(t, testConfig(t))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if err := s.Run(context.Background(), listener); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Run gives %v", err)
	}
}

// logged asks a server and gives the entries of its log.
func logged(t *testing.T, config Config, requests ...*http.Request) (entries []map[string]any, text string) {
	t.Helper()
	var log syncBuffer
	config.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := newTestServer(t, config)
	for _, r := range requests {
		get(t, s.Handler(), r)
	}
	for line := range strings.Lines(log.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	return entries, log.String()
}

func TestLogHoldsNoText(t *testing.T) {
	const secret = "hunter2"
	form := posting("/diagnose", mediaForm, strings.NewReader("text=password+"+secret))
	jsonBody := posting("/api/diagnose", mediaJSON, strings.NewReader(`{"text": "password `+secret+`", "`+secret+`": 1}`))
	headed := asking("/", "Cookie", secret, "Authorization", secret, "User-Agent", secret, "Referer", "http://x/"+secret)
	method := asking("/")
	method.Method = secret + strings.Repeat("X", 20)
	entries, text := logged(t, testConfig(t),
		form, jsonBody, headed, method,
		asking("/search?q="+secret), asking("/api/search?q="+secret), asking("/api/errors?severity="+secret),
		asking("/errors/"+secret), asking("/"+secret), asking("/api/errors/"+secret), asking("/assets/"+secret),
		posting("/api/diagnose", secret+"/"+secret, strings.NewReader(secret)),
	)
	if strings.Contains(text, secret) {
		t.Errorf("the log holds what a visitor sent:\n%s", text)
	}
	if len(entries) != 12 {
		t.Errorf("%d entries for 12 requests", len(entries))
	}
	for _, entry := range entries {
		for _, name := range []string{"method", "route", "status", "duration", "bytes"} {
			if _, found := entry[name]; !found {
				t.Errorf("an entry lacks %s: %v", name, entry)
			}
		}
	}
	if entries[0]["route"] != "/diagnose" || entries[0]["status"] != 200.0 {
		t.Errorf("the first entry is %v", entries[0])
	}
}

// brokenPages fails as the pages of a program with mistakes do.
type brokenPages struct{ Pages }

func (brokenPages) Document(_ context.Context, address string) (render.Document, error) {
	switch address {
	case "/":
		panic("a slip")
	case "/errors/":
		return render.Document{}, errors.New("disk on fire")
	}
	return render.Document{}, kb.ErrNotFound
}

func TestFailuresOfTheServer(t *testing.T) {
	config := testConfig(t)
	load := config.Load
	config.Load = func(ctx context.Context) (*Snapshot, error) {
		snapshot, err := load(ctx)
		snapshot.Pages = brokenPages{snapshot.Pages}
		return snapshot, err
	}
	for target, reason := range map[string]string{"/": "a slip", "/errors/": "disk on fire"} {
		var log syncBuffer
		config.Logger = slog.New(slog.NewJSONHandler(&log, nil))
		s := newTestServer(t, config)
		answer := get(t, s.Handler(), asking(target))
		content := string(contentOf(t, answer))
		if answer.StatusCode != 500 || answer.Header.Get("Cache-Control") != cacheNever {
			t.Errorf("%s: status %d, Cache-Control %s", target, answer.StatusCode, answer.Header.Get("Cache-Control"))
		}
		if strings.Contains(content, reason) {
			t.Errorf("%s: the visitor is told %q", target, reason)
		}
		var entry struct {
			Level, Error, Incident, Stack string
			Status                        int
		}
		if err := json.Unmarshal([]byte(log.String()), &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Level != "ERROR" || entry.Status != 500 || !strings.Contains(entry.Error, reason) {
			t.Errorf("%s: the log says %+v", target, entry)
		}
		if entry.Incident == "" || !strings.Contains(content, entry.Incident) {
			t.Errorf("%s: the visitor is not given the reference %q", target, entry.Incident)
		}
		if panicked := target == "/"; panicked != strings.Contains(entry.Stack, "brokenPages") {
			t.Errorf("%s: stack %q", target, entry.Stack)
		}
		// The next request is none the worse.
		if again := get(t, s.Handler(), asking("/healthz")); again.StatusCode != 200 {
			t.Errorf("after %s: status %d", target, again.StatusCode)
		}
	}
}

// TestBasePath serves the site below a path.
func TestBasePath(t *testing.T) {
	set := bundled(t)
	config := testConfig(t)
	config.Base = "/kb"
	config.Load = func(context.Context) (*Snapshot, error) {
		snapshot, _ := newSnapshot(t, set, "/kb")
		return snapshot, nil
	}
	h := newTestServer(t, config).Handler()
	for target, want := range map[string]int{
		"/kb/": 200, "/kb/errors/": 200, "/kb/api/errors/ec727a874bad4398": 200, "/kb/healthz": 200, "/kb/feed.xml": 200,
		"/": 404, "/errors/": 404, "/kbx/": 404,
	} {
		if got := get(t, h, asking(target)).StatusCode; got != want {
			t.Errorf("%s: status %d, want %d", target, got, want)
		}
	}
	moved := get(t, h, asking("/kb/errors/ec727a874bad4398"))
	if got := moved.Header.Get("Location"); got != "/kb/errors/paperclipai/paperclip/duplex-channel-capability-denied/" {
		t.Errorf("redirects to %q", got)
	}
	if got := get(t, h, asking("/kb")).Header.Get("Location"); got != "/kb/" {
		t.Errorf("/kb redirects to %q", got)
	}
	problem := get(t, h, asking("/kb/api/errors/unknown"))
	if content := string(contentOf(t, problem)); !strings.Contains(content, `"type":"/kb/problems/record-not-found/"`) {
		t.Errorf("problem %s", content)
	}
	if got := get(t, h, asking("/kb/api/errors?limit=1")).Header.Get("Link"); !strings.HasPrefix(got, "</kb/api/errors?") {
		t.Errorf("Link is %q", got)
	}
}
