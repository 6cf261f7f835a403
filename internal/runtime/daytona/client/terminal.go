package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"errorkb/internal/runtime/fault"
)

// TerminalOptions describe a new terminal.
type TerminalOptions struct {
	ID   string
	Cwd  string
	Env  map[string]string
	Cols int
	Rows int
	// OnData gets the output, piece by piece in one goroutine. While it does
	// not return, the terminal has to wait. It must not keep the slice.
	OnData func(data []byte)
}

// Exit is how a terminal ended. Code is nil when the connection ended without
// telling.
type Exit struct{ Code *int }

// Terminal is a terminal in a sandbox and the connection to it. It is safe for
// use by several goroutines.
type Terminal struct {
	sandbox *Sandbox
	id      string
	onData  func([]byte)
	ctx     context.Context // of the connection
	cancel  context.CancelFunc

	connected chan struct{} // closed when the service said so
	done      chan struct{} // closed when the connection is over

	mu      sync.Mutex
	conn    *websocket.Conn // nil until the handshake is over
	failure error           // why the connection was not made
	exit    Exit
	exitErr error
}

// Texts of errors of terminals.
const (
	msgConnectTimeout = `PTY connection timeout`              // API-01
	msgConnectFailed  = `Connection failed`                   // API-02
	msgConnectRefused = `%s`                                  // API-02 with the service's text
	msgNotConnected   = `PTY is not connected`                // API-03
	msgSend           = `Failed to send input to PTY: %s`     // API-04
	msgUnknown        = `Unknown connection error`            // API-05
	msgSocket         = `WebSocket connection error`          // API-06
	msgExit           = `PTY session ended with an error: %s` // ours
)

// maxTerminalMessage bounds one message of a terminal. The service sends far
// smaller ones; a larger one ends the connection.
const maxTerminalMessage = 1 << 20

// OpenTerminal creates a terminal and begins to connect to it. WaitConnected
// tells when input can be sent. Every terminal has to be given up with
// Disconnect; ctx bounds the creation only.
func (s *Sandbox) OpenTerminal(ctx context.Context, o TerminalOptions) (*Terminal, error) {
	body := struct {
		ID   string            `json:"id"`
		Cwd  string            `json:"cwd,omitempty"`
		Envs map[string]string `json:"envs,omitempty"`
		Cols int               `json:"cols,omitempty"`
		Rows int               `json:"rows,omitempty"`
	}{o.ID, o.Cwd, o.Env, o.Cols, o.Rows}
	var out struct {
		SessionID string `json:"sessionId"`
	}
	if err := s.post(ctx, "/process/pty", body, &out); err != nil {
		return nil, err
	}
	t := &Terminal{sandbox: s, id: firstOf(out.SessionID, o.ID), onData: o.OnData, connected: make(chan struct{}), done: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go t.run()
	return t, nil
}

// ID returns the id of the terminal.
func (t *Terminal) ID() string { return t.id }

// Done is closed once the connection is over.
func (t *Terminal) Done() <-chan struct{} { return t.done }

// run connects and reads until the connection is over.
func (t *Terminal) run() {
	defer close(t.done)
	defer t.cancel()
	address := t.sandbox.toolbox("/process/pty/" + url.PathEscape(t.id) + "/connect")
	header := http.Header{}
	t.sandbox.client.authorize(header)
	conn, _, err := websocket.Dial(t.ctx, "ws"+strings.TrimPrefix(address, "http"), &websocket.DialOptions{HTTPClient: t.sandbox.client.terminals, HTTPHeader: header})
	if err != nil {
		t.fail(fault.New(msgSocket).WithClass(ClassConnection).WithCause(err))
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxTerminalMessage)
	t.mu.Lock()
	t.conn = conn
	t.mu.Unlock()
	for {
		kind, data, err := conn.Read(t.ctx)
		if err != nil {
			t.ended(err)
			return
		}
		if kind == websocket.MessageText && t.control(data) {
			continue
		}
		if len(data) > 0 && t.onData != nil {
			t.onData(data)
		}
	}
}

// control handles a message of the service about the connection. Any other
// text is output.
func (t *Terminal) control(data []byte) bool {
	var message struct {
		Type   string  `json:"type"`
		Status string  `json:"status"`
		Error  *string `json:"error"`
	}
	if json.Unmarshal(data, &message) != nil || message.Type != "control" {
		return false
	}
	switch message.Status {
	case "connected":
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.failure == nil && !isClosed(t.connected) {
			close(t.connected)
		}
	case "error":
		if message.Error == nil || *message.Error == "" {
			t.fail(fault.New(msgUnknown).WithClass(ClassConnection))
		} else {
			t.fail(fault.New(msgConnectRefused, *message.Error).WithClass(ClassConnection))
		}
	}
	return true
}

// fail notes why the connection was not made, the first reason only.
func (t *Terminal) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failure == nil && !isClosed(t.connected) {
		t.failure = err
	}
}

// ended notes how the terminal ended, from the error that ended the reading.
func (t *Terminal) ended(err error) {
	t.fail(fault.New(msgConnectFailed).WithClass(ClassConnection).WithCause(err))
	exit, exitErr := readClose(err)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.exit, t.exitErr = exit, exitErr
}

// readClose reads the exit out of the close of a socket.
func readClose(err error) (Exit, error) {
	var closed websocket.CloseError
	if !errors.As(err, &closed) {
		return Exit{}, nil
	}
	var reason struct {
		ExitCode *int    `json:"exitCode"`
		Error    *string `json:"error"`
	}
	if json.Unmarshal([]byte(closed.Reason), &reason) != nil {
		reason.ExitCode, reason.Error = nil, nil // not a reason that we understand
	}
	switch {
	case reason.ExitCode != nil:
		return Exit{reason.ExitCode}, nil
	case reason.Error != nil && *reason.Error != "":
		return Exit{}, fault.New(msgExit, *reason.Error).WithClass(ClassConnection).WithCause(err)
	case closed.Code == websocket.StatusNormalClosure:
		return Exit{new(int)}, nil
	}
	return Exit{}, nil
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// WaitConnected waits until the service says that the terminal is connected.
func (t *Terminal) WaitConnected(ctx context.Context) error {
	timer := time.NewTimer(t.sandbox.client.options.ConnectTimeout)
	defer timer.Stop()
	select {
	case <-t.connected:
		return nil
	case <-t.done:
	case <-timer.C:
		return fault.New(msgConnectTimeout).WithClass(ClassTimeout)
	case <-ctx.Done():
		return ctx.Err()
	}
	if isClosed(t.connected) {
		return nil // it was, and has ended since
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failure
}

// Send writes input as one message. The service ends a connection that sends
// more than 64 KiB at once.
func (t *Terminal) Send(ctx context.Context, data []byte) error {
	t.mu.Lock()
	conn := t.conn
	t.mu.Unlock()
	if conn == nil || !isClosed(t.connected) || isClosed(t.done) {
		return fault.New(msgNotConnected).WithClass(ClassConnection)
	}
	if err := conn.Write(ctx, websocket.MessageBinary, data); err != nil {
		return fault.New(msgSend, short(err)).WithClass(ClassConnection).WithCause(err)
	}
	return nil
}

// Wait waits until the terminal has ended or the connection is lost. All
// output was handed on by then.
func (t *Terminal) Wait(ctx context.Context) (Exit, error) {
	select {
	case <-t.done:
	case <-ctx.Done():
		return Exit{}, ctx.Err()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.exit, t.exitErr
}

// Kill ends the program of the terminal.
func (t *Terminal) Kill(ctx context.Context) error {
	return t.sandbox.client.call(ctx, request{method: http.MethodDelete, url: t.sandbox.toolbox("/process/pty/" + url.PathEscape(t.id))}, nil)
}

// Resize changes the size of the terminal.
func (t *Terminal) Resize(ctx context.Context, cols, rows int) error {
	return t.sandbox.post(ctx, "/process/pty/"+url.PathEscape(t.id)+"/resize", map[string]int{"cols": cols, "rows": rows}, nil)
}

// Disconnect gives the connection up at once, without waiting for what still
// arrives. The program goes on.
func (t *Terminal) Disconnect() { t.cancel() }
