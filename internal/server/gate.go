package server

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// errBusy is wrapped when the server has no room for another diagnosis.
var errBusy = errors.New("server is busy")

// gate lets a number of diagnoses run at once and some more wait. The rest is
// turned away: a queue without end would make everybody wait for nothing.
type gate struct {
	running chan struct{}
	places  chan struct{} // running and waiting
	patient time.Duration // the longest wait
}

func newGate(running, waiting int, patient time.Duration) *gate {
	return &gate{make(chan struct{}, running), make(chan struct{}, running+waiting), patient}
}

// enter waits for a turn. The caller calls leave when it is done.
func (g *gate) enter(ctx context.Context) (leave func(), err error) {
	select {
	case g.places <- struct{}{}:
	default:
		return nil, errBusy
	}
	timeout := time.NewTimer(g.patient)
	defer timeout.Stop()
	select {
	case g.running <- struct{}{}:
		return func() { <-g.running; <-g.places }, nil
	case <-timeout.C:
		err = errBusy
	case <-ctx.Done():
		err = ctx.Err()
	}
	<-g.places
	return nil, err
}

// memory bounds what all bodies that are being read or diagnosed take
// together, so that many large or slow ones cannot fill the machine.
type memory struct {
	mu   sync.Mutex
	left int
}

func (m *memory) take(n int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n > m.left {
		return false
	}
	m.left -= n
	return true
}

func (m *memory) give(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left += n
}

// firstRead is the first size of a body's buffer. It is not counted: the
// number of connections bounds it.
const firstRead = 32 << 10

// read reads all of r, but at most limit bytes and one more, from which the
// caller sees that there are too many. The buffer grows with what arrives, not
// with what a header promises. The caller calls release when the content is no
// longer needed, and whatever the error.
func (m *memory) read(r io.Reader, limit int) (content []byte, release func(), err error) {
	buffer := make([]byte, 0, min(firstRead, limit+1))
	taken := 0
	release = func() { m.give(taken) }
	for len(buffer) <= limit {
		if len(buffer) == cap(buffer) {
			size := min(2*cap(buffer), limit+1)
			if !m.take(size - taken) {
				return nil, release, errBusy
			}
			taken = size
			buffer = append(make([]byte, 0, size), buffer...)
		}
		n, err := r.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if err == io.EOF {
			return buffer, release, nil
		}
		if err != nil {
			return nil, release, err
		}
	}
	return buffer, release, nil
}
