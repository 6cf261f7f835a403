package duplex

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"unicode/utf8"

	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

// kind tells the two uses of a route apart: duplex channels carry bytes, login
// terminals text.
type kind uint8

const (
	duplexRoute kind = iota
	loginRoute
)

// methods are what differs on the wire and in the log.
type methods struct {
	write, stop, close string
	notAcknowledged    string
}

func (k kind) methods() methods {
	if k == loginRoute {
		return methods{wire.MethodLoginInput, wire.MethodLoginStop, wire.MethodLoginClose, logLoginNotAcknowledged}
	}
	return methods{wire.MethodDuplexWrite, wire.MethodDuplexStop, wire.MethodDuplexClose, logNotAcknowledged}
}

// size is what a piece of output counts: bytes, or characters of text.
func (k kind) size(data []byte) int {
	if k == loginRoute {
		return utf8.RuneCount(data)
	}
	return len(data)
}

const logLoginNotAcknowledged = `login pseudo-terminal close not acknowledged; retiring worker`

// Texts of errors in opening a login terminal.
const (
	msgLoginCommand = `LOGIN_PTY_COMMAND_NOT_ALLOWED` // WMG-18
	msgLoginFailed  = `LOGIN_PTY_OPEN_FAILED`         // WMG-19
	msgLoginBusy    = `LOGIN_PTY_ROUTES_AT_CAPACITY`  // WMG-20
	msgLoginHome    = `LOGIN_SESSION_HOME_INVALID`    // WMG-22
)

// LoginCommands are the keys of commands that may run in a login terminal.
var LoginCommands = []string{"claude", "codex", "grok"}

var loginHome = regexp.MustCompile(`^/tmp/paperclip-adapter-login/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// OpenLogin opens a login terminal, which is used like a channel.
func (t *Table) OpenLogin(ctx context.Context, p wire.LoginOpenParams) (*Channel, error) {
	if !slices.Contains(LoginCommands, p.LoginCommandKey) {
		return nil, fault.New(msgLoginCommand)
	}
	if !loginHome.MatchString(p.SessionHome) {
		return nil, fault.New(msgLoginHome)
	}
	id, ok := t.Slots.takeLogin()
	if !ok {
		return nil, fault.New(msgLoginBusy)
	}
	p.HostRouteID = id
	return t.begin(ctx, id, loginRoute, Request{Method: wire.MethodLoginOpen, Params: p, CompanyID: p.CompanyID, Timeout: t.LoginLimits.Open})
}

// openFailed is the error for a reply to open that cannot be used.
func (c *Channel) openFailed() error {
	if c.kind == loginRoute {
		return fault.New(msgLoginFailed)
	}
	return fault.New(msgOpenFailed)
}

// input is the request that sends input.
func (c *Channel) input(data []byte) Request {
	r := Request{Method: c.kind.methods().write, Timeout: c.limits.Open}
	if c.kind == loginRoute {
		r.Params = wire.LoginInputParams{WorkerSessionID: c.session, Data: string(data)}
	} else {
		r.Params = wire.DuplexWriteParams{DuplexPair: c.pair(), Data: wire.EncodeChunk(data)}
	}
	return r
}

// stopping is the request that ends the program.
func (c *Channel) stopping() Request {
	r := Request{Method: c.kind.methods().stop, Timeout: c.limits.Open}
	if c.kind == loginRoute {
		r.Params = wire.LoginStopParams{WorkerSessionID: c.session}
	} else {
		r.Params = wire.DuplexStopParams{DuplexPair: c.pair()}
	}
	return r
}

func (c *Channel) pair() wire.DuplexPair {
	return wire.DuplexPair{HostRouteID: c.id, WorkerSessionID: c.session}
}

// LoginOutput takes a loginPty.output notification.
func (t *Table) LoginOutput(params json.RawMessage) {
	var frame wire.LoginOutput
	if json.Unmarshal(params, &frame) != nil {
		return
	}
	t.do(func(after *actions) {
		if c := t.loginOwner(frame.DuplexPair); c != nil {
			t.piece(c, frame.WorkerSessionID, []byte(frame.Chunk), frame.Chunk != "", after)
		}
	})
}

// LoginExit takes a loginPty.exit notification.
func (t *Table) LoginExit(params json.RawMessage) {
	var frame wire.LoginExit
	if json.Unmarshal(params, &frame) != nil {
		return
	}
	t.do(func(*actions) {
		if c := t.loginOwner(frame.DuplexPair); c != nil {
			c.over(frame.WorkerSessionID, Exit{Code: frame.ExitCode})
		}
	})
}

// loginOwner finds the live login terminal of a frame. Frames for others are
// dropped.
func (t *Table) loginOwner(pair wire.DuplexPair) *Channel {
	c := t.routes[pair.HostRouteID]
	if c == nil || c.kind != loginRoute || pair.WorkerSessionID == "" || c.state == Open && c.session != pair.WorkerSessionID {
		return nil
	}
	return c
}

// foreign handles output that was held for a route and turns out to belong to
// another session.
func (t *Table) foreign(c *Channel, reason string, after *actions) {
	if c.kind == duplexRoute {
		t.violation(reason, after)
	}
}
