package conformance

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

// notes collects text that arrives in pieces, and tells of its arrival. It is
// safe for use by several goroutines.
type notes struct {
	mu      sync.Mutex
	b       bytes.Buffer
	events  []slog.Record
	changed chan struct{}
}

func newNotes() *notes { return &notes{changed: make(chan struct{})} }

func (n *notes) Write(data []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.b.Write(data)
	close(n.changed)
	n.changed = make(chan struct{})
	return len(data), nil
}

// text returns everything, and a channel that is closed when there is more.
func (n *notes) text() (string, <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.b.String(), n.changed
}

// lines returns the whole lines so far.
func (n *notes) lines() []string {
	all, _ := n.text()
	list := strings.Split(all, "\n")
	return list[:len(list)-1]
}

// entries returns the events so far, and a channel that is closed when there
// are more.
func (n *notes) entries() ([]slog.Record, <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]slog.Record(nil), n.events...), n.changed
}

// newLogger returns a logger whose events go to notes.
func newLogger(n *notes) *slog.Logger { return slog.New(logHandler{n}) }

type logHandler struct{ notes *notes }

func (h logHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h logHandler) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h logHandler) WithGroup(string) slog.Handler            { return h }

func (h logHandler) Handle(_ context.Context, r slog.Record) error {
	h.notes.mu.Lock()
	defer h.notes.mu.Unlock()
	h.notes.events = append(h.notes.events, r.Clone())
	close(h.notes.changed)
	h.notes.changed = make(chan struct{})
	return nil
}

// logLine writes an event as the standard text handler does, without its time.
func logLine(r slog.Record) string {
	var b bytes.Buffer
	h := slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	if err := h.Handle(context.Background(), r); err != nil {
		return fmt.Sprint(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
