package daytona

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"errorkb/internal/runtime/daytona/service"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/fixture"
	"errorkb/internal/runtime/sdk"
	"errorkb/internal/runtime/wire"
)

func TestMain(m *testing.M) {
	RunIfAsked()
	os.Exit(fixture.CheckLeaks(m.Run))
}

// limit bounds what a test waits for.
const limit = 30 * time.Second

// stage is a service and a worker that uses it, over pipes.
type stage struct {
	t       *testing.T
	ctx     context.Context
	service *service.Service
	options Options
	env     map[string]string
	config  wire.Object
	worker  *peer
	stderr  *text

	mu  sync.Mutex
	now time.Time
}

// text is a writer whose content can be read at any time.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (x *text) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.Write(p)
}

func (x *text) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.String()
}

func begin(t *testing.T) *stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	dir := t.TempDir()
	s, err := service.Start(service.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	x := &stage{t: t, ctx: ctx, service: s, env: s.Env(), config: wire.Object{}, stderr: &text{}, now: time.Unix(1_800_000_000, 0)}
	x.options = Options{
		Getenv: func(name string) string { return x.env[name] }, Clock: x.clock,
		ConnectTimeout: limit, StartMargin: time.Millisecond, KillTimeout: limit, PollInterval: time.Millisecond,
	}
	t.Cleanup(func() {
		if x.worker != nil {
			x.worker.stop()
		}
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("files are left: %v", left)
		}
	})
	x.restart()
	return x
}

func (x *stage) clock() time.Time {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.now
}

func (x *stage) later(d time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.now = x.now.Add(d)
}

// restart starts the worker, anew when it runs.
func (x *stage) restart() {
	x.t.Helper()
	if x.worker != nil {
		x.worker.stop()
	}
	x.worker = run(x.t, x.options, x.stderr)
	var ready wire.InitializeResult
	x.must(x.call(wire.MethodInitialize, wire.InitializeParams{}, &ready))
	if !ready.OK {
		x.t.Fatal("the worker is not ready")
	}
}

func (x *stage) must(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

func (x *stage) breaks(f service.Fault) {
	x.t.Helper()
	x.must(x.service.Break(f))
}

func (x *stage) call(method string, params, result any) error {
	return x.worker.call(x.ctx, method, params, result)
}

// peer is the host side of a worker in this process.
type peer struct {
	in     *io.PipeWriter
	out    *wire.Writer
	status chan int
	once   sync.Once

	mu      sync.Mutex
	next    int
	waiting map[string]chan *wire.Message
	events  []*wire.Message
	changed chan struct{}
}

func run(t *testing.T, o Options, stderr io.Writer) *peer {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &peer{in: inW, out: wire.NewWriter(inW), status: make(chan int, 1), waiting: map[string]chan *wire.Message{}, changed: make(chan struct{})}
	plugin := Plugin(o)
	plugin.TellPlace = true
	go func() {
		status := sdk.Serve(context.Background(), inR, outW, stderr, plugin)
		inR.Close()
		outW.Close()
		p.status <- status
	}()
	go func() {
		lines := wire.NewReader(outR, wire.MaxLine)
		for {
			line, _, err := lines.Next()
			if err != nil {
				return
			}
			m, err := wire.Parse(line)
			if err != nil {
				t.Errorf("worker sent %q: %v", line, err)
				continue
			}
			p.got(m)
		}
	}()
	return p
}

func (p *peer) got(m *wire.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.IsResponse() {
		if answer := p.waiting[string(m.ID)]; answer != nil {
			answer <- m
		}
		return
	}
	p.events = append(p.events, m)
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *peer) call(ctx context.Context, method string, params, result any) error {
	raw, err := wire.Encode(params)
	if err != nil {
		return err
	}
	answer := make(chan *wire.Message, 1)
	p.mu.Lock()
	p.next++
	id := fmt.Sprint(p.next)
	p.waiting[id] = answer
	p.mu.Unlock()
	m := &wire.Message{ID: json.RawMessage(id), Method: method, Params: raw, Invocation: &wire.Invocation{ID: "i-" + id, Scope: wire.Scope{CompanyID: "c1"}}}
	if err := p.out.Send(m); err != nil {
		return err
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			var place fault.Place
			if m.Error.RaisedAt != nil {
				place = *m.Error.RaisedAt
			}
			return fault.Received(m.Error.Message, m.Error.Code, m.Error.Data, place)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(m.Result, result)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

// stop ends the worker and waits for it.
func (p *peer) stop() {
	p.once.Do(func() {
		p.in.Close()
		<-p.status
	})
}

// wait waits for a notification that fits and returns it.
func (x *stage) wait(what string, fits func(m *wire.Message) bool) *wire.Message {
	x.t.Helper()
	for {
		x.worker.mu.Lock()
		changed := x.worker.changed
		for _, m := range x.worker.events {
			if fits(m) {
				x.worker.mu.Unlock()
				return m
			}
		}
		x.worker.mu.Unlock()
		select {
		case <-changed:
		case <-x.ctx.Done():
			x.t.Fatalf("no %s arrived", what)
		}
	}
}

// duplexChannel is an open channel as the host sees it.
type duplexChannel struct {
	*stage
	pair wire.DuplexPair
}

func (x *stage) open(lease string, command ...string) (*duplexChannel, error) {
	if command == nil {
		command = []string{}
	}
	x.worker.mu.Lock()
	route := fmt.Sprintf("duplex-route-%d", x.worker.next)
	x.worker.mu.Unlock()
	c := &duplexChannel{stage: x}
	err := x.call(wire.MethodDuplexOpen, wire.DuplexOpenParams{HostRouteID: route, DriverKey: DriverKey, CompanyID: "c1", EnvironmentID: "e1", ProviderLeaseID: lease, Command: command}, &c.pair)
	if err == nil && (c.pair.HostRouteID != route || !strings.HasPrefix(c.pair.WorkerSessionID, "duplex-")) {
		x.t.Errorf("the open of %s was answered with %+v", route, c.pair)
	}
	return c, err
}

// output is what the channel has sent so far.
func (c *duplexChannel) output() []byte {
	c.worker.mu.Lock()
	defer c.worker.mu.Unlock()
	var all []byte
	for _, m := range c.worker.events {
		var d wire.DuplexData
		if m.Method == wire.NotifyDuplexData && json.Unmarshal(m.Params, &d) == nil && d.DuplexPair == c.pair {
			data, valid := wire.Decode(d.Chunk)
			if !valid {
				c.t.Errorf("malformed chunk %q", d.Chunk)
			}
			all = append(all, data...)
		}
	}
	return all
}

// until waits for a text in the output.
func (c *duplexChannel) until(marker string) {
	c.t.Helper()
	c.wait("output with "+marker, func(*wire.Message) bool {
		c.worker.mu.Unlock() // output locks it
		defer c.worker.mu.Lock()
		return bytes.Contains(c.output(), []byte(marker))
	})
}

func (c *duplexChannel) write(data []byte) {
	c.t.Helper()
	c.must(c.call(wire.MethodDuplexWrite, wire.DuplexWriteParams{DuplexPair: c.pair, Data: wire.EncodeChunk(data)}, nil))
}

// exit waits for the exit of the channel: its code, "null" or "lost".
func (c *duplexChannel) exit() string {
	c.t.Helper()
	var e wire.DuplexExit
	c.wait("exit", func(m *wire.Message) bool {
		return m.Method == wire.NotifyDuplexExit && json.Unmarshal(m.Params, &e) == nil && e.DuplexPair == c.pair
	})
	switch {
	case e.ExitCode != nil:
		return fmt.Sprint(*e.ExitCode)
	case e.TransportClosed:
		return "lost"
	}
	return "null"
}

func (c *duplexChannel) stopProgram() error {
	return c.call(wire.MethodDuplexStop, wire.DuplexStopParams{DuplexPair: c.pair}, nil)
}

func (c *duplexChannel) close() wire.DuplexPair {
	c.t.Helper()
	var pair wire.DuplexPair
	c.must(c.call(wire.MethodDuplexClose, wire.DuplexCloseParams{HostRouteID: c.pair.HostRouteID}, &pair))
	return pair
}

// target is what all calls of the tests are made for.
func (x *stage) target() wire.Target {
	return wire.Target{DriverKey: DriverKey, CompanyID: "c1", EnvironmentID: "e1", Config: x.config}
}

func (x *stage) acquire() (wire.LeaseResult, error) {
	var got wire.LeaseResult
	err := x.call(wire.MethodAcquireLease, wire.AcquireParams{Target: x.target(), RunID: "r1", AgentID: "a1", ExecutionWorkspaceID: "w1"}, &got)
	return got, err
}

// lease acquires a lease that must be granted.
func (x *stage) lease() wire.LeaseResult {
	x.t.Helper()
	got, err := x.acquire()
	x.must(err)
	if got.ProviderLeaseID == "" {
		x.t.Fatal("no lease id")
	}
	return got
}

func (x *stage) leaseParams(l wire.LeaseResult) wire.LeaseParams {
	return wire.LeaseParams{Target: x.target(), ProviderLeaseID: l.ProviderLeaseID, LeaseMetadata: l.Metadata}
}

func (x *stage) release(l wire.LeaseResult) (*wire.Receipt, error) {
	var got *wire.Receipt
	err := x.call(wire.MethodReleaseLease, x.leaseParams(l), &got)
	return got, err
}

func (x *stage) resume(l wire.LeaseResult) (wire.LeaseResult, error) {
	var got wire.LeaseResult
	err := x.call(wire.MethodResumeLease, x.leaseParams(l), &got)
	return got, err
}

func (x *stage) executeParams(l wire.LeaseResult, line string) wire.ExecuteParams {
	return wire.ExecuteParams{
		Target: x.target(), Lease: wire.Lease{ProviderLeaseID: l.ProviderLeaseID, Metadata: l.Metadata},
		Command: "sh", Args: []string{"-c", line}, BypassSession: true,
	}
}

func (x *stage) send(q wire.ExecuteParams) (wire.ExecuteResult, error) {
	var got wire.ExecuteResult
	err := x.call(wire.MethodExecute, q, &got)
	return got, err
}

func (x *stage) execute(l wire.LeaseResult, line string) error {
	_, err := x.send(x.executeParams(l, line))
	return err
}

// called counts the requests of an operation.
func (x *stage) called(operation string) int {
	n := 0
	for _, c := range x.service.Calls() {
		if c.Operation == operation {
			n++
		}
	}
	return n
}
