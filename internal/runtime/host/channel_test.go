//go:build unix

package host_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"errorkb/internal/runtime/clock"
	"errorkb/internal/runtime/duplex"
	"errorkb/internal/runtime/environment"
	"errorkb/internal/runtime/fixture"
	"errorkb/internal/runtime/host"
	"errorkb/internal/runtime/lease"
	"errorkb/internal/runtime/worker"
)

// logbook is a log that a test can read.
type logbook struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logbook) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.b.String(), text)
}

func logging(book *logbook) func(*host.Config) {
	return func(c *host.Config) { c.Log = slog.New(slog.NewTextHandler(book, nil)) }
}

// session is an open channel that collects what comes out of it.
type session struct {
	*duplex.Channel
	t    testing.TB
	mu   sync.Mutex
	got  bytes.Buffer
	more chan struct{}
	exit chan duplex.Exit
}

func (w *world) session(in environment.LeaseInput) *session {
	w.t.Helper()
	c, err := w.Service.OpenDuplexChannel(w.t.Context(), environment.DuplexInput{LeaseInput: in, Command: []string{"cat"}})
	if err != nil {
		w.t.Fatal(err)
	}
	s := &session{Channel: c, t: w.t, more: make(chan struct{}, 1), exit: make(chan duplex.Exit, 2)}
	c.OnData(func(p []byte) {
		s.mu.Lock()
		s.got.Write(p)
		s.mu.Unlock()
		select {
		case s.more <- struct{}{}:
		default:
		}
	})
	c.OnExit(func(e duplex.Exit) { s.exit <- e })
	return s
}

// until waits for n bytes of output and returns all of it.
func (s *session) until(n int) string {
	s.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		s.mu.Lock()
		text := s.got.String()
		s.mu.Unlock()
		if len(text) >= n {
			return text
		}
		select {
		case <-s.more:
		case <-deadline:
			s.t.Fatalf("got %d bytes, want %d", len(text), n)
		}
	}
}

func (s *session) write(text string) {
	s.t.Helper()
	if _, err := s.Write([]byte(text)); err != nil {
		s.t.Fatal(err)
	}
}

func TestChannel(t *testing.T) {
	w := newWorld(t, nil)
	w.worker()
	s := w.session(w.acquire(fixtureEnv("")))
	s.write("one ")
	s.write("two \x00\xff")
	if got := s.until(10); got != "one two \x00\xff" {
		t.Errorf("got %q", got)
	}
	s.Stop()
	if e := <-s.exit; e.Code == nil || *e.Code != 137 || e.TransportClosed {
		t.Errorf("exit %+v", e)
	}
	if s.State() != duplex.Open {
		t.Errorf("an exit closes the channel: %s", s.State())
	}
	s.Close()
	if w.Channels() != 0 || len(s.exit) != 0 {
		t.Errorf("%d channels, %d further exits", w.Channels(), len(s.exit))
	}
	if !w.Workers.IsRunning("p1") {
		t.Error("a confirmed close killed the worker")
	}
}

func TestEarlyData(t *testing.T) {
	w := newWorld(t, nil)
	w.worker()
	s := w.session(w.acquire(fixtureEnv("early=3:5")))
	if e := <-s.exit; *e.Code != 5 {
		t.Errorf("exit %+v", e)
	}
	if diff := cmp.Diff("early 0\nearly 1\nearly 2\n", s.until(24)); diff != "" {
		t.Error(diff)
	}
	s.Close()
}

func TestExitOnce(t *testing.T) {
	w := newWorld(t, nil)
	w.worker()
	s := w.session(w.acquire(fixtureEnv("exit=3,close=late")))
	s.write("x")
	if e := <-s.exit; *e.Code != 3 || e.TransportClosed {
		t.Errorf("exit %+v", e)
	}
	s.Close()
	w.raw("health", nil) // what the worker sent for the closed pair has been read now
	if !w.Workers.IsRunning("p1") || len(s.exit) != 0 {
		t.Error("a frame for a closed pair was not ignored")
	}
}

// TestOwnership lets a worker speak for what it does not own. It dies of that
// and is not restarted by itself.
func TestOwnership(t *testing.T) {
	for behaviour, want := range map[string]string{
		"write=foreign":      "duplex channel ownership violation (data frame pair); retiring worker",
		"write=foreign-exit": "duplex channel ownership violation (exit frame pair); retiring worker",
		"early=foreign":      "duplex channel ownership violation (data frame pair); retiring worker",
		"close=bad":          "duplex channel close not acknowledged; retiring worker",
	} {
		var book logbook
		w := newWorld(t, logging(&book))
		h := w.worker()
		in := w.acquire(fixtureEnv(behaviour))
		s := w.session(in)
		if strings.HasPrefix(behaviour, "close") {
			s.Close()
		} else {
			s.Write([]byte("x"))
		}
		w.await(h, worker.Stopped)
		if e := <-s.exit; e.Code != nil || e.TransportClosed {
			t.Errorf("%s: exit %+v", behaviour, e)
		}
		if !book.has(want) || w.Channels() != 0 {
			t.Errorf("%s: %d channels, log:\n%s", behaviour, w.Channels(), book.b.String())
		}
		if err := h.Start(t.Context()); err != nil {
			t.Errorf("%s: starting again: %v", behaviour, err)
		}
		if err := w.open(w.acquire(fixtureEnv(""))); err != nil {
			t.Errorf("%s: a channel after that: %v", behaviour, err)
		}
	}
}

// TestSilentOpen lets opens and closes time out on a fake clock.
func TestSilentOpen(t *testing.T) {
	var book logbook
	fake := clock.NewFake(time.Unix(0, 0))
	w := newWorld(t, func(c *host.Config) { c.Clock = fake; logging(&book)(c) })
	h := w.worker()
	in := w.acquire(fixtureEnv("open=silent"))
	result := make(chan error)
	go func() { result <- w.open(in) }()
	if _, err := fake.WaitFor(t.Context(), 30*time.Second, 30*time.Second); err != nil {
		t.Fatal(err)
	}
	fake.Advance(30 * time.Second)
	if err := <-result; err == nil || err.Error() != `RPC call "duplexChannelOpen" timed out after 30000ms` {
		t.Errorf("got %v", err)
	}
	if h.Status() != worker.Running || w.Channels() != 0 {
		t.Errorf("the worker is %s, %d channels", h.Status(), w.Channels())
	}
	s := w.session(w.acquire(fixtureEnv("close=silent")))
	go func() { s.Close(); result <- nil }()
	if _, err := fake.WaitFor(t.Context(), 10*time.Second, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	fake.Advance(10 * time.Second)
	<-result
	w.await(h, worker.Stopped)
	if !book.has("duplex channel close not acknowledged; retiring worker") {
		t.Errorf("log:\n%s", book.b.String())
	}
}

func TestCrashWithOpenChannel(t *testing.T) {
	fake := clock.NewFake(time.Unix(0, 0))
	w := newWorld(t, func(c *host.Config) { c.Clock = fake })
	h := w.worker()
	in := w.acquire(fixtureEnv(""))
	s := w.session(in)
	_ = w.execute(in, "kill")
	if e := <-s.exit; e.Code != nil || e.TransportClosed {
		t.Errorf("exit %+v", e)
	}
	w.await(h, worker.Backoff)
	if l, err := w.Leases.Get(in.Lease.ID); err != nil || l.Status != lease.Active {
		t.Errorf("the lease is %s, %v", l.Status, err)
	}
	go fake.Advance(2 * time.Second)
	w.await(h, worker.Running)
	if err := w.open(in); err != nil {
		t.Errorf("after the restart: %v", err)
	}
	s.Close()
}

// TestCloseAfterRelease closes in the wrong order: the provider has forgotten
// its channels, and the host kills the worker.
func TestCloseAfterRelease(t *testing.T) {
	w := newWorld(t, nil)
	h := w.worker()
	in := w.acquire(fixtureEnv("release=forget"))
	s := w.session(in)
	if _, err := w.Service.Release(t.Context(), environment.ReleaseInput{LeaseInput: in, Status: lease.Released}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	w.await(h, worker.Stopped)
}

func TestFastWriter(t *testing.T) {
	w := newWorld(t, func(c *host.Config) { c.ChannelLimits = duplex.DefaultLimits() })
	w.worker()
	s := w.session(w.acquire(fixtureEnv("write=deaf")))
	piece := bytes.Repeat([]byte("x"), 64<<10)
	written := 0
	for {
		n, err := s.Write(piece)
		if err != nil {
			break
		}
		written += n
	}
	if written != 393_216 {
		t.Errorf("%d bytes were taken", written)
	}
	if e := <-s.exit; e.Code != nil {
		t.Errorf("exit %+v", e)
	}
	if err := w.open(w.acquire(fixtureEnv(""))); err != nil {
		t.Errorf("another channel of the same worker: %v", err)
	}
}

func TestManyChannels(t *testing.T) {
	w := newWorld(t, nil)
	w.worker()
	in := w.acquire(fixtureEnv("burst=20:1000"))
	sessions := make([]*session, duplex.DefaultCeiling)
	var opening sync.WaitGroup
	for i := range sessions {
		opening.Go(func() { sessions[i] = w.session(in) })
	}
	opening.Wait()
	if err := w.open(in); err == nil || err.Error() != "DUPLEX_CHANNEL_ROUTE_BUSY" {
		t.Errorf("one more: %v", err)
	}
	var using sync.WaitGroup
	for i, s := range sessions {
		using.Go(func() {
			name := fmt.Sprintf("channel %03d", i)
			s.write(name)
			if got := s.until(20*1000 + len(name)); got != strings.Repeat("b", 20*1000)+name {
				t.Errorf("channel %d got %d bytes that end in %q", i, len(got), got[20*1000:])
			}
			s.Close()
		})
	}
	using.Wait()
	if w.Channels() != 0 || !w.Workers.IsRunning("p1") {
		t.Errorf("%d channels are left", w.Channels())
	}
}

func TestLimitsOverTheWire(t *testing.T) {
	for behaviour, change := range map[string]func(*duplex.Limits){
		"burst=3:1000": func(l *duplex.Limits) { l.Total = 2500 },
		"burst=1:1001": func(l *duplex.Limits) { l.Chunk = 1000 },
		"bad=4":        func(l *duplex.Limits) { l.ProtocolErrors = 3 },
	} {
		w := newWorld(t, func(c *host.Config) { c.ChannelLimits = duplex.DefaultLimits(); change(&c.ChannelLimits) })
		w.worker()
		s := w.session(w.acquire(fixtureEnv(behaviour)))
		s.write("go")
		if e := <-s.exit; e.Code != nil || e.TransportClosed {
			t.Errorf("%s: exit %+v", behaviour, e)
		}
		if err := w.open(w.acquire(fixtureEnv(""))); err != nil {
			t.Errorf("%s: the worker did not survive: %v", behaviour, err)
		}
	}
}

// TestRestart restarts the host with an open channel: leases survive, nothing
// else does.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	w := newWorld(t, func(c *host.Config) { c.Dir = dir })
	w.worker()
	in := w.acquire(fixtureEnv(""))
	s := w.session(in)
	if err := w.Restart(); err != nil {
		t.Fatal(err)
	}
	if e := <-s.exit; e.Code != nil {
		t.Errorf("exit %+v", e)
	}
	l, err := w.Leases.Get(in.Lease.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in.Lease, l); diff != "" {
		t.Error(diff)
	}
	in.Lease = l
	if err := w.open(in); err == nil || err.Error() != denied {
		t.Errorf("before the worker is started: %v", err)
	}
	w.worker()
	if err := w.open(in); err != nil {
		t.Errorf("after it: %v", err)
	}
	if fixtureKey := in.Lease.Text("provider"); fixtureKey != fixture.SandboxDriver {
		t.Errorf("provider %q", fixtureKey)
	}
}
