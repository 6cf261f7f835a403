package duplex

import (
	"context"
	"io"
	"sync"

	"errorkb/internal/runtime/clock"
)

// Exit is how the program of a channel ended. Code is nil when that is not
// known; TransportClosed tells that the connection to it was lost.
type Exit struct {
	Code            *int
	TransportClosed bool
}

// Channel is an open duplex channel, as its caller has it. It is safe for use
// by several goroutines; a listener may call its methods.
type Channel struct {
	table   *Table
	id      string
	kind    kind
	limits  *Limits
	writing sync.Mutex // keeps writes in the order in which they were counted

	// The rest is guarded by the lock of the table.
	session  string
	state    State
	ended    bool
	unsent   bool // the worker never heard of this route
	lifetime clock.Timer

	held           []heldFrame
	heldBytes      int
	heldExit       *heldExit
	total          int64
	protocolErrors int
	inFlight       int
	unacknowledged int

	queue        [][]byte
	queued       int
	listener     func([]byte)
	exitListener func(Exit)
	exit         *Exit
	pumping      bool

	exited    chan struct{} // closed once exit is set
	confirmed chan struct{} // closed once the close is confirmed or given up
}

func (c *Channel) move(e event) {
	if state, ok := c.state.next(e); ok {
		c.state = state
	}
}

// ID returns the host route id.
func (c *Channel) ID() string { return c.id }

// SessionID returns the worker session id.
func (c *Channel) SessionID() string {
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	return c.session
}

// State returns how far the channel has come.
func (c *Channel) State() State {
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	return c.state
}

// Write sends input and returns without waiting for the worker to take it. A
// write that passes a limit ends the channel. The error is io.ErrClosedPipe
// when the channel has ended.
func (c *Channel) Write(data []byte) (int, error) {
	if len(data) == 0 {
		return 0, nil
	}
	t := c.table
	c.writing.Lock()
	defer c.writing.Unlock()
	open := c.admit(len(data))
	if !open {
		return 0, io.ErrClosedPipe
	}
	t.worker.Start(c.input(data), func(reply Reply) { c.taken(len(data), reply) })
	return len(data), nil
}

// Stop asks the worker to end the program. The exit follows.
func (c *Channel) Stop() {
	c.writing.Lock()
	defer c.writing.Unlock()
	if !c.admit(0) {
		return
	}
	c.table.worker.Start(c.stopping(), func(reply Reply) { c.taken(0, reply) })
}

// admit counts a request of n bytes, or ends the channel when that is one too
// many.
func (c *Channel) admit(n int) (open bool) {
	t := c.table
	t.do(func(after *actions) {
		if c.ended {
			return
		}
		if n > c.limits.Write || c.inFlight >= c.limits.InFlight || c.unacknowledged+n > c.limits.Unacknowledged {
			t.end(c, after)
			return
		}
		c.inFlight++
		c.unacknowledged += n
		open = true
	})
	return open
}

// taken counts an answered request off. One that did not arrive leaves a hole
// in the input, so the channel ends.
func (c *Channel) taken(n int, reply Reply) {
	c.table.do(func(after *actions) {
		c.inFlight--
		c.unacknowledged -= n
		if reply.Err != nil {
			c.table.Log.Debug("duplex channel request failed", "route", c.id, "error", reply.Err)
		}
		if !reply.Sent {
			c.table.end(c, after)
		}
	})
}

// OnData sets the listener for output; a later one replaces it. What came
// before the first listener is delivered to it, also when the channel has
// ended meanwhile. The listener is called by one goroutine at a time and may
// keep the data. There is no back-pressure: a listener that lies too far
// behind loses the channel.
func (c *Channel) OnData(listener func([]byte)) {
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	c.listener = listener
	c.kick()
}

// OnExit sets the listener for the exit. It is called once, after the data
// that came before.
func (c *Channel) OnExit(listener func(Exit)) {
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	c.exitListener = listener
	c.kick()
}

// Wait waits for the exit, which a closed channel has too, or for the end of
// ctx. Data that came before may still be on its way to the listener.
func (c *Channel) Wait(ctx context.Context) (Exit, error) {
	select {
	case <-c.exited:
		c.table.mu.Lock()
		defer c.table.mu.Unlock()
		return *c.exit, nil
	case <-ctx.Done():
		return Exit{}, ctx.Err()
	}
}

// Close ends the channel and waits until the worker has confirmed that. A
// worker that does not confirm is killed. It returns at once when the channel
// has ended before; the error is always nil.
func (c *Channel) Close() error {
	first := false
	c.table.do(func(after *actions) {
		first = !c.ended
		c.table.end(c, after)
	})
	if first {
		<-c.confirmed
	}
	return nil
}

func (c *Channel) settle(exit Exit) {
	if c.exit != nil {
		return
	}
	c.exit = &exit
	close(c.exited)
	c.kick()
}

// deliverable returns the next call of a listener, nil when there is none.
func (c *Channel) deliverable() func() {
	if c.listener != nil && len(c.queue) > 0 {
		listener, data := c.listener, c.queue[0]
		c.queue[0] = nil
		c.queue = c.queue[1:]
		c.queued -= c.kind.size(data)
		return func() { listener(data) }
	}
	if c.exit != nil && c.exitListener != nil {
		listener, exit := c.exitListener, *c.exit
		c.exitListener = nil
		return func() { listener(exit) }
	}
	return nil
}

// kick makes sure that a goroutine delivers what can be delivered. The lock of
// the table is held.
func (c *Channel) kick() {
	if c.pumping {
		return
	}
	if next := c.deliverable(); next != nil {
		c.pumping = true
		go c.pump(next)
	}
}

// pump delivers until nothing is left.
func (c *Channel) pump(next func()) {
	for next != nil {
		c.deliver(next)
		c.table.mu.Lock()
		next = c.deliverable()
		c.pumping = next != nil
		c.table.mu.Unlock()
	}
}

// deliver keeps a listener that panics from hurting anybody else.
func (c *Channel) deliver(next func()) {
	defer func() {
		if v := recover(); v != nil {
			c.table.Log.Error(logDeliveryThrew, "route", c.id, "panic", v)
		}
	}()
	next()
}
