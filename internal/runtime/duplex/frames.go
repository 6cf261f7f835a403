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
	if err := wire.Unmarshal(params, &frame); err != nil {
		frame.Chunk = "" // malformed; the pair decides what that means
	}
	t.do(func(after *actions) {
		if c := t.owner(frame.DuplexPair, reasonData, after); c != nil {
			data, ok := wire.Decode(frame.Chunk)
			t.piece(c, frame.WorkerSessionID, data, ok, after)
		}
	})
}

// piece takes one piece of output; ok tells whether it is well-formed.
func (t *Table) piece(c *Channel, session string, data []byte, ok bool, after *actions) {
	size := c.kind.size(data)
	switch {
	case !ok || c.state != Open && len(c.held) > c.limits.Frames:
		c.protocolErrors++
		if c.protocolErrors > c.limits.ProtocolErrors {
			t.end(c, after)
		}
	case size > c.limits.Chunk:
		t.end(c, after)
	case c.state == Open:
		t.accept(c, data, after)
	case c.heldBytes+size > c.limits.Held:
		t.end(c, after)
	default:
		c.heldBytes += size
		c.held = append(c.held, heldFrame{session, data})
	}
}

// Exit takes a duplexChannel.exit notification.
func (t *Table) Exit(params json.RawMessage) {
	var frame wire.DuplexExit
	if err := json.Unmarshal(params, &frame); err != nil {
		frame.ExitCode = nil // an exit without a usable code is an exit
	}
	t.do(func(after *actions) {
		if c := t.owner(frame.DuplexPair, reasonExit, after); c != nil {
			c.over(frame.WorkerSessionID, Exit{Code: frame.ExitCode, TransportClosed: frame.TransportClosed})
		}
	})
}

// over takes the end of the program.
func (c *Channel) over(session string, exit Exit) {
	if c.state == Open {
		c.settle(exit)
	} else if c.heldExit == nil {
		c.heldExit = &heldExit{session, exit}
	}
}

// owner finds the live route of a frame. It returns nil for a closed pair,
// whose frames are ignored, and for one that the worker does not own.
func (t *Table) owner(pair wire.DuplexPair, reason string, after *actions) *Channel {
	if t.dead {
		return nil
	}
	if pair.HostRouteID != "" && pair.WorkerSessionID != "" {
		if c := t.routes[pair.HostRouteID]; c != nil && c.kind == duplexRoute && (c.state != Open || c.session == pair.WorkerSessionID) {
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
	size := c.kind.size(data)
	c.total += int64(size)
	allowed, frames := c.limits.Buffered, c.limits.Frames
	if c.listener != nil {
		allowed, frames = c.limits.Backlog, len(c.queue)+1
	}
	if c.total > c.limits.Total || c.queued+size > allowed || len(c.queue) >= frames {
		t.end(c, after)
		return
	}
	c.queue = append(c.queue, data)
	c.queued += size
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
			t.foreign(c, reasonData, after)
			return
		}
		t.accept(c, frame.data, after)
	}
	if exit == nil || c.ended {
		return
	}
	if exit.session != c.session {
		t.foreign(c, reasonExit, after)
		return
	}
	c.settle(exit.exit)
}
