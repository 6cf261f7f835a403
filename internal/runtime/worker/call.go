package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"errorkb/internal/runtime/clock"
	"errorkb/internal/runtime/duplex"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

// Request is one call of a worker.
type Request struct {
	Method    string
	Params    any
	CompanyID string        // "" when the call is not made for a company
	Timeout   time.Duration // 0 means the default
	// OnLog gets the live output of an execute call. It must not block.
	OnLog func(stream, chunk string)
}

// Texts of errors in calling a worker.
const (
	msgNotWritable = `Worker process for plugin "%s" is not writable`    // WMG-01
	msgNoProcess   = `Cannot call "%s" — worker for "%s" is not running` // WMG-07
	msgWrongStatus = `Cannot call "%s" — worker for "%s" is %s`          // WMG-08
	msgTimeout     = `RPC call "%s" timed out after %dms`                // WMG-11
	msgSend        = `Failed to send "%s" to worker: %s`                 // WMG-12
	msgNoHandler   = `Host does not handle method "%s"`                  // WMG-21
)

// Call asks the worker and waits for its answer. An error of the worker keeps
// its message and code.
func (h *Handle) Call(ctx context.Context, req Request) (json.RawMessage, error) {
	r, status := h.live()
	if r == nil {
		return nil, fault.New(msgWrongStatus, req.Method, h.id, status)
	}
	return r.call(ctx, req)
}

// run is one process of a handle with what belongs to that process: its
// pending calls and its routes. What outlives the process stays in the handle.
type run struct {
	handle  *Handle
	process *process
	ready   chan struct{} // closed once process is set
	routes  *duplex.Table
	ctx     context.Context // of requests that the host answers
	cancel  context.CancelFunc
	ending  ending // guarded by the lock of the handle

	mu      sync.Mutex
	next    int
	pending map[string]*pendingCall
	failure func() error // set once the process is gone
	live    liveOutput
}

// pendingCall is a call that waits for its reply.
type pendingCall struct {
	id         string
	method     string
	invocation string
	company    string
	onLog      func(stream, chunk string)
	logged     int64
	muted      bool
	timer      clock.Timer
	done       func(duplex.Reply)
}

// invocations numbers the calls that are made for a company.
var invocations atomic.Int64

func newRun(h *Handle) *run {
	r := &run{handle: h, ready: make(chan struct{}), pending: map[string]*pendingCall{}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.routes = duplex.NewTable(link{r}, duplex.Config{
		Slots: h.opts.Slots, Limits: h.opts.ChannelLimits, LoginLimits: h.opts.LoginLimits, Clock: h.opts.Clock, Log: h.opts.Log,
	})
	return r
}

// leave notes why the process is about to exit; the first reason stays.
func (r *run) leave(why ending) {
	if r.ending == "" {
		r.ending = why
	}
}

func (r *run) excerpt() string {
	if text := r.process.excerpt(r.handle.opts.Limits.Excerpt); text != "" {
		return stderrHeading + text
	}
	return ""
}

// link is a process as its routes see it.
type link struct{ r *run }

func (l link) Start(q duplex.Request, done func(duplex.Reply)) {
	l.r.start(Request{Method: q.Method, Params: q.Params, CompanyID: q.CompanyID, Timeout: q.Timeout}, done)
}

// Retire kills the process for good: it is not restarted by itself.
func (l link) Retire() {
	h := l.r.handle
	h.mu.Lock()
	l.r.leave(endRetire)
	h.mu.Unlock()
	l.r.process.kill(syscall.SIGKILL)
}

func (r *run) call(ctx context.Context, req Request) (json.RawMessage, error) {
	replies := make(chan duplex.Reply, 1)
	id := r.start(req, func(reply duplex.Reply) { replies <- reply })
	select {
	case reply := <-replies:
		return reply.Result, reply.Err
	case <-ctx.Done():
		r.take(id)
		return nil, ctx.Err()
	}
}

// start sends a request and returns its id at once. done is called once, unless
// the call is taken back.
func (r *run) start(req Request, done func(duplex.Reply)) (id string) {
	h := r.handle
	params, notSent := wire.Encode(req.Params)
	timeout := h.opts.Limits.timeout(req.Timeout)
	c := &pendingCall{method: req.Method, company: req.CompanyID, onLog: req.OnLog, done: done}
	m := &wire.Message{Method: req.Method, Params: params}
	if req.CompanyID != "" {
		c.invocation = fmt.Sprintf("invocation-%d", invocations.Add(1))
		m.Invocation = &wire.Invocation{ID: c.invocation, Scope: wire.Scope{CompanyID: req.CompanyID}}
	}
	writable := r.process.writable()
	r.mu.Lock()
	if r.failure != nil || !writable {
		// The status is fine, and the process is not or does not read any more.
		r.mu.Unlock()
		done(duplex.Reply{Err: fault.New(msgNoProcess, req.Method, h.id)})
		return ""
	}
	r.next++
	c.id = strconv.Itoa(r.next)
	m.ID = json.RawMessage(c.id)
	r.pending[c.id] = c
	r.live.began(r.pending, c)
	c.timer = h.opts.Clock.AfterFunc(timeout, func() {
		if r.take(c.id) != nil {
			done(duplex.Reply{Sent: true, Err: fault.New(msgTimeout, req.Method, timeout.Milliseconds()).
				WithCode(wire.CodeTimeout).WithClass(fault.ClassCall)})
		}
	})
	r.mu.Unlock()
	sent := func(err error) {
		if err == nil || r.take(c.id) == nil {
			return
		}
		done(duplex.Reply{Err: fault.New(msgSend, req.Method, systemText("write", err)).WithCause(err)})
	}
	if notSent != nil {
		sent(notSent)
	} else {
		r.send(m, sent)
	}
	return c.id
}

// send queues a message. done is called once, with nil when the worker can
// read it.
func (r *run) send(m *wire.Message, done func(error)) {
	if !r.process.writable() {
		done(fault.New(msgNotWritable, r.handle.id))
		return
	}
	line, err := wire.Line(m)
	if err != nil {
		done(err)
		return
	}
	r.process.send(line, done)
}

// take removes a call that waits for its reply, nil when it does not wait any
// more.
func (r *run) take(id string) *pendingCall {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.pending[id]
	if c != nil {
		delete(r.pending, id)
		c.timer.Stop()
	}
	return c
}

// fail ends all calls when the process is gone.
func (r *run) fail(failure func() error) {
	r.cancel()
	r.mu.Lock()
	r.failure = failure
	pending := r.pending
	r.pending = map[string]*pendingCall{}
	r.mu.Unlock()
	for _, c := range pending {
		c.timer.Stop()
		c.done(duplex.Reply{Err: failure(), Sent: true})
	}
}
