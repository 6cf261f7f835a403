package sdk

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

// peer is the host side of a worker that runs in this process.
type peer struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *bufio.Scanner
	status chan int
}

func start(t *testing.T, plugin Plugin) *peer {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &peer{t: t, in: inW, out: bufio.NewScanner(outR), status: make(chan int, 1)}
	go func() {
		p.status <- Serve(t.Context(), inR, outW, io.Discard, plugin)
		inR.Close()
		outW.Close()
	}()
	t.Cleanup(func() {
		inW.Close()
		outR.Close()
		<-p.status
		p.status <- 0
	})
	return p
}

func (p *peer) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) next() *wire.Message {
	p.t.Helper()
	if !p.out.Scan() {
		p.t.Fatalf("no further message: %v", p.out.Err())
	}
	m, err := wire.Parse(p.out.Bytes())
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

func (p *peer) call(method, params string) *wire.Message {
	p.t.Helper()
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
	return p.next()
}

func wantError(t *testing.T, m *wire.Message, code int, text string) {
	t.Helper()
	if m.Error == nil || m.Error.Code != code || m.Error.Message != text {
		t.Errorf("got result %s, error %+v; want %d %s", m.Result, m.Error, code, text)
	}
}

func TestErrors(t *testing.T) {
	plugin := Plugin{
		Execute: func(_ context.Context, p wire.ExecuteParams) (wire.ExecuteResult, error) {
			switch p.Command {
			case "plain":
				return wire.ExecuteResult{}, errors.New("plain text")
			case "typed":
				return wire.ExecuteResult{}, fault.New("typed %d", 1).WithCode(-32010)
			}
			panic("thrown")
		},
		ConfigChanged: func(context.Context, wire.ConfigChangedParams) error { return nil },
	}
	p := start(t, plugin)
	first := p.call("initialize", `{}`)
	var ready wire.InitializeResult
	if err := json.Unmarshal(first.Result, &ready); err != nil || !ready.OK ||
		!slices.Equal(ready.SupportedMethods, []string{"configChanged", "environmentExecute"}) {
		t.Fatalf("initialize answered %s (%v)", first.Result, err)
	}
	wantError(t, p.call("initialize", `{}`), -32002, "Worker already initialized")
	wantError(t, p.call("nosuch", `{}`), -32601, "Unknown method: nosuch")
	wantError(t, p.call("environmentSyncIn", `{}`), -32004, "environmentSyncIn is not implemented by this plugin")
	wantError(t, p.call("environmentExecute", `{"command":"plain"}`), -32002, "plain text")
	wantError(t, p.call("environmentExecute", `{"command":"typed"}`), -32010, "typed 1")
	wantError(t, p.call("environmentExecute", `{"command":""}`), -32002, "thrown")
	if m := p.call("health", `{}`); string(m.Result) != `{"status":"ok"}` {
		t.Errorf("health answered %s", m.Result)
	}
	for line, text := range map[string]string{
		"{oops":              "Parse error: Invalid JSON: {oops",
		"42":                 "Parse error: Message must be a JSON object",
		`{"jsonrpc":"1.0"}`:  `Parse error: Invalid or missing jsonrpc version (expected "2.0", got "1.0")`,
		`{"id":1,"x":"2.0"}`: `Parse error: Invalid or missing jsonrpc version (expected "2.0", got undefined)`,
	} {
		p.send(line)
		m := p.next()
		wantError(t, m, -32700, text)
		if string(m.ID) != "null" {
			t.Errorf("%s was answered with id %s", line, m.ID)
		}
	}
	for i, c := range []struct{ params, text string }{
		{`{"companyId":"c1","config":{"a":1}}`, ""},
		{`{"companyId":"c2","config":{"a":1}}`, ""}, // the same configuration
		{`{"companyId":"c1","config":{"a":2}}`, "c2"},
		{`{"companyId":"c2","config":{"a":2}}`, ""}, // its own company may change it
	} {
		m := p.call("configChanged", c.params)
		if c.text == "" {
			if m.Error != nil {
				t.Errorf("configChanged %d: %+v", i, m.Error)
			}
			continue
		}
		wantError(t, m, -32006, fmt.Sprintf(msgCrossTenant, "c2", "c1"))
	}
	if m := p.call("shutdown", `{}`); m.Error != nil {
		t.Errorf("shutdown answered %+v", m.Error)
	}
	if status := <-p.status; status != 0 {
		t.Errorf("status %d", status)
	}
	p.status <- 0
}

func TestHostCalls(t *testing.T) {
	var host *Host
	called := make(chan struct{})
	plugin := Plugin{
		CallTimeout: 20 * time.Millisecond,
		Execute: func(ctx context.Context, p wire.ExecuteParams) (wire.ExecuteResult, error) {
			host = HostOf(ctx)
			if p.Command == "long" {
				host.timeout = time.Minute
				defer close(called)
			}
			var answer string
			err := host.Call(ctx, "state.get", wire.Object{"key": p.Command}, &answer)
			return wire.ExecuteResult{Stdout: answer}, err
		},
	}
	p := start(t, plugin)
	p.call("initialize", `{}`)

	p.send(`{"jsonrpc":"2.0","id":2,"method":"environmentExecute","params":{"command":"a"},"paperclipInvocation":{"id":"i7","scope":{"companyId":"c1"}}}`)
	asked := p.next()
	if asked.Method != "state.get" || asked.InvocationID != "i7" || string(asked.Params) != `{"key":"a"}` {
		t.Fatalf("host was asked %+v", asked)
	}
	wantError(t, p.next(), -32003, "Worker→host call \"state.get\" timed out after 20ms")

	p.send(`{"jsonrpc":"2.0","id":3,"method":"environmentExecute","params":{"command":"long"}}`)
	asked = p.next()
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Host does not handle method \"state.get\""}}`, asked.ID))
	wantError(t, p.next(), -32601, `Host does not handle method "state.get"`)
	<-called

	called = make(chan struct{})
	p.send(`{"jsonrpc":"2.0","id":4,"method":"environmentExecute","params":{"command":"long"}}`)
	p.next()
	p.send(`{"jsonrpc":"2.0","id":5,"method":"shutdown","params":{}}`)
	wantError(t, p.next(), -32000, "Worker RPC host is shutting down")
	if m := p.next(); string(m.ID) != "5" || m.Error != nil {
		t.Errorf("shutdown answered %+v", m)
	}
	if err := host.Notify(t.Context(), "log", func() {}); !fault.Is(err, msgEncode) {
		t.Errorf("a notification that cannot be encoded: %v", err)
	}
	if err := host.Call(t.Context(), "state.get", func() {}, nil); !fault.Is(err, msgEncode) {
		t.Errorf("a call that cannot be encoded: %v", err)
	}
	err := host.Call(context.Background(), "state.get", nil, nil)
	if err == nil || err.Error() != `Cannot call "state.get" — worker RPC host is not running` {
		t.Errorf("after the end: %v", err)
	}
}

// TestWritesKeepTheirOrder sends writes of two channels; the first of one is
// slow and must hold up its own channel only.
func TestWritesKeepTheirOrder(t *testing.T) {
	release := make(chan struct{})
	plugin := Plugin{DuplexWrite: func(ctx context.Context, p wire.DuplexWriteParams) error {
		data, ok := p.Bytes()
		if string(data) == "a0" {
			<-release
		}
		return HostOf(ctx).Log(ctx, "info", string(data), wire.Object{"ok": ok})
	}}
	p := start(t, plugin)
	p.call("initialize", `{}`)
	go func() {
		for i := range 20 {
			for _, channel := range []string{"a", "b"} {
				p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s%d","method":"duplexChannelWrite","params":{"hostRouteId":"r","workerSessionId":%q,"data":%q}}`,
					channel, i, channel, wire.EncodeChunk(fmt.Appendf(nil, "%s%d", channel, i))))
			}
		}
	}()
	var order []string
	for len(order) < 40 {
		m := p.next()
		if m.Method == "" {
			continue
		}
		var entry wire.LogEntry
		if err := json.Unmarshal(m.Params, &entry); err != nil {
			t.Fatal(err)
		}
		order = append(order, entry.Message)
		if len(order) == 20 {
			if strings.Contains(strings.Join(order, " "), "a") {
				t.Errorf("channel a overtook itself: %v", order)
			}
			close(release)
		}
	}
	for _, channel := range []string{"a", "b"} {
		next := 0
		for _, text := range order {
			if strings.HasPrefix(text, channel) {
				if text != fmt.Sprintf("%s%d", channel, next) {
					t.Fatalf("order %v", order)
				}
				next++
			}
		}
	}
}

func TestEnds(t *testing.T) {
	cleaned := make(chan struct{}, 1)
	p := start(t, Plugin{Shutdown: func(context.Context) error { cleaned <- struct{}{}; return nil }})
	p.in.Close()
	if status := <-p.status; status != 0 {
		t.Errorf("closing the input ended with %d", status)
	}
	p.status <- 0
	<-cleaned

	p = start(t, Plugin{FatalDelay: time.Millisecond, Execute: func(ctx context.Context, _ wire.ExecuteParams) (wire.ExecuteResult, error) {
		HostOf(ctx).Go(func() { panic("nobody handles this") })
		<-ctx.Done()
		return wire.ExecuteResult{}, nil
	}})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"environmentExecute","params":{}}`)
	if m := p.next(); m.Method != "log" || !strings.Contains(string(m.Params), "nobody handles this") {
		t.Errorf("got %+v", m)
	}
	p.next() // the hook saw the end of its context
	if status := <-p.status; status != 1 {
		t.Errorf("a panic ended with %d", status)
	}
	p.status <- 0
}

func TestTellPlace(t *testing.T) {
	p := start(t, Plugin{TellPlace: true})
	m := p.call("environmentExecute", `{}`)
	if m.Error == nil || m.Error.RaisedAt == nil || m.Error.RaisedAt.Symbol != "(*worker).call" || m.Error.RaisedAt.File != "sdk/serve.go" {
		t.Errorf("got %+v", m.Error)
	}
}

func TestNotificationsDropWhatIsEmpty(t *testing.T) {
	p := start(t, Plugin{Execute: func(ctx context.Context, _ wire.ExecuteParams) (wire.ExecuteResult, error) {
		h, pair := HostOf(ctx), wire.DuplexPair{HostRouteID: "r", WorkerSessionID: "s"}
		code := 3
		err := errors.Join(
			h.DuplexData(ctx, wire.DuplexPair{HostRouteID: "r"}, []byte("x")), h.DuplexData(ctx, pair, nil),
			h.DuplexExit(ctx, wire.DuplexPair{WorkerSessionID: "s"}, nil, false), h.ExecuteLog(ctx, "stdout", ""),
			h.LoginOutput(ctx, pair, ""), h.LoginExit(ctx, wire.DuplexPair{}, nil),
			h.DuplexExit(ctx, pair, &code, true))
		return wire.ExecuteResult{}, err
	}})
	m := p.call("environmentExecute", `{}`)
	want := `{"hostRouteId":"r","workerSessionId":"s","exitCode":3,"transportClosed":true}`
	if m.Method != "duplexChannel.exit" || string(m.Params) != want {
		t.Errorf("the first message is %s %s", m.Method, m.Params)
	}
	p.next()
}
