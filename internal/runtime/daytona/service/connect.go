package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/coder/websocket"
)

const (
	// maxInput is the largest message that a terminal takes.
	maxInput = 64 << 10
	// largeInput is the size from which KindDropInput drops the connection.
	largeInput = 4 << 10
	// smallBuffer is the receive buffer of a connection that will be dropped:
	// the client shall wait in the middle of its input.
	smallBuffer = 4 << 10
	// oversized is the size of the message that KindOversized sends.
	oversized = 2 << 20
)

type control struct {
	Type   string  `json:"type"`
	Status string  `json:"status"`
	Error  *string `json:"error,omitempty"`
}

// connectTerminal connects a client with a terminal until one of them ends.
func (s *Service) connectTerminal(b *sandbox, w http.ResponseWriter, r *http.Request) answer {
	t := b.terminal(r)
	if t == nil {
		return noTerminal(r)
	}
	t.mu.Lock()
	busy := t.attached
	t.attached, t.slow = true, false
	t.mu.Unlock()
	if busy {
		return refuse(http.StatusConflict, "PTY session %s has a client already", t.id)
	}
	defer func() {
		t.mu.Lock()
		t.attached, t.drop = false, nil
		t.mu.Unlock()
		if b.terminal(r) != t {
			t.halt() // it is forgotten: nobody will connect again
		}
	}()
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return answer{http.StatusBadRequest, answered} // Accept has answered
	}
	defer conn.CloseNow()
	done := answer{http.StatusSwitchingProtocols, answered}
	conn.SetReadLimit(maxInput)
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context())) // which ends with the handshake
	defer cancel()
	go func() {
		select {
		case <-s.closing:
			cancel()
		case <-ctx.Done():
		}
	}()

	fault := faultOf(r)
	tell := func(message any) { sendJSON(ctx, conn, message) }
	switch fault.Kind {
	case KindSilent:
		_, _, _ = conn.Read(ctx) // until the client gives up
		return done
	case KindRefuse:
		tell(control{"control", "error", &fault.Message})
		_ = conn.Close(websocket.StatusInternalError, "")
		return done
	case KindShut:
		_ = conn.Close(websocket.StatusGoingAway, "")
		return done
	case KindShutConnected:
		b.barrier.Lock()
		defer b.barrier.Unlock()
		tell(control{Type: "control", Status: "connected"})
		_ = conn.Close(websocket.StatusGoingAway, "") // returns when the client has answered
		return done
	case KindDropInput:
		shrink(r, smallBuffer)
	}
	t.mu.Lock()
	t.drop = func() { reset(r) }
	t.mu.Unlock()
	tell(control{Type: "control", Status: "connected"})
	switch fault.Kind {
	case KindForeign:
		tell(map[string]string{"type": "weather", "status": "fine"})
		tell(control{Type: "control", Status: "unheard-of"})
		_ = conn.Write(ctx, websocket.MessageText, []byte("{not JSON\n"))
		_ = conn.Write(ctx, websocket.MessageBinary, nil)
	case KindOversized:
		_ = conn.Write(ctx, websocket.MessageBinary, make([]byte, oversized))
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer cancel()
		t.input(ctx, conn, r, fault.Kind == KindDropInput)
	}()
	t.output(ctx, conn)
	cancel()
	conn.CloseNow()
	<-read
	return done
}

func sendJSON(ctx context.Context, conn *websocket.Conn, message any) {
	data, _ := json.Marshal(message) // plain types of this file only
	_ = conn.Write(ctx, websocket.MessageText, data)
}

// input writes what the client sends to the terminal until one of them ends.
func (t *terminal) input(ctx context.Context, conn *websocket.Conn, r *http.Request, drop bool) {
	for {
		_, message, err := conn.Reader(ctx)
		if err != nil {
			return
		}
		data, err := readMessage(message, drop)
		if drop && len(data) > largeInput {
			reset(r)
			return
		}
		if err != nil {
			return
		}
		if _, err := t.master.Write(data); err != nil {
			_ = conn.Close(websocket.StatusInternalError, "PTY session unavailable")
			return
		}
	}
}

// readMessage reads one message; of one that will be dropped, only as much as
// tells that it is large.
func readMessage(r io.Reader, drop bool) ([]byte, error) {
	if drop {
		r = io.LimitReader(r, largeInput+1)
	}
	return io.ReadAll(r)
}

// output sends what the terminal writes, and the close when it has ended.
func (t *terminal) output(ctx context.Context, conn *websocket.Conn) {
	for {
		select {
		case data, more := <-t.out:
			if !more {
				<-t.shell.done
				t.sandbox.forget(t)
				code, reason := exitReason(t.shell.code)
				_ = conn.Close(code, reason)
				return
			}
			write, cancel := context.WithTimeout(ctx, 2*t.sandbox.service.options.SlowAfter)
			err := conn.Write(write, websocket.MessageBinary, data)
			late := errors.Is(write.Err(), context.DeadlineExceeded)
			cancel()
			t.mu.Lock()
			t.slow = t.slow || late
			slow := t.slow
			t.mu.Unlock()
			if err == nil && slow {
				_ = conn.Close(websocket.StatusPolicyViolation, "slow consumer")
			}
			if err != nil || slow {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// exitReason says how a program ended, as the reason of a close.
func exitReason(code int) (websocket.StatusCode, string) {
	status, text := websocket.StatusInternalError, ""
	switch {
	case code == 0:
		status = websocket.StatusNormalClosure
	case code == 130:
		text = "Ctrl+C"
	case code == 137:
		text = "SIGKILL"
	case code == 143:
		text = "SIGTERM"
	case code > 128:
		text = fmt.Sprintf("signal %d", code-128)
	default:
		text = "non-zero exit"
	}
	reason, _ := json.Marshal(struct {
		ExitCode   int    `json:"exitCode"`
		ExitReason string `json:"exitReason,omitempty"`
	}{code, text})
	return status, strings.TrimSpace(string(reason))
}

// shrink makes the receive buffer of a connection small.
func shrink(r *http.Request, size int) {
	if tcp, isTCP := r.Context().Value(connKey{}).(interface{ SetReadBuffer(int) error }); isTCP {
		_ = tcp.SetReadBuffer(size)
	}
}
