//go:build unix

package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"errorkb/internal/runtime/clock"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

func TestLife(t *testing.T) {
	t.Setenv("HOST_SECRET", "never")
	opts, _ := options(t)
	opts.Command.Env = map[string]string{"CONFIGURED": "yes"}
	h := started(t, opts)
	if got := h.SupportedMethods(); !slices.Contains(got, "duplexChannelOpen") || slices.Contains(got, "validateConfig") {
		t.Errorf("methods %v", got)
	}
	raw, err := h.Call(t.Context(), execute("env"))
	env := stdout(t, raw, err)
	for _, want := range []string{"CONFIGURED=yes", "PAPERCLIP_PLUGIN_ID=plugin-1", "NODE_ENV=production", "TZ=UTC", "PATH="} {
		if !strings.Contains("\n"+env, "\n"+want) {
			t.Errorf("the environment lacks %s:\n%s", want, env)
		}
	}
	if strings.Contains(env, "HOST_SECRET") {
		t.Error("a secret of the host was inherited")
	}
	if group, err := syscall.Getpgid(h.Pid()); err != nil || group != h.Pid() {
		t.Errorf("process group %d of %d, %v", group, h.Pid(), err)
	}
	wantFault(t, h.Start(t.Context()), 0, "", `Worker for plugin "plugin-1" is already running`)
	h.Stop()
	want := []Status{Starting, Running, Stopping, Stopped}
	if diff := cmp.Diff(want, h.History()); diff != "" {
		t.Error(diff)
	}
	if err := h.Start(t.Context()); err != nil {
		t.Errorf("a stopped worker does not start again: %v", err)
	}
}

func TestFailedStarts(t *testing.T) {
	for _, c := range []struct{ start, stderr, want string }{
		{"init=silent", "", `Worker initialize failed for "plugin-1": RPC call "initialize" timed out after 60ms`},
		{"init=refuse", "", `Worker initialize failed for "plugin-1": Worker initialize returned ok=false`},
		{"init=error", "stderr=about to fail", "Worker initialize failed for \"plugin-1\": fixture refuses to start\n\nWorker stderr:\nabout to fail"},
		{"init=exit:3", "stderr=no licence", "Worker initialize failed for \"plugin-1\": Worker process exited (code=3, signal=null)\n\nWorker stderr:\nno licence"},
	} {
		opts, _ := options(t, c.start, c.stderr)
		opts.Limits.Initialize = 10 * time.Second
		if c.start == "init=silent" {
			opts.Limits.Initialize = 60 * time.Millisecond
		}
		fake := clock.NewFake(time.Unix(0, 0))
		if c.start == "init=exit:3" {
			opts.Clock = fake
		}
		h := NewHandle("plugin-1", opts)
		wantFault(t, h.Start(t.Context()), 0, "", c.want)
		if h.Status() != Crashed || h.SupportedMethods() != nil || h.Pid() != 0 {
			t.Errorf("%s: status %s, methods %v, pid %d", c.start, h.Status(), h.SupportedMethods(), h.Pid())
		}
		// Only a process that died by itself is tried again.
		if pending := len(fake.Pending()); pending != map[bool]int{true: 1, false: 0}[c.start == "init=exit:3"] {
			t.Errorf("%s: %d restarts pending", c.start, pending)
		}
		h.Stop()
		if h.Status() != Stopped || len(fake.Pending()) != 0 {
			t.Errorf("%s: after Stop status %s, pending %v", c.start, h.Status(), fake.Pending())
		}
	}
	opts, _ := options(t)
	opts.Command.Path = "/no/such/program"
	h := NewHandle("plugin-1", opts)
	err := h.Start(t.Context())
	wantFault(t, err, 0, "", `Worker initialize failed for "plugin-1": Worker process failed to start: spawn /no/such/program ENOENT`)
	wantFault(t, errors.Unwrap(err), -32000, "JsonRpcCallError", `Worker process failed to start: spawn /no/such/program ENOENT`)
}

func TestCrashAndBackoff(t *testing.T) {
	opts, log := options(t)
	fake := clock.NewFake(time.Unix(1000, 0))
	opts.Clock = fake
	opts.Jitter = func() float64 { return 0 }
	opts.Limits.Crashes = 2
	h := started(t, opts)

	_, err := h.Call(t.Context(), execute("exit", "7"))
	wantFault(t, err, -32000, "JsonRpcCallError", "Worker process exited (code=7, signal=null)")
	await(t, h, Backoff)
	_, err = h.Call(t.Context(), execute("echo"))
	wantFault(t, err, 0, "", `Cannot call "environmentExecute" — worker for "plugin-1" is backoff`)
	_, err = h.OpenDuplex(t.Context(), wire.DuplexOpenParams{})
	wantFault(t, err, 0, "", `Cannot open a duplex channel — worker for "plugin-1" is backoff`)
	if len(h.SupportedMethods()) == 0 {
		t.Error("the method list of the last good start is gone")
	}
	if diff := cmp.Diff([]time.Duration{time.Second}, fake.Pending()); diff != "" {
		t.Fatal(diff)
	}
	go fake.Advance(time.Second)
	await(t, h, Running)

	// A good start in between resets the count: the delay is the first one again.
	_, err = h.Call(t.Context(), execute("kill"))
	wantFault(t, err, -32000, "JsonRpcCallError", "Worker process exited (code=null, signal=SIGKILL)")
	await(t, h, Backoff)
	if diff := cmp.Diff([]time.Duration{time.Second}, fake.Pending()); diff != "" {
		t.Fatal(diff)
	}
	if !log.has(logCrashed) {
		t.Error("the crash was not logged")
	}

	// Crashes without a good start in between add up and end.
	h.opts.Command.Args = append(h.opts.Command.Args, "init=exit:1")
	fake.Advance(time.Second)
	await(t, h, Crashed)
	if diff := cmp.Diff([]time.Duration{2 * time.Second}, fake.Pending()); diff != "" {
		t.Fatal(diff)
	}
	fake.Advance(2 * time.Second)
	if len(fake.Pending()) != 0 || !log.has(logMaxCrashes) || !log.has(logRestartFailed) || h.Status() != Crashed {
		t.Errorf("after too many crashes: %s, pending %v", h.Status(), fake.Pending())
	}
}

func TestBackoffDelays(t *testing.T) {
	l := DefaultLimits()
	for n, want := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 10: 5 * time.Minute, 100: 5 * time.Minute} {
		if got := l.backoff(n, 0); got != want {
			t.Errorf("backoff(%d) = %s, want %s", n, got, want)
		}
	}
	if low, high := l.backoff(3, -1), l.backoff(3, 1); low != 3*time.Second || high != 5*time.Second {
		t.Errorf("jitter from %s to %s", low, high)
	}
	if l.timeout(-1) != 30*time.Second || l.timeout(time.Nanosecond) != time.Millisecond || l.timeout(1<<62) != maxCall {
		t.Error("time-outs are not clamped")
	}
}

func TestStopEscalates(t *testing.T) {
	opts, log := options(t, "shutdown=ignore")
	fake := clock.NewFake(time.Unix(0, 0))
	opts.Clock = fake
	h := started(t, opts)
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.Stop()
	}()
	for _, wait := range []time.Duration{opts.Limits.Shutdown, opts.Limits.Leave, opts.Limits.Terminate} {
		if _, err := fake.WaitFor(t.Context(), wait, wait); err != nil {
			t.Fatal(err)
		}
		if h.Status() != Stopping {
			t.Errorf("status %s", h.Status())
		}
		fake.Advance(wait)
	}
	<-done
	if h.Status() != Stopped || !log.has(logEscalating) {
		t.Errorf("status %s, escalation logged %v", h.Status(), log.has(logEscalating))
	}
}

func TestCalls(t *testing.T) {
	opts, _ := options(t)
	opts.Handlers = map[string]Handler{
		"state.get": func(context.Context, json.RawMessage) (any, error) { return "value", nil },
		"state.bad": func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("no state") },
	}
	h := started(t, opts)
	raw, err := h.Call(t.Context(), execute("call", "state.get"))
	if got := stdout(t, raw, err); got != "value" {
		t.Errorf("state.get gave %q", got)
	}
	_, err = h.Call(t.Context(), execute("call", "state.bad"))
	wantFault(t, err, -32603, "JsonRpcCallError", "no state")
	_, err = h.Call(t.Context(), execute("call", "secrets.read"))
	wantFault(t, err, -32601, "JsonRpcCallError", `Host does not handle method "secrets.read"`)
	_, err = h.Call(t.Context(), execute("fail", "own text", "-32050"))
	wantFault(t, err, -32050, "JsonRpcCallError", "own text")
	_, err = h.Call(t.Context(), execute("fail", "own text"))
	wantFault(t, err, -32002, "JsonRpcCallError", "own text")
	_, err = h.Call(t.Context(), Request{Method: "health", Params: func() {}})
	wantFault(t, err, 0, "", `Failed to send "health" to worker: json: unsupported type: func()`)
	slow := execute("hang")
	slow.Timeout = 20 * time.Millisecond
	_, err = h.Call(t.Context(), slow)
	wantFault(t, err, -32003, "JsonRpcCallError", `RPC call "environmentExecute" timed out after 20ms`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = h.Call(ctx, execute("hang")); !errors.Is(err, context.Canceled) {
		t.Errorf("a call outlived its context: %v", err)
	}
	if r := h.current(); len(r.pending) != 0 {
		t.Errorf("%d calls are left", len(r.pending))
	}
}

func TestLiveOutput(t *testing.T) {
	opts, _ := options(t)
	opts.Limits.LiveChunk, opts.Limits.LiveOutput = 10, 15
	h := started(t, opts)
	var mu sync.Mutex
	var got []string
	req := execute("live", "stdout", "0123456789", "01234567890", "abc", "def")
	req.OnLog = func(stream, chunk string) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, stream+" "+chunk)
	}
	if _, err := h.Call(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"stdout 0123456789", "stdout abc"}, got); diff != "" {
		t.Error(diff)
	}
	got = nil
	hang := execute("hang")
	hang.CompanyID = "c2"
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); h.Call(ctx, hang) }()
	for pending := 0; pending == 0; {
		r := h.current()
		r.mu.Lock()
		pending = len(r.pending)
		r.mu.Unlock()
	}
	if _, err := h.Call(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-done
	if len(got) != 0 {
		t.Errorf("two companies at once, and still %v", got)
	}
}

func TestClosedStdin(t *testing.T) {
	opts, log := options(t)
	h := started(t, opts)
	raw, err := h.Call(t.Context(), execute("close-stdin"))
	stdout(t, raw, err)
	_, err = h.Call(t.Context(), execute("echo"))
	wantFault(t, err, 0, "", `Failed to send "environmentExecute" to worker: write EPIPE`)
	_, err = h.Call(t.Context(), execute("echo"))
	wantFault(t, err, 0, "", `Cannot call "environmentExecute" — worker for "plugin-1" is not running`)
	if h.Status() != Running {
		t.Errorf("status %s", h.Status())
	}
	r := h.current()
	r.answer(&wire.Message{ID: json.RawMessage("1"), Method: "nosuch"})
	if !log.has(`Worker process for plugin \"plugin-1\" is not writable`) {
		t.Error("the lost answer was not logged")
	}
}

func TestBadOutput(t *testing.T) {
	opts, log := options(t)
	opts.Limits.Line = 1 << 20
	h := started(t, opts)
	for _, line := range []string{"garbage {", "[1,2]", `{"jsonrpc":"1.0"}`, `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":"nosuch","result":1}`,
		`{"jsonrpc":"2.0","id":null,"result":1}`, `{"jsonrpc":"2.0","method":"unheard.of"}`, "\x00\xff"} {
		raw, err := h.Call(t.Context(), execute("raw", line))
		stdout(t, raw, err)
	}
	if !log.has(logUnparseable) {
		t.Error("garbage was not logged")
	}
	raw, err := h.Call(t.Context(), execute("huge", strconv.Itoa(3<<20)))
	stdout(t, raw, err)
	if !log.has(logOversized) {
		t.Error("the oversized line was not logged")
	}
	raw, err = h.Call(t.Context(), execute("flood", strconv.Itoa(4<<20)))
	stdout(t, raw, err)
	process := h.current().process
	process.mu.Lock()
	kept := len(process.stderr.data)
	process.mu.Unlock()
	if kept > 2*4*8000 {
		t.Errorf("kept %d bytes of error output", kept)
	}
	_, err = h.Call(t.Context(), execute("half", `{"jsonrpc":"2.0","id":`))
	if e := fault.As(err); e == nil || !strings.HasPrefix(e.Message, "Worker process exited (code=0, signal=null)\n\nWorker stderr:\nfff") {
		t.Errorf("after half a line: %.200v", err)
	} else if excerpt := strings.TrimPrefix(e.Message, "Worker process exited (code=0, signal=null)\n\nWorker stderr:\n"); len(excerpt) != 8000 {
		t.Errorf("the excerpt has %d characters", len(excerpt))
	}
}

// TestHugeLine lets a worker write 200 MB on one line under the real limit.
func TestHugeLine(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 200 MB")
	}
	opts, log := options(t)
	h := started(t, opts)
	raw, err := h.Call(t.Context(), execute("huge", strconv.Itoa(200_000_000)))
	stdout(t, raw, err)
	if !log.has(logOversized) || !log.has("bytes=200000000") {
		t.Error("the oversized line was not dropped")
	}
}

func TestChildrenGoWithTheWorker(t *testing.T) {
	for _, how := range []string{"stop", "kill"} {
		opts, _ := options(t)
		opts.NoRestart = true
		h := started(t, opts)
		raw, err := h.Call(t.Context(), execute("child"))
		pid, err := strconv.Atoi(stdout(t, raw, err))
		if err != nil {
			t.Fatal(err)
		}
		if how == "stop" {
			h.Stop()
		} else {
			_, _ = h.Call(t.Context(), execute("kill"))
			await(t, h, Crashed)
		}
		for deadline := time.Now().Add(10 * time.Second); alive(pid); {
			if time.Now().After(deadline) { // it was signalled; that takes a moment
				t.Fatalf("%s: the child %d stays", how, pid)
			}
			goruntime.Gosched()
		}
	}
}

// alive reports whether a process exists and is no zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z") && !strings.HasPrefix(after, "X")
}

func TestManager(t *testing.T) {
	var m Manager
	defer m.StopAll()
	_, err := m.Call(t.Context(), "p1", execute("echo"))
	wantFault(t, err, 0, "", `No worker registered for plugin "p1"`)
	opts, _ := options(t)
	var starts sync.WaitGroup
	handles := make([]*Handle, 4)
	for i := range handles {
		starts.Go(func() {
			h, err := m.Start(t.Context(), "p1", opts)
			if err != nil && !strings.HasPrefix(err.Error(), "Worker already registered") {
				t.Error(err)
			}
			handles[i] = h
		})
	}
	starts.Wait()
	for _, h := range handles {
		if h != nil && h != m.Get("p1") {
			t.Error("two workers for one plugin")
		}
	}
	if !m.IsRunning("p1") {
		t.Error("not running")
	}
	raw, err := m.Call(t.Context(), "p1", execute("echo", "hi"))
	if stdout(t, raw, err) != "hi" {
		t.Error("no echo")
	}
	bad, _ := options(t, "init=refuse")
	h, err := m.Start(t.Context(), "p2", bad)
	if err == nil || h == nil || m.Get("p2") != h || m.IsRunning("p2") {
		t.Errorf("a failed start: %v, %v", h, err)
	}
	_, err = m.Start(t.Context(), "p2", opts)
	wantFault(t, err, 0, "", `Worker already registered for plugin "p2" (status: crashed)`)
	m.Stop("p2")
	if m.Get("p2") != nil {
		t.Error("a stopped worker is still registered")
	}
	m.StopAll()
	if m.Get("p1") != nil {
		t.Error("StopAll left a worker")
	}
}

// TestStopDuringCrash stops a worker that has just died: whatever comes first,
// it is not restarted.
func TestStopDuringCrash(t *testing.T) {
	for range 20 {
		opts, _ := options(t)
		fake := clock.NewFake(time.Unix(0, 0))
		opts.Clock = fake
		h := started(t, opts)
		h.Kill()
		h.Stop()
		if h.Status() != Stopped || h.Pid() != 0 || len(fake.Pending()) != 0 {
			t.Fatalf("status %s, pid %d, pending %v", h.Status(), h.Pid(), fake.Pending())
		}
	}
}

// TestStartingHasAProcess asks and stops a worker while it starts: it always
// has a process then, and a start that is overtaken leaves nothing.
func TestStartingHasAProcess(t *testing.T) {
	for _, how := range []string{"init=silent", "init=refuse"} {
		opts, _ := options(t, how)
		opts.Limits.Shutdown = time.Millisecond
		h := NewHandle("plugin-1", opts)
		failed := make(chan error)
		go func() { failed <- h.Start(t.Context()) }()
		await(t, h, Starting)
		if r, status := h.live(); status == Starting && r == nil {
			t.Error("a starting worker has no process")
		}
		h.Stop()
		if err := <-failed; err == nil {
			t.Errorf("%s: the start succeeded", how)
		}
		if h.Status() != Stopped || h.Pid() != 0 {
			t.Errorf("%s: status %s, pid %d", how, h.Status(), h.Pid())
		}
	}
}
