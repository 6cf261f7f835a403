package duplex

import (
	"crypto/rand"
	"fmt"
	"sync"
	"time"
)

// Limits bound one channel. Passing one ends the channel without an error.
type Limits struct {
	Chunk          int           // bytes of one piece of output
	Held           int           // bytes held until the channel is bound
	Buffered       int           // bytes kept until a listener is set
	Frames         int           // pieces kept until a listener is set, or held
	Backlog        int           // bytes that a listener may lie behind
	Total          int64         // bytes of output altogether
	InFlight       int           // writes and stops that the worker has not acknowledged
	Unacknowledged int           // bytes of such writes
	Write          int           // bytes of one write
	ProtocolErrors int           // malformed or empty pieces of output
	Lifetime       time.Duration // of a bound channel
	Open           time.Duration // for the reply to an open
	Close          time.Duration // for the acknowledgement of a close
	Tombstones     int           // closed channels that one worker process remembers
}

// DefaultLimits returns the limits of the documented project. Backlog and
// Tombstones are ours: a listener there runs before the next piece is read, and
// the size of its set is not known.
func DefaultLimits() Limits {
	return Limits{
		Chunk: 262_144, Held: 393_216, Buffered: 393_216, Frames: 10_000, Backlog: 16 << 20, Total: 256 << 20,
		InFlight: 256, Unacknowledged: 393_216, Write: 262_144, ProtocolErrors: 100,
		Lifetime: time.Hour, Open: 30 * time.Second, Close: 10 * time.Second, Tombstones: 100_000,
	}
}

// DefaultLoginLimits returns the limits of login terminals. Output is counted in
// characters there. What the documented project does not bound is bounded as for
// duplex channels.
func DefaultLoginLimits() Limits {
	l := DefaultLimits()
	l.Chunk, l.Held, l.Buffered, l.Backlog, l.Total = 1_000_000, 8<<20, 8<<20, 8<<20, 8<<20
	return l
}

// DefaultCeiling is how many routes a process may have at once.
const DefaultCeiling = 128

// Slots bounds the routes of all workers together and names them. No name is
// given twice.
type Slots struct {
	mu      sync.Mutex
	ceiling int
	taken   int
	last    int
}

// NewSlots returns slots for ceiling routes at once; 0 means DefaultCeiling.
func NewSlots(ceiling int) *Slots {
	if ceiling <= 0 {
		ceiling = DefaultCeiling
	}
	return &Slots{ceiling: ceiling}
}

// take reserves a slot and returns the id of the new route.
func (s *Slots) take() (id string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken >= s.ceiling {
		return "", false
	}
	s.taken++
	s.last++
	return fmt.Sprintf("duplex-route-%d", s.last), true
}

// takeLogin is take for a login terminal, whose id is a random UUID.
func (s *Slots) takeLogin() (id string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken >= s.ceiling {
		return "", false
	}
	s.taken++
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), true
}

func (s *Slots) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
}

// Taken returns how many routes there are now.
func (s *Slots) Taken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}
