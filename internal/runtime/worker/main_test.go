package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/fixture"
	"errorkb/internal/runtime/wire"
)

func TestMain(m *testing.M) {
	fixture.RunIfAsked()
	os.Exit(fixture.CheckLeaks(m.Run))
}

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

// options describe a fixture worker that starts as said and dies quickly.
func options(t *testing.T, start ...string) (Options, *logbook) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := &logbook{}
	limits := DefaultLimits()
	limits.Leave = 50 * time.Millisecond
	return Options{
		Command: Command{Path: self, Args: fixture.Args(start...)},
		Limits:  limits,
		Log:     slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}, log
}

func started(t *testing.T, opts Options) *Handle {
	t.Helper()
	h := NewHandle("plugin-1", opts)
	t.Cleanup(h.Stop)
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h
}

func execute(command string, args ...string) Request {
	return Request{Method: wire.MethodExecute, CompanyID: "c1", Params: wire.ExecuteParams{Command: command, Args: args}}
}

func stdout(t *testing.T, raw json.RawMessage, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var result wire.ExecuteResult
	if err := json.Unmarshal(raw, &result); err != nil {
		t.Fatal(err)
	}
	return result.Stdout
}

func wantFault(t *testing.T, err error, code int, class, text string) {
	t.Helper()
	e := fault.As(err)
	if e == nil || e.Message != text || e.Code != code || e.Class != class {
		t.Errorf("got %v (%+v)\nwant %s, code %d, class %q", err, e, text, code, class)
	}
}

func await(t *testing.T, h *Handle, status Status) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := h.WaitStatus(ctx, status); err != nil {
		t.Fatal(err)
	}
}
