package duplex

import (
	"encoding/json"
	"fmt"

	"errorkb/internal/runtime/wire"
)

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// heldFrame is output that came before the reply that binds its route.
type heldFrame struct {
	session string
	data    []byte
}

type heldExit struct {
	session string
	exit    Exit
}

// Data takes a duplexChannel.data notification.
func (t *Table) Data(params json.RawMessage) {
	var frame wire.DuplexData
	if err := json.Unmarshal(params, &frame); err != nil {
		frame.Chunk = "" // malformed; the pair decides what that means
	}
	t.do(func(after *actions) {
		c := t.owner(frame.DuplexPair, reasonData, after)
		if c == nil {
			return
		}
		data, ok := wire.Decode(frame.Chunk)
		switch {
		case !ok || c.state != Open && len(c.held) > t.Limits.Frames:
			c.protocolErrors++
			if c.protocolErrors > t.Limits.ProtocolErrors {
				t.end(c, after)
			}
		case len(data) > t.Limits.Chunk:
			t.end(c, after)
		case c.state == Open:
			t.accept(c, data, after)
		case c.heldBytes+len(data) > t.Limits.Held:
			t.end(c, after)
		default:
			c.heldBytes += len(data)
			c.held = append(c.held, heldFrame{frame.WorkerSessionID, data})
		}
	})
}

// Exit takes a duplexChannel.exit notification.
func (t *Table) Exit(params json.RawMessage) {
	var frame wire.DuplexExit
	if err := json.Unmarshal(params, &frame); err != nil {
		frame.ExitCode = nil // an exit without a usable code is an exit
	}
	t.do(func(after *actions) {
		c := t.owner(frame.DuplexPair, reasonExit, after)
		if c == nil {
			return
		}
		exit := Exit{Code: frame.ExitCode, TransportClosed: frame.TransportClosed}
		if c.state == Open {
			c.settle(exit)
		} else if c.heldExit == nil {
			c.heldExit = &heldExit{frame.WorkerSessionID, exit}
		}
	})
}

// owner finds the live route of a frame. It returns nil for a closed pair,
// whose frames are ignored, and for one that the worker does not own.
func (t *Table) owner(pair wire.DuplexPair, reason string, after *actions) *Channel {
	if t.dead {
		return nil
	}
	if pair.HostRouteID != "" && pair.WorkerSessionID != "" {
		if c := t.routes[pair.HostRouteID]; c != nil && (c.state != Open || c.session == pair.WorkerSessionID) {
			return c
		}
		// A route that ended before it was bound never had a pair: the worker
		// may have sent for it until it read the close.
		if t.closed[pair] || t.closed[wire.DuplexPair{HostRouteID: pair.HostRouteID}] {
			return nil
		}
	}
	t.violation(reason, after)
	return nil
}

// accept passes output of a bound route on to its listener.
func (t *Table) accept(c *Channel, data []byte, after *actions) {
	c.total += int64(len(data))
	allowed, frames := t.Limits.Buffered, t.Limits.Frames
	if c.listener != nil {
		allowed, frames = t.Limits.Backlog, len(c.queue)+1
	}
	if c.total > t.Limits.Total || c.queued+len(data) > allowed || len(c.queue) >= frames {
		t.end(c, after)
		return
	}
	c.queue = append(c.queue, data)
	c.queued += len(data)
	c.kick()
}

// replay handles what was held back, data before the exit.
func (t *Table) replay(c *Channel, after *actions) {
	held, exit := c.held, c.heldExit
	c.held, c.heldExit, c.heldBytes = nil, nil, 0
	for _, frame := range held {
		if c.ended {
			return
		}
		if frame.session != c.session {
			t.violation(reasonData, after)
			return
		}
		t.accept(c, frame.data, after)
	}
	if exit == nil || c.ended {
		return
	}
	if exit.session != c.session {
		t.violation(reasonExit, after)
		return
	}
	c.settle(exit.exit)
}
