package sdk

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

// Texts of errors in serving the host.
const (
	msgInitialized    = `Worker already initialized`           // RPC-01
	msgUnknownMethod  = `Unknown method: %s`                   // RPC-02
	msgNotImplemented = `%s is not implemented by this plugin` // RPC-03
	msgParse          = `Parse error: %s`                      // RPC-04
	// RPC-09
	msgCrossTenant = `configChanged: refusing to overwrite configuration for company "%s" with a different configuration for company "%s". ` +
		`This plugin is single-tenant and cannot safely serve multiple companies from one worker. ` +
		`If multi-company support is intended, set multiCompanyConfig: true on the plugin definition and key per-company state on context.companyId.`
	msgPanic = `%v` // what plugin code panicked with
)

const (
	defaultGrace      = 5 * time.Second
	defaultFatalDelay = 100 * time.Millisecond
)

// worker is one run of Serve.
type worker struct {
	plugin *Plugin
	host   *Host
	hooks  map[string]hook
	ctx    context.Context // of the hooks
	cancel context.CancelFunc
	status chan int // takes the exit status once
	once   sync.Once
	tell   bool

	running sync.WaitGroup

	mu            sync.Mutex
	initialized   bool
	ending        bool
	lanes         map[string][]func() // writes that wait for the one before them
	configCompany string
	config        []byte // canonical; nil before the first configChanged
}

// Serve speaks the protocol over the streams until the host says shutdown,
// closes in, or ctx ends, and returns the exit status of the process: 0, or 1
// after Fatal.
func Serve(ctx context.Context, in io.Reader, out, stderr io.Writer, plugin Plugin) int {
	hookCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &worker{
		plugin: &plugin,
		hooks:  map[string]hook{},
		cancel: cancel,
		status: make(chan int, 1),
		lanes:  map[string][]func(){},
		tell:   plugin.TellPlace || os.Getenv(TellPlaceVariable) == "1",
	}
	w.host = &Host{
		Stderr: stderr, out: wire.NewWriter(out), timeout: or(plugin.CallTimeout, defaultCallTimeout), fatal: w.fatal,
		waiting: map[string]chan *wire.Message{}, ended: make(chan struct{}),
	}
	w.ctx = context.WithValue(hookCtx, keyHost, w.host)
	for _, h := range plugin.hooks() {
		w.hooks[h.method] = h
	}
	go w.read(in)
	select {
	case status := <-w.status:
		return status
	case <-ctx.Done():
		w.end(nil)
		return <-w.status
	}
}

func or(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// read handles one line after the other until the input ends.
func (w *worker) read(in io.Reader) {
	lines := wire.NewReader(in, wire.MaxLine)
	for {
		line, skipped, err := lines.Next()
		if err != nil {
			w.end(nil)
			return
		}
		if skipped > 0 {
			continue
		}
		m, err := wire.Parse(line)
		switch {
		case err != nil:
			w.reply(json.RawMessage("null"), nil, fault.New(msgParse, err).WithCode(wire.CodeParse).WithCause(err))
		case m.IsRequest():
			w.dispatch(m)
		case m.IsResponse():
			w.host.answered(m)
		}
	}
}

// dispatch starts the hook of a request.
func (w *worker) dispatch(m *wire.Message) {
	w.mu.Lock()
	if w.ending {
		w.mu.Unlock()
		return // the host gets no answer: the process is about to end
	}
	w.running.Add(1)
	w.mu.Unlock()
	handle := func() {
		defer w.running.Done()
		ctx := w.ctx
		if m.Invocation != nil {
			ctx = context.WithValue(ctx, keyInvocation, m.Invocation.ID)
		}
		result, err := w.call(ctx, m)
		w.reply(m.ID, result, err)
	}
	switch m.Method {
	case wire.MethodInitialize:
		handle() // before anything that follows it
	case wire.MethodShutdown:
		w.running.Done()
		go w.end(m.ID)
	default:
		if h := w.hooks[m.Method]; h.run != nil && h.lane != nil {
			w.queue(h.method+" "+h.lane(m.Params), handle)
			return
		}
		go handle()
	}
}

// queue runs f after the functions that were queued in the same lane before.
func (w *worker) queue(lane string, f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting, busy := w.lanes[lane]
	if busy {
		w.lanes[lane] = append(waiting, f)
		return
	}
	w.lanes[lane] = nil
	go func() {
		for {
			f()
			w.mu.Lock()
			waiting := w.lanes[lane]
			if len(waiting) == 0 {
				delete(w.lanes, lane)
				w.mu.Unlock()
				return
			}
			f = waiting[0]
			w.lanes[lane] = waiting[1:]
			w.mu.Unlock()
		}
	}()
}

// call runs a method. What plugin code panics with is its error.
func (w *worker) call(ctx context.Context, m *wire.Message) (result any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fault.New(msgPanic, v)
		}
	}()
	switch m.Method {
	case wire.MethodInitialize:
		return w.initialize(ctx, m.Params)
	case wire.MethodConfigChanged:
		if err := w.admitConfig(m.Params); err != nil {
			return nil, err
		}
	}
	h, known := w.hooks[m.Method]
	if !known {
		return nil, fault.New(msgUnknownMethod, m.Method).WithCode(wire.CodeMethodNotFound)
	}
	if h.run == nil {
		if m.Method == wire.MethodHealth {
			return wire.Object{"status": "ok"}, nil
		}
		return nil, fault.New(msgNotImplemented, m.Method).WithCode(wire.CodeNotImplemented)
	}
	return h.run(ctx, m.Params)
}

func (w *worker) initialize(ctx context.Context, raw json.RawMessage) (any, error) {
	w.mu.Lock()
	again := w.initialized
	w.initialized = true
	w.mu.Unlock()
	if again {
		return nil, fault.New(msgInitialized)
	}
	p, err := decode[wire.InitializeParams](raw)
	if err == nil && w.plugin.Setup != nil {
		err = w.plugin.Setup(ctx, p)
	}
	if err != nil {
		w.mu.Lock()
		w.initialized = false
		w.mu.Unlock()
		return nil, err
	}
	supported := []string{}
	for _, h := range w.plugin.hooks() {
		if h.run != nil {
			supported = append(supported, h.method)
		}
	}
	return wire.InitializeResult{OK: true, SupportedMethods: supported}, nil
}

// admitConfig keeps a plugin for one company from being configured for two.
func (w *worker) admitConfig(raw json.RawMessage) error {
	p, err := decode[wire.ConfigChangedParams](raw)
	if err != nil {
		return err
	}
	config, err := json.Marshal(p.Config)
	if err != nil {
		return badParams(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	company := string(p.CompanyID)
	if w.config != nil && !w.plugin.MultiCompanyConfig && company != w.configCompany && !bytes.Equal(config, w.config) {
		return fault.New(msgCrossTenant, w.configCompany, company).WithCode(wire.CodeCrossTenant)
	}
	w.configCompany, w.config = company, config
	return nil
}

// reply answers a request. An error without a code is one of plugin code.
func (w *worker) reply(id json.RawMessage, result any, err error) {
	m := &wire.Message{ID: id}
	if err == nil {
		m.Result, err = wire.Encode(result)
	}
	if err != nil {
		m.Error = &wire.Error{Code: wire.CodeWorkerError, Message: err.Error()}
		if e := fault.As(err); e != nil {
			if e.Code != 0 {
				m.Error.Code, m.Error.Data = e.Code, e.Data
			}
			if place := fault.Raised(err); w.tell && !place.IsZero() {
				m.Error.RaisedAt = &place
			}
		}
	}
	_ = w.host.out.Send(m) // a host that is gone needs no answer
}

// end stops the worker: the plugin's own calls fail, running hooks get a
// while to answer, then the plugin cleans up and shutdown, when its id is not
// nil, is answered.
func (w *worker) end(id json.RawMessage) {
	w.once.Do(func() {
		w.mu.Lock()
		w.ending = true
		w.mu.Unlock()
		w.host.stop()
		w.cancel()
		grace := or(w.plugin.Grace, defaultGrace)
		w.within(grace, w.running.Wait)
		var err error
		if w.plugin.Shutdown != nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), grace)
			defer cancel()
			w.within(grace, func() { err = w.plugin.Shutdown(ctx) })
		}
		if id != nil {
			w.reply(id, nil, err)
		}
		w.status <- 0
	})
}

// within runs f and waits for it, but not longer than d.
func (w *worker) within(d time.Duration, f func()) {
	done := make(chan struct{})
	w.host.Go(func() {
		defer close(done)
		f()
	})
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

func (w *worker) fatal(err error) {
	w.once.Do(func() {
		_ = w.host.Log(w.ctx, "error", fmt.Sprintf("uncaught error: %v", err), nil)
		w.host.stop()
		w.cancel()
		time.AfterFunc(or(w.plugin.FatalDelay, defaultFatalDelay), func() { w.status <- 1 })
	})
}
