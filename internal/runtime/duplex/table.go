// Package duplex holds the host side of duplex channels: which routes a worker
// process has, what may pass on each, and how they end.
//
// A Table belongs to one worker process. Open makes a Channel; Data and Exit
// take the notifications of the worker; WorkerExited ends everything. The
// table trusts the worker with nothing: a frame for a pair of ids that the
// worker does not own, and a close that it does not confirm, end the process.
package duplex

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"errorkb/internal/runtime/clock"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

// Worker is the process that a table belongs to.
type Worker interface {
	// Start sends a request and returns at once. Requests are sent in the order
	// of the calls. done is called exactly once and must not block.
	Start(r Request, done func(Reply))
	// Retire kills the process and returns at once.
	Retire()
}

// Request is one call of the worker.
type Request struct {
	Method    string
	Params    any
	CompanyID string // "" when the call is not made for a company
	Timeout   time.Duration
}

// Reply is the outcome of a Request. Sent tells whether the worker can have
// read the request.
type Reply struct {
	Result json.RawMessage
	Err    error
	Sent   bool
}

// Config is what a Table needs besides its worker.
type Config struct {
	Slots       *Slots
	Limits      Limits
	LoginLimits Limits
	Clock       clock.Clock
	Log         *slog.Logger
}

// Table is the set of routes of one worker process.
type Table struct {
	Config
	worker Worker

	mu       sync.Mutex
	routes   map[string]*Channel      // by host route id
	sessions map[string]bool          // session ids that were ever bound here
	closed   map[wire.DuplexPair]bool // tombstones; without a session id for routes that were never bound
	dead     bool                     // the process has exited
}

// NewTable returns an empty table.
func NewTable(worker Worker, config Config) *Table {
	return &Table{Config: config, worker: worker,
		routes: map[string]*Channel{}, sessions: map[string]bool{}, closed: map[wire.DuplexPair]bool{}}
}

// Texts of errors in opening a channel.
const (
	msgRouteBusy  = `DUPLEX_CHANNEL_ROUTE_BUSY`  // WMG-16
	msgOpenFailed = `DUPLEX_CHANNEL_OPEN_FAILED` // WMG-17
)

// Lines in the log.
const (
	logNotAcknowledged = `duplex channel close not acknowledged; retiring worker`
	logViolation       = `duplex channel ownership violation (%s); retiring worker`
	logDeliveryThrew   = `duplex channel data delivery threw`
)

// Reasons of an ownership violation.
const (
	reasonData      = "data frame pair"
	reasonExit      = "exit frame pair"
	reasonDuplicate = "duplicate bound pair"
	reasonOverflow  = "tombstone set overflow"
)

// Open asks the worker to open a channel. HostRouteID of p is filled in here.
// An error of the worker, of sending and a time-out come back unchanged, once
// the worker has forgotten the route.
func (t *Table) Open(ctx context.Context, p wire.DuplexOpenParams) (*Channel, error) {
	id, ok := t.Slots.take()
	if !ok {
		return nil, fault.New(msgRouteBusy)
	}
	p.HostRouteID = id
	return t.begin(ctx, id, duplexRoute, Request{Method: wire.MethodDuplexOpen, Params: p, CompanyID: p.CompanyID, Timeout: t.Limits.Open})
}

// begin sends the request that opens a route.
func (t *Table) begin(ctx context.Context, id string, kind kind, request Request) (*Channel, error) {
	c := &Channel{table: t, id: id, kind: kind, limits: &t.Limits, exited: make(chan struct{}), confirmed: make(chan struct{})}
	if kind == loginRoute {
		c.limits = &t.LoginLimits
	}
	t.mu.Lock()
	t.routes[id] = c
	c.move(sent)
	t.mu.Unlock()

	outcome := make(chan error, 1)
	t.worker.Start(request, func(reply Reply) { outcome <- t.opened(c, reply) })
	select {
	case err := <-outcome:
		if err != nil {
			<-c.confirmed
			return nil, err
		}
		return c, nil
	case <-ctx.Done():
		t.do(func(after *actions) { t.end(c, after) })
		return nil, ctx.Err()
	}
}

// opened takes the reply to an open. It binds the route before the next message
// of the worker is read.
func (t *Table) opened(c *Channel, reply Reply) (err error) {
	t.do(func(after *actions) {
		if reply.Err != nil {
			err = reply.Err
			c.unsent = !reply.Sent
			t.end(c, after)
			return
		}
		var pair wire.DuplexPair
		malformed := json.Unmarshal(reply.Result, &pair) != nil || pair.WorkerSessionID == ""
		if c.kind == duplexRoute {
			malformed = malformed || pair.HostRouteID != c.id
		}
		duplicate := !malformed && t.sessions[pair.WorkerSessionID]
		if malformed || c.ended || duplicate {
			err = c.openFailed()
			t.end(c, after)
			if duplicate && c.kind == duplexRoute {
				t.violation(reasonDuplicate, after)
			}
			return
		}
		t.sessions[pair.WorkerSessionID] = true
		c.session = pair.WorkerSessionID
		c.move(bound)
		c.lifetime = t.Clock.AfterFunc(c.limits.Lifetime, func() { t.do(func(after *actions) { t.end(c, after) }) })
		t.replay(c, after)
	})
	return err
}

// actions are what has to happen once the lock of the table is free.
type actions []func()

// do runs f with the lock held and then what f left to do.
func (t *Table) do(f func(after *actions)) {
	var after actions
	t.mu.Lock()
	f(&after)
	t.mu.Unlock()
	for _, action := range after {
		action()
	}
}

// end ends a route once: the wait is settled, the pair becomes a tombstone, the
// slot is free again and the worker is told.
func (t *Table) end(c *Channel, after *actions) {
	if c.ended {
		return
	}
	c.ended = true
	wasBound := c.state == Open
	c.move(ending)
	c.settle(Exit{})
	c.held, c.heldExit = nil, nil
	if c.lifetime != nil {
		c.lifetime.Stop()
	}
	delete(t.routes, c.id)
	t.Slots.give()
	if t.dead || c.unsent {
		close(c.confirmed)
		return
	}
	if len(t.closed) >= t.Limits.Tombstones {
		t.violation(reasonOverflow, after)
	}
	t.closed[wire.DuplexPair{HostRouteID: c.id, WorkerSessionID: c.session}] = true
	request := Request{Method: c.kind.methods().close, Params: wire.DuplexCloseParams{HostRouteID: c.id}, Timeout: c.limits.Close}
	*after = append(*after, func() {
		t.worker.Start(request, func(reply Reply) {
			t.acknowledged(c, wasBound && c.kind == duplexRoute, reply)
			close(c.confirmed)
		})
	})
}

// acknowledged checks the reply to a close. Without a good one nobody knows
// whether the session lives on, so the process has to go. withSession demands
// that the reply names the session too.
func (t *Table) acknowledged(c *Channel, withSession bool, reply Reply) {
	t.mu.Lock()
	dead := t.dead
	t.mu.Unlock()
	if e := fault.As(reply.Err); dead || e != nil && e.Code == wire.CodeWorkerUnavailable {
		return // the process is gone, and the session with it
	}
	var pair wire.DuplexPair
	if reply.Err == nil && json.Unmarshal(reply.Result, &pair) == nil &&
		pair.HostRouteID == c.id && (!withSession || pair.WorkerSessionID == c.session) {
		return
	}
	t.Log.Warn(c.kind.methods().notAcknowledged, "route", c.id, "error", reply.Err)
	t.worker.Retire()
}

// violation kills a worker that spoke for a channel that it does not own.
func (t *Table) violation(reason string, after *actions) {
	*after = append(*after, func() {
		t.Log.Warn(sprintf(logViolation, reason))
		t.worker.Retire()
	})
}

// WorkerExited ends all routes without asking anybody. What was not delivered
// is dropped.
func (t *Table) WorkerExited() {
	t.do(func(after *actions) {
		t.dead = true
		for _, c := range t.routes {
			c.queue, c.queued = nil, 0
			t.end(c, after)
		}
		clear(t.closed)
		clear(t.sessions)
	})
}

// Len returns how many routes there are.
func (t *Table) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.routes)
}
