package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"errorkb/internal/diagnose"
)

// posting makes a POST with a body of unknown length, as a client that streams
// does.
func posting(target, media string, body io.Reader) *http.Request {
	r := httptest.NewRequest("POST", target, body)
	r.Header.Set("Content-Type", media)
	r.ContentLength = -1
	return r
}

func TestBodyLimits(t *testing.T) {
	config := testConfig(t)
	config.Limits.MaxBody = 100 << 10
	s := newTestServer(t, config)
	limit := config.Limits.MaxBody
	escaped := func(n int) string { return "text=" + url.QueryEscape(strings.Repeat("\n", n)) }
	quoted := func(n int) string { return `{"text":"` + strings.Repeat(`\n`, n) + `"}` }
	for _, test := range []struct {
		target, media, body string
		status              int
	}{
		{"/api/diagnose", mediaText, strings.Repeat("a", limit), 200},
		{"/api/diagnose", mediaText, strings.Repeat("a", limit+1), 413},
		{"/api/diagnose", mediaText, strings.Repeat("a", 50*limit), 413},
		{"/api/diagnose", mediaJSON, quoted(limit), 200},
		{"/api/diagnose", mediaJSON, quoted(limit + 1), 413},
		{"/api/diagnose", mediaJSON, strings.Repeat(" ", 50*limit), 413},
		{"/diagnose", mediaForm, escaped(limit), 200},
		{"/diagnose", mediaForm, escaped(limit + 1), 413},
		{"/diagnose", mediaForm, escaped(50 * limit), 413},
	} {
		for _, known := range []bool{true, false} {
			r := posting(test.target, test.media, strings.NewReader(test.body))
			if known {
				r.ContentLength = int64(len(test.body))
			}
			answer := get(t, s.Handler(), r)
			content := string(contentOf(t, answer))
			if answer.StatusCode != test.status {
				t.Errorf("%s, %s of %d bytes, length known %v: status %d, want %d", test.target, test.media, len(test.body), known, answer.StatusCode, test.status)
			}
			if test.status == 413 && !strings.Contains(content, "100 KiB") {
				t.Errorf("%s: the limit is not named: %.300s", test.target, content)
			}
		}
	}
	if left, all := s.memory.left, s.limits.Memory; left != all {
		t.Errorf("%d of %d bytes were not given back", all-left, all)
	}
}

// TestPageAndProgramAskTheSame: a browser writes line ends its own way; the
// diagnosis must not see that.
func TestPageAndProgramAskTheSame(t *testing.T) {
	var asked [][]byte
	config := testConfig(t)
	load := config.Load
	config.Load = func(ctx context.Context) (*Snapshot, error) {
		snapshot, err := load(ctx)
		snapshot.Diagnose = func(_ context.Context, text []byte) diagnose.Answer {
			asked = append(asked, bytes.Clone(text))
			return diagnose.Answer{Verdict: diagnose.VerdictUnknown, Unknown: &diagnose.Unknown{}}
		}
		return snapshot, err
	}
	s := newTestServer(t, config)
	text := "one\ntwo \x00 & + % three\n"
	quoted := `{"text": "one\ntwo \u0000 & + % three\n"}`
	for _, r := range []*http.Request{
		posting("/diagnose", mediaForm, strings.NewReader("text="+url.QueryEscape(strings.ReplaceAll(text, "\n", "\r\n")))),
		posting("/diagnose", mediaText, strings.NewReader(text)),
		posting("/api/diagnose", mediaText, strings.NewReader(text)),
		posting("/api/diagnose", mediaJSON, strings.NewReader(quoted)),
	} {
		if answer := get(t, s.Handler(), r); answer.StatusCode != 200 {
			t.Errorf("status %d: %s", answer.StatusCode, contentOf(t, answer))
		}
	}
	for i, got := range asked {
		if string(got) != text {
			t.Errorf("request %d asks %q", i, got)
		}
	}
	if len(asked) != 4 {
		t.Errorf("%d diagnoses", len(asked))
	}
}

// TestAnyBytes: a paste may hold anything.
func TestAnyBytes(t *testing.T) {
	s := newTestServer(t, testConfig(t))
	for name, text := range map[string]string{
		"NUL":           "\x00\x00Error\x00",
		"invalid UTF-8": "\xff\xfe\xc3\x28 Error \x80",
		"one line":      strings.Repeat("x", 64<<10),
		"only newlines": strings.Repeat("\n", 64<<10),
		"controls":      "\x1b[31m\x1b]8;;\a\r\r\n\x7f\u202e",
		"open brackets": strings.Repeat("{\"[", 20<<10),
	} {
		for _, target := range []string{"/diagnose", "/api/diagnose"} {
			answer := get(t, s.Handler(), posting(target, mediaText, strings.NewReader(text)))
			if answer.StatusCode != 200 {
				t.Errorf("%s to %s: status %d", name, target, answer.StatusCode)
			}
		}
	}
}

func TestDeadlineMakesPartial(t *testing.T) {
	config := testConfig(t)
	config.Limits.DiagnoseTimeout = time.Nanosecond
	s := newTestServer(t, config)
	answer := get(t, s.Handler(), posting("/api/diagnose", mediaText, strings.NewReader(strings.Repeat("some line\n", 6000))))
	if content := contentOf(t, answer); answer.StatusCode != 200 || !bytes.Contains(content, []byte(`"partial":true`)) {
		t.Errorf("status %d: %s", answer.StatusCode, content)
	}
}

// blocking makes a server whose diagnoses wait until goOn is closed, and tell
// began that they are running.
func blocking(t *testing.T, limits Limits) (s *Server, began chan struct{}, goOn chan struct{}) {
	began, goOn = make(chan struct{}), make(chan struct{})
	config := testConfig(t)
	config.Limits = limits
	load := config.Load
	config.Load = func(ctx context.Context) (*Snapshot, error) {
		snapshot, err := load(ctx)
		snapshot.Diagnose = func(context.Context, []byte) diagnose.Answer {
			began <- struct{}{}
			<-goOn
			return diagnose.Answer{Verdict: diagnose.VerdictUnknown, Unknown: &diagnose.Unknown{}}
		}
		return snapshot, err
	}
	return newTestServer(t, config), began, goOn
}

func TestBusy(t *testing.T) {
	s, began, goOn := blocking(t, Limits{Diagnoses: 1, Waiting: 1})
	statuses := make(chan int)
	ask := func() {
		answer := get(t, s.Handler(), posting("/api/diagnose", mediaText, strings.NewReader("x")))
		statuses <- answer.StatusCode
	}
	go ask()
	<-began // one runs
	go ask()
	for len(s.gate.places) < 2 { // one waits; it has no other way to say so
		runtime.Gosched()
	}
	refused := get(t, s.Handler(), posting("/api/diagnose", mediaText, strings.NewReader("x")))
	if refused.StatusCode != 503 || refused.Header.Get("Retry-After") == "" {
		t.Errorf("the third: status %d, Retry-After %q", refused.StatusCode, refused.Header.Get("Retry-After"))
	}
	page := get(t, s.Handler(), posting("/diagnose", mediaText, strings.NewReader("x")))
	if page.StatusCode != 503 || !strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") {
		t.Errorf("the third, as a page: status %d %s", page.StatusCode, page.Header.Get("Content-Type"))
	}
	close(goOn)
	<-began
	if a, b := <-statuses, <-statuses; a != 200 || b != 200 {
		t.Errorf("the first two: %d and %d", a, b)
	}
	if n := len(s.gate.places) + len(s.gate.running); n != 0 {
		t.Errorf("%d places are still taken", n)
	}
}

func TestImpatience(t *testing.T) {
	s, began, goOn := blocking(t, Limits{Diagnoses: 1, Waiting: 5, WaitTimeout: time.Millisecond})
	var wait sync.WaitGroup
	wait.Go(func() { get(t, s.Handler(), posting("/api/diagnose", mediaText, strings.NewReader("x"))) })
	<-began
	if answer := get(t, s.Handler(), posting("/api/diagnose", mediaText, strings.NewReader("x"))); answer.StatusCode != 503 {
		t.Errorf("status %d after a wait that is too long", answer.StatusCode)
	}
	close(goOn)
	wait.Wait()
}

// TestHangUpWhileWaiting: who hangs up gives the place back.
func TestHangUpWhileWaiting(t *testing.T) {
	s, began, goOn := blocking(t, Limits{Diagnoses: 1, Waiting: 1})
	var wait sync.WaitGroup
	wait.Go(func() { get(t, s.Handler(), posting("/api/diagnose", mediaText, strings.NewReader("x"))) })
	<-began
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, posting("/api/diagnose", mediaText, strings.NewReader("x")).WithContext(ctx))
	if n := len(s.gate.places); n != 1 {
		t.Errorf("%d places are taken", n)
	}
	close(goOn)
	wait.Wait()
}

func TestMemoryIsBounded(t *testing.T) {
	config := testConfig(t)
	config.Limits = Limits{MaxBody: 1 << 20, Memory: 1 << 20}
	s := newTestServer(t, config)
	// The first body fills the memory and then stalls.
	stalled, writer := io.Pipe()
	var wait sync.WaitGroup
	first := 0
	wait.Go(func() {
		first = get(t, s.Handler(), posting("/api/diagnose", mediaText, stalled)).StatusCode
	})
	if _, err := writer.Write(bytes.Repeat([]byte("x"), 600<<10)); err != nil {
		t.Fatal(err)
	}
	small := get(t, s.Handler(), posting("/api/diagnose", mediaText, strings.NewReader("x")))
	large := get(t, s.Handler(), posting("/api/diagnose", mediaText, strings.NewReader(strings.Repeat("x", 600<<10))))
	if small.StatusCode != 200 || large.StatusCode != 503 {
		t.Errorf("beside a large body, a small one gets %d and a large one %d", small.StatusCode, large.StatusCode)
	}
	writer.Close()
	wait.Wait()
	if first != 200 || s.memory.left != s.limits.Memory {
		t.Errorf("the first gets %d; %d bytes are left of %d", first, s.memory.left, s.limits.Memory)
	}
}

func TestMemoryRead(t *testing.T) {
	for _, size := range []int{0, 1, firstRead - 1, firstRead, firstRead + 1, 100_000, 199_999, 200_000, 200_001, 300_000} {
		const limit = 200_000
		m := &memory{left: 1 << 20}
		given := bytes.Repeat([]byte("0123456789"), size/10+1)[:size]
		got, release, err := m.read(iotest.HalfReader(bytes.NewReader(given)), limit)
		want := given[:min(size, limit+1)]
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: got %d, want %d: %v", size, len(got), len(want), err)
		}
		release()
		if m.left != 1<<20 {
			t.Errorf("%d bytes: %d bytes were not given back", size, 1<<20-m.left)
		}
	}
	m := &memory{left: 1 << 20}
	_, release, err := m.read(io.MultiReader(strings.NewReader(strings.Repeat("x", 100_000)), iotest.ErrReader(io.ErrUnexpectedEOF)), 200_000)
	release()
	if !errors.Is(err, io.ErrUnexpectedEOF) || m.left != 1<<20 {
		t.Errorf("a body that breaks off: %v, %d bytes left", err, m.left)
	}
}

func TestRateLimit(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	config := testConfig(t)
	config.Limits.RateLimit = 0.5 // and five at once
	config.Now = func() time.Time { return now }
	s := newTestServer(t, config)
	ask := func(client string) *http.Response {
		r := asking("/api/errors")
		r.RemoteAddr = client
		// Whatever a client says about itself is not believed.
		r.Header.Set("X-Forwarded-For", fmt.Sprint(now.UnixNano(), ".example"))
		r.Header.Set("X-Real-IP", "203.0.113.9")
		return get(t, s.Handler(), r)
	}
	for i := range 5 {
		if answer := ask("192.0.2.1:1000"); answer.StatusCode != 200 {
			t.Fatalf("request %d: status %d", i, answer.StatusCode)
		}
	}
	refused := ask("192.0.2.1:2000")
	if refused.StatusCode != 429 || refused.Header.Get("Retry-After") != "2" {
		t.Errorf("status %d, Retry-After %q", refused.StatusCode, refused.Header.Get("Retry-After"))
	}
	if complaint := checkProblem("too-many-requests", refused, contentOf(t, refused)); complaint != "" {
		t.Error(complaint)
	}
	if answer := ask("192.0.2.2:1000"); answer.StatusCode != 200 {
		t.Errorf("another client: status %d", answer.StatusCode)
	}
	// The addresses of one IPv6 subscriber are one client.
	for i := range 5 {
		ask(fmt.Sprintf("[2001:db8::%d]:1000", i))
	}
	if answer := ask("[2001:db8::ffff]:1000"); answer.StatusCode != 429 {
		t.Errorf("a sixth address of one network: status %d", answer.StatusCode)
	}
	now = now.Add(2 * time.Second)
	if answer := ask("192.0.2.1:1000"); answer.StatusCode != 200 {
		t.Errorf("after Retry-After: status %d", answer.StatusCode)
	}
}

func TestNetwork(t *testing.T) {
	for client, want := range map[string]string{
		"192.0.2.1":          "192.0.2.1",
		"::ffff:192.0.2.1":   "192.0.2.1",
		"2001:db8:1:2:3::4":  "2001:db8:1:2::/64",
		"2001:db8:1:2:ff::9": "2001:db8:1:2::/64",
		"nonsense":           "nonsense",
	} {
		if got := network(client); got != want {
			t.Errorf("network(%q) = %q, want %q", client, got, want)
		}
	}
}

func TestTrustedProxies(t *testing.T) {
	extract := extractor([]netip.Prefix{netip.MustParsePrefix("10.1.2.0/24")})
	for _, test := range []struct{ peer, forwarded, want string }{
		{"10.1.2.3:5", "198.51.100.7", "198.51.100.7"},
		{"10.1.2.3:5", "6.6.6.6, 198.51.100.7", "198.51.100.7"},
		{"10.1.2.3:5", "198.51.100.7, 10.1.2.9", "198.51.100.7"},
		{"192.0.2.1:5", "198.51.100.7", "192.0.2.1"},
		{"127.0.0.1:5", "198.51.100.7", "127.0.0.1"},
	} {
		r := asking("/")
		r.RemoteAddr = test.peer
		r.Header.Set("X-Forwarded-For", test.forwarded)
		if got := extract(r); got != test.want {
			t.Errorf("peer %s for %q: %s, want %s", test.peer, test.forwarded, got, test.want)
		}
	}
	for _, peer := range []string{"192.0.2.1", "127.0.0.1", "10.0.0.1"} {
		r := asking("/")
		r.RemoteAddr = peer + ":5"
		r.Header.Set("X-Forwarded-For", "6.6.6.6")
		if got := extractor(nil)(r); got != peer {
			t.Errorf("without proxies, %s passes for %s", peer, got)
		}
	}
}
