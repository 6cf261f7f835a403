package main

import (
	"bytes"
	"io"
	"sync"
)

// tail keeps the end of what is written to it, and where that stands in the
// whole. Several streams may be written to it at once.
type tail struct {
	mu      sync.Mutex
	limit   int
	kept    []byte // up to twice the limit, so that it is seldom moved
	dropped spot   // what stood before it
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if len(t.kept) > 2*t.limit {
		t.drop()
	}
	return len(p), nil
}

func (t *tail) drop() {
	n := len(t.kept) - t.limit
	if n <= 0 {
		return
	}
	t.dropped = t.dropped.after(t.kept[:n])
	t.kept = append(t.kept[:0], t.kept[n:]...)
}

// text is what was kept, from the start of a line where there is one.
func (t *tail) text() ([]byte, spot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop()
	if t.dropped.column == 0 {
		return t.kept, t.dropped
	}
	n := bytes.IndexByte(t.kept, '\n') + 1
	return t.kept[n:], t.dropped.after(t.kept[:n])
}

// lines hands on what one stream writes in whole lines, so that two streams that go
// to one tail do not meet within a line. Its writer does not fail.
type lines struct {
	to    io.Writer
	begun []byte // of a line that has not ended
}

// longLine is how much of a line waits for its end.
const longLine = 64 << 10

func (l *lines) Write(p []byte) (int, error) {
	n := bytes.LastIndexByte(p, '\n') + 1
	if n > 0 || len(l.begun)+len(p) > longLine {
		if n == 0 {
			n = len(p)
		}
		l.to.Write(append(l.begun, p[:n]...))
		l.begun = l.begun[:0]
	}
	l.begun = append(l.begun, p[n:]...)
	return len(p), nil
}

// end hands on the last line of a stream that does not end it, with an end.
func (l *lines) end() {
	if len(l.begun) > 0 {
		l.to.Write(append(l.begun, '\n'))
		l.begun = nil
	}
}
