package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"

	"errorkb/internal/runtime/clock"
	"errorkb/internal/runtime/duplex"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

// Status is the state of a worker.
type Status string

// States of a worker.
const (
	Stopped  Status = "stopped"
	Starting Status = "starting"
	Running  Status = "running"
	Stopping Status = "stopping"
	Crashed  Status = "crashed"
	Backoff  Status = "backoff"
)

// Texts of errors in the life of a worker.
const (
	msgSpawn            = `Worker process failed to start: %s`           // WMG-02
	msgExited           = `Worker process exited (code=%s, signal=%s)%s` // WMG-03
	msgAlready          = `Worker for plugin "%s" is already %s`         // WMG-04
	msgInitializeNotOK  = `Worker initialize returned ok=false`          // WMG-05
	msgInitializeFailed = `Worker initialize failed for "%s": %s`        // WMG-06
)

const stderrHeading = "\n\nWorker stderr:\n"

// Lines in the log.
const (
	logCrashed       = `worker process crashed`
	logMaxCrashes    = `max consecutive crashes reached, not restarting`
	logRestartFailed = `restart after backoff failed`
	logEscalating    = `shutdown RPC failed or timed out, escalating to SIGTERM`
	logUnparseable   = `unparseable message from worker`
	logOversized     = `dropping oversized worker line before JSON parse`
	logNotWritten    = `message to worker was not written`
)

// ending says why a process is about to exit; "" means that it is not.
type ending string

const (
	endStop   ending = "stop"
	endRetire ending = "retire"
	endFailed ending = "failed start"
	endCrash  ending = "crash"
)

// Handle is one worker. It is safe for use by several goroutines.
type Handle struct {
	id   string
	opts Options

	mu      sync.Mutex
	status  Status
	changed chan struct{} // closed and replaced whenever status changes
	history []Status
	boots   int      // starts so far
	run     *run     // the current process, nil when there is none
	methods []string // of the last successful start
	crashes int      // without a successful start in between
	crashed time.Time
	restart clock.Timer // pending restart, nil when there is none
}

// NewHandle returns a worker that is not started yet.
func NewHandle(id string, opts Options) *Handle {
	return &Handle{id: id, opts: opts.complete(), status: Stopped, changed: make(chan struct{})}
}

// ID returns the id of the plugin.
func (h *Handle) ID() string { return h.id }

// Status returns the state of the worker.
func (h *Handle) Status() Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.status
}

// SupportedMethods returns what the worker advertised at its last successful
// start, whatever has become of it since.
func (h *Handle) SupportedMethods() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.methods
}

// Pid returns the number of the worker's process, 0 when it has none.
func (h *Handle) Pid() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run == nil {
		return 0
	}
	return h.run.process.cmd.Process.Pid
}

// Channels returns how many duplex channels the worker has.
func (h *Handle) Channels() int {
	if r := h.current(); r != nil {
		return r.routes.Len()
	}
	return 0
}

// historyLength bounds History.
const historyLength = 100

// History returns the last states, the current one at the end.
func (h *Handle) History() []Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Status(nil), h.history...)
}

// WaitStatus waits until the worker is in the given state.
func (h *Handle) WaitStatus(ctx context.Context, status Status) error {
	for {
		h.mu.Lock()
		now, changed := h.status, h.changed
		h.mu.Unlock()
		if now == status {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("worker %q is %s, not %s: %w", h.id, now, status, ctx.Err())
		}
	}
}

func (h *Handle) setStatus(s Status) {
	h.status = s
	if s == Starting {
		h.boots++
	}
	if len(h.history) == historyLength {
		h.history = h.history[1:]
	}
	h.history = append(h.history, s)
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *Handle) current() *run {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.run
}

// Start starts the worker and waits until it is initialised.
func (h *Handle) Start(ctx context.Context) error {
	for {
		h.mu.Lock()
		if h.status == Running || h.status == Starting {
			status := h.status
			h.mu.Unlock()
			return fault.New(msgAlready, h.id, status)
		}
		leaving := h.run
		if leaving == nil {
			h.cancelRestart()
			return h.boot(ctx)
		}
		h.mu.Unlock()
		select {
		case <-leaving.process.finished:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (h *Handle) cancelRestart() {
	if h.restart != nil {
		h.restart.Stop()
		h.restart = nil
	}
}

// boot starts a process. The caller holds the lock and gives it to boot, so that
// a worker that is starting always has a process.
func (h *Handle) boot(ctx context.Context) error {
	h.setStatus(Starting)
	boot := h.boots
	r, err := h.spawn()
	if err != nil {
		h.setStatus(Crashed)
	}
	h.mu.Unlock()
	if err == nil {
		var methods []string
		methods, err = h.initialize(ctx, r)
		if err == nil {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.run == r && h.status == Starting {
				h.methods = methods
				h.crashes = 0
				h.setStatus(Running)
			}
			return nil
		}
		h.mu.Lock()
		r.leave(endFailed)
		h.mu.Unlock()
		r.process.kill(syscall.SIGKILL)
		<-r.process.finished
	}
	text := err.Error()
	if r != nil && !strings.Contains(text, stderrHeading) {
		text += r.excerpt()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.boots == boot && h.status == Backoff {
		// It died by itself. That has scheduled a restart, which stays.
		h.setStatus(Crashed)
	}
	return fault.New(msgInitializeFailed, h.id, text).WithCause(err)
}

// spawn makes the process of a handle, whose lock is held.
func (h *Handle) spawn() (*run, error) {
	r := newRun(h)
	p, err := spawn(h.id, h.opts.Command, h.opts.Limits, h.opts.Stderr, r.line, func() { h.exited(r) })
	if err != nil {
		text := systemText("spawn "+h.opts.Command.Path, err)
		return nil, fault.New(msgSpawn, text).WithCode(wire.CodeWorkerUnavailable).WithClass(fault.ClassCall).WithCause(err)
	}
	r.process = p
	close(r.ready)
	h.run = r
	return r, nil
}

func (h *Handle) initialize(ctx context.Context, r *run) ([]string, error) {
	params := wire.InitializeParams{
		Manifest: h.opts.Manifest, Config: h.opts.Config, APIVersion: 1,
		InstanceInfo: wire.Instance{InstanceID: "local", HostVersion: "1.0.0"},
	}
	raw, err := r.call(ctx, Request{Method: wire.MethodInitialize, Params: params, Timeout: h.opts.Limits.Initialize})
	if err != nil {
		return nil, err
	}
	var result wire.InitializeResult
	if json.Unmarshal(raw, &result) != nil || !result.OK {
		return nil, fault.New(msgInitializeNotOK)
	}
	return result.SupportedMethods, nil
}

// exited follows the end of a process, once all of its output was handled.
func (h *Handle) exited(r *run) {
	<-r.ready
	h.mu.Lock()
	r.leave(endCrash) // unless somebody wanted it to exit
	h.mu.Unlock()
	code, signal := "null", "null"
	if r.process.code != nil {
		code = fmt.Sprint(*r.process.code)
	}
	if r.process.signal != "" {
		signal = r.process.signal
	}
	r.fail(func() error {
		return fault.New(msgExited, code, signal, r.excerpt()).WithCode(wire.CodeWorkerUnavailable).WithClass(fault.ClassCall)
	})
	r.routes.WorkerExited()

	h.mu.Lock()
	defer h.mu.Unlock()
	h.run = nil
	switch {
	case r.ending == endStop, r.ending == endRetire, h.status == Stopping:
		// Stop may have come after the crash and before this.
		h.setStatus(Stopped)
	case r.ending == endFailed:
		h.setStatus(Crashed)
	default:
		h.opts.Log.Warn(logCrashed, "plugin", h.id, "code", code, "signal", signal)
		h.setStatus(Crashed)
		h.scheduleRestart()
	}
}

// scheduleRestart counts a crash and plans what follows.
func (h *Handle) scheduleRestart() {
	now, l := h.opts.Clock.Now(), h.opts.Limits
	if now.Sub(h.crashed) > l.CrashesReset {
		h.crashes = 0
	}
	h.crashes++
	h.crashed = now
	if h.opts.NoRestart {
		return
	}
	if h.crashes > l.Crashes {
		h.opts.Log.Error(logMaxCrashes, "plugin", h.id, "crashes", h.crashes)
		return
	}
	h.setStatus(Backoff)
	var timer clock.Timer
	timer = h.opts.Clock.AfterFunc(l.backoff(h.crashes, h.opts.Jitter()), func() {
		h.mu.Lock()
		if h.restart == nil || h.restart != timer {
			h.mu.Unlock()
			return
		}
		h.restart = nil
		if err := h.boot(context.Background()); err != nil {
			h.opts.Log.Error(logRestartFailed, "plugin", h.id, "error", err)
		}
	})
	h.restart = timer
}

// Stop ends the worker: it is asked first, then signalled, then killed. A
// pending restart is cancelled.
func (h *Handle) Stop() {
	h.mu.Lock()
	h.cancelRestart()
	r := h.run
	if r == nil {
		if h.status != Stopped {
			h.setStatus(Stopped)
		}
		h.mu.Unlock()
		return
	}
	r.leave(endStop)
	h.setStatus(Stopping)
	h.mu.Unlock()

	l := h.opts.Limits
	shutdown := make(chan struct{})
	r.start(Request{Method: wire.MethodShutdown, Params: wire.Object{}, Timeout: l.Shutdown}, func(reply duplex.Reply) {
		if reply.Err != nil {
			h.opts.Log.Warn(logEscalating, "plugin", h.id, "error", reply.Err)
		}
		close(shutdown)
	})
	select {
	case <-shutdown:
	case <-r.process.finished:
	}
	if h.gone(r, l.Leave) {
		return
	}
	r.process.kill(syscall.SIGTERM)
	if h.gone(r, l.Terminate) {
		return
	}
	r.process.kill(syscall.SIGKILL)
	h.gone(r, l.Kill)
}

// Kill ends the process of the worker from outside, as an operator or the
// system would. For the worker that is a crash. It returns at once.
func (h *Handle) Kill() {
	if r := h.current(); r != nil {
		r.process.kill(syscall.SIGKILL)
	}
}

// gone waits for the end of a process, but not longer than d.
func (h *Handle) gone(r *run, d time.Duration) bool {
	over := make(chan struct{})
	timer := h.opts.Clock.AfterFunc(d, func() { close(over) })
	defer timer.Stop()
	select {
	case <-r.process.finished:
		return true
	case <-over:
		return false
	}
}
