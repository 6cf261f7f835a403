package sdk

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

// Host is the other side, as a plugin sees it. It is safe for use by several
// goroutines, also after the call that it came with has ended.
type Host struct {
	// Stderr takes lines that the host keeps as the worker's error output.
	Stderr io.Writer

	out     *wire.Writer
	timeout time.Duration
	fatal   func(error)

	mu      sync.Mutex
	next    int
	waiting map[string]chan *wire.Message
	stopped bool
	ended   chan struct{} // closed once stopped
}

const defaultCallTimeout = 30 * time.Second

type contextKey int

const (
	keyHost contextKey = iota
	keyInvocation
)

// HostOf returns the host that a hook was called by. It is nil outside a hook.
func HostOf(ctx context.Context) *Host {
	h, _ := ctx.Value(keyHost).(*Host)
	return h
}

// InvocationOf returns the invocation that a hook was called for, "" when the
// call was not made for a company.
func InvocationOf(ctx context.Context) string {
	id, _ := ctx.Value(keyInvocation).(string)
	return id
}

// Texts of errors in calling the host.
const (
	msgShuttingDown = `Worker RPC host is shutting down`                  // RPC-05
	msgNotRunning   = `Cannot call "%s" — worker RPC host is not running` // RPC-06
	msgHostTimeout  = `Worker→host call "%s" timed out after %dms`        // RPC-07
	msgEncode       = `Cannot encode the parameters of "%s": %v`          // ours
	msgHostSend     = `Cannot send "%s" to the host: %v`                  // ours
	msgBadParams    = `Invalid params: %v`                                // ours
)

func badParams(err error) error {
	return fault.New(msgBadParams, err).WithCode(wire.CodeInvalidParams).WithCause(err)
}

// Call asks the host and waits for its answer, which it decodes into result
// unless that is nil.
func (h *Host) Call(ctx context.Context, method string, params, result any) error {
	raw, err := wire.Encode(params)
	if err != nil {
		return fault.New(msgEncode, method, err).WithCause(err)
	}
	answer := make(chan *wire.Message, 1)
	h.mu.Lock()
	if h.stopped {
		h.mu.Unlock()
		return fault.New(msgNotRunning, method)
	}
	h.next++
	id := strconv.Itoa(h.next)
	h.waiting[id] = answer
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.waiting, id)
		h.mu.Unlock()
	}()

	message := &wire.Message{ID: json.RawMessage(id), Method: method, Params: raw, InvocationID: InvocationOf(ctx)}
	if err := h.out.Send(message); err != nil {
		return fault.New(msgHostSend, method, err).WithCause(err)
	}
	timer := time.NewTimer(h.timeout)
	defer timer.Stop()
	select {
	case reply := <-answer:
		if e := reply.Error; e != nil {
			var origin fault.Place
			if e.RaisedAt != nil {
				origin = *e.RaisedAt
			}
			return fault.Received(e.Message, e.Code, e.Data, origin)
		}
		if result == nil {
			return nil
		}
		if err := json.Unmarshal(reply.Result, result); err != nil {
			return fmt.Errorf("result of %q: %w", method, err)
		}
		return nil
	case <-h.ended:
		return shuttingDown()
	case <-timer.C:
		return fault.New(msgHostTimeout, method, h.timeout.Milliseconds()).WithCode(wire.CodeTimeout).WithClass(fault.ClassCall)
	case <-ctx.Done():
		// The context of a hook ends together with the worker.
		select {
		case <-h.ended:
			return shuttingDown()
		default:
			return ctx.Err()
		}
	}
}

func shuttingDown() error {
	return fault.New(msgShuttingDown).WithCode(wire.CodeWorkerUnavailable).WithClass(fault.ClassCall)
}

// answered hands a response to the call that waits for it, if there is one.
func (h *Host) answered(m *wire.Message) {
	h.mu.Lock()
	answer := h.waiting[string(m.ID)]
	delete(h.waiting, string(m.ID))
	h.mu.Unlock()
	if answer != nil {
		answer <- m
	}
}

func (h *Host) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.stopped {
		h.stopped = true
		close(h.ended)
	}
}

// Notify tells the host something. It blocks while the host does not read.
func (h *Host) Notify(ctx context.Context, method string, params any) error {
	raw, err := wire.Encode(params)
	if err != nil {
		return fault.New(msgEncode, method, err).WithCause(err)
	}
	return h.out.Send(&wire.Message{Method: method, Params: raw, InvocationID: InvocationOf(ctx)})
}

// Log writes a line to the host's log. Level is "debug", "info", "warn" or
// "error".
func (h *Host) Log(ctx context.Context, level, message string, meta wire.Object) error {
	return h.Notify(ctx, wire.NotifyLog, wire.LogEntry{Level: level, Message: message, Meta: meta})
}

// ExecuteLog sends live output of the command that ctx was made for. Stream is
// "stdout" or "stderr"; an empty chunk is not sent.
func (h *Host) ExecuteLog(ctx context.Context, stream, chunk string) error {
	if chunk == "" {
		return nil
	}
	return h.Notify(ctx, wire.NotifyExecuteLog, wire.ExecuteLog{Stream: stream, Chunk: chunk})
}

// DuplexData sends output of a channel. An incomplete pair and an empty chunk
// are not sent.
func (h *Host) DuplexData(ctx context.Context, pair wire.DuplexPair, chunk []byte) error {
	if incomplete(pair) || len(chunk) == 0 {
		return nil
	}
	return h.Notify(ctx, wire.NotifyDuplexData, wire.DuplexData{DuplexPair: pair, Chunk: wire.EncodeChunk(chunk)})
}

// DuplexExit reports the end of the program of a channel. An incomplete pair
// is not sent.
func (h *Host) DuplexExit(ctx context.Context, pair wire.DuplexPair, exitCode *int, transportClosed bool) error {
	if incomplete(pair) {
		return nil
	}
	return h.Notify(ctx, wire.NotifyDuplexExit, wire.DuplexExit{DuplexPair: pair, ExitCode: exitCode, TransportClosed: transportClosed})
}

// LoginOutput sends output of a login terminal. An incomplete pair and an empty
// chunk are not sent.
func (h *Host) LoginOutput(ctx context.Context, pair wire.DuplexPair, chunk string) error {
	if incomplete(pair) || chunk == "" {
		return nil
	}
	return h.Notify(ctx, wire.NotifyLoginOutput, wire.LoginOutput{DuplexPair: pair, Chunk: chunk})
}

// LoginExit reports the end of a login terminal. An incomplete pair is not
// sent.
func (h *Host) LoginExit(ctx context.Context, pair wire.DuplexPair, exitCode *int) error {
	if incomplete(pair) {
		return nil
	}
	return h.Notify(ctx, wire.NotifyLoginExit, wire.LoginExit{DuplexPair: pair, ExitCode: exitCode})
}

func incomplete(pair wire.DuplexPair) bool {
	return pair.HostRouteID == "" || pair.WorkerSessionID == ""
}

// Go runs f in a goroutine and turns a panic in it into Fatal.
func (h *Host) Go(f func()) {
	go func() {
		defer func() {
			if v := recover(); v != nil {
				h.fatal(fmt.Errorf("%v", v))
			}
		}()
		f()
	}()
}

// Fatal logs an error that nobody handles and ends the worker with status 1.
func (h *Host) Fatal(err error) { h.fatal(err) }
