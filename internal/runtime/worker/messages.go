package worker

import (
	"encoding/json"
	"unicode/utf8"

	"errorkb/internal/runtime/duplex"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

// line handles one line of the worker's output. It never blocks for long: the
// next line waits.
func (r *run) line(line []byte, skipped int64) {
	<-r.ready
	log := r.handle.opts.Log
	if line == nil {
		log.Warn(logOversized, "plugin", r.handle.id, "bytes", skipped)
		return
	}
	m, err := wire.Parse(line)
	if err != nil {
		log.Warn(logUnparseable, "plugin", r.handle.id, "error", err)
		return
	}
	switch {
	case m.IsResponse():
		r.answered(m)
	case m.IsRequest():
		go r.answer(m)
	case m.IsNotification():
		r.notified(m)
	default:
		log.Warn(logUnparseable, "plugin", r.handle.id, "error", "neither request nor response")
	}
}

// answered hands a reply to the call that waits for it. A late one is ignored.
func (r *run) answered(m *wire.Message) {
	c := r.take(string(m.ID))
	if c == nil {
		r.handle.opts.Log.Debug("reply without a call", "plugin", r.handle.id, "id", string(m.ID))
		return
	}
	if e := m.Error; e != nil {
		var origin fault.Place
		if e.RaisedAt != nil {
			origin = *e.RaisedAt
		}
		c.done(duplex.Reply{Sent: true, Err: fault.Received(e.Message, e.Code, e.Data, origin)})
		return
	}
	c.done(duplex.Reply{Sent: true, Result: m.Result})
}

// answer serves a request of the worker.
func (r *run) answer(m *wire.Message) {
	reply := &wire.Message{ID: m.ID}
	result, err := r.serve(m)
	if err == nil {
		reply.Result, err = wire.Encode(result)
	}
	if err != nil {
		reply.Error = &wire.Error{Code: wire.CodeInternal, Message: err.Error()}
		if e := fault.As(err); e != nil && e.Code != 0 {
			reply.Error.Code, reply.Error.Data = e.Code, e.Data
		}
		if place := fault.Raised(err); r.handle.opts.TellPlace && !place.IsZero() {
			reply.Error.RaisedAt = &place
		}
	}
	r.send(reply, func(err error) {
		if err != nil {
			r.handle.opts.Log.Warn(logNotWritten, "plugin", r.handle.id, "method", m.Method, "error", err)
		}
	})
}

func (r *run) serve(m *wire.Message) (any, error) {
	handler := r.handle.opts.Handlers[m.Method]
	if handler == nil {
		return nil, fault.New(msgNoHandler, m.Method).WithCode(wire.CodeMethodNotFound)
	}
	return handler(r.ctx, m.Params)
}

func (r *run) notified(m *wire.Message) {
	switch m.Method {
	case wire.NotifyDuplexData:
		r.routes.Data(m.Params)
	case wire.NotifyDuplexExit:
		r.routes.Exit(m.Params)
	case wire.NotifyLoginOutput:
		r.routes.LoginOutput(m.Params)
	case wire.NotifyLoginExit:
		r.routes.LoginExit(m.Params)
	case wire.NotifyExecuteLog:
		r.executeLog(m)
	case wire.NotifyLog:
		var entry wire.LogEntry
		if json.Unmarshal(m.Params, &entry) == nil {
			r.handle.opts.Log.Info("worker log", "plugin", r.handle.id, "level", entry.Level, "message", entry.Message)
		}
	}
}

// liveOutput decides whose live output may be passed on.
type liveOutput struct{}

// began notes a new call. When two companies execute at once on one worker, the
// live output of all running calls stays off: nobody can tell whose it is.
func (liveOutput) began(pending map[string]*pendingCall, c *pendingCall) {
	if c.method != wire.MethodExecute {
		return
	}
	mixed := false
	for _, other := range pending {
		if other.method == wire.MethodExecute && other.company != c.company {
			mixed = true
		}
	}
	if !mixed {
		return
	}
	for _, other := range pending {
		if other.method == wire.MethodExecute {
			other.muted = true
		}
	}
}

// executeLog passes a piece of live output to the call that it names.
func (r *run) executeLog(m *wire.Message) {
	var piece wire.ExecuteLog
	malformed := json.Unmarshal(m.Params, &piece) != nil || piece.Stream != "stdout" && piece.Stream != "stderr"
	length := int64(utf8.RuneCountInString(piece.Chunk))
	l := r.handle.opts.Limits
	if malformed || length == 0 || length > int64(l.LiveChunk) || m.InvocationID == "" {
		r.handle.opts.Log.Debug("live output dropped", "plugin", r.handle.id)
		return
	}
	var deliver func(stream, chunk string)
	r.mu.Lock()
	for _, c := range r.pending {
		if c.method == wire.MethodExecute && c.invocation == m.InvocationID && !c.muted && c.logged+length <= l.LiveOutput {
			c.logged += length
			deliver = c.onLog
		}
	}
	r.mu.Unlock()
	if deliver == nil {
		r.handle.opts.Log.Debug("live output dropped", "plugin", r.handle.id)
		return
	}
	deliver(piece.Stream, piece.Chunk)
}
