//go:build unix

package host_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"time"

	"errorkb/internal/runtime/environment"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/host"
	"errorkb/internal/runtime/wire"
	"errorkb/internal/runtime/worker"
)

func workerRows() []row {
	start := func(w *world, args ...string) error {
		return second(w.StartWorker(w.t.Context(), "p1", command(w.t, args...)))
	}
	fixtureLease := func(w *world, behaviour string) environment.LeaseInput {
		w.worker()
		return w.acquire(fixtureEnv(behaviour))
	}
	return []row{
		{"WMG-02", nil, func(w *world) error {
			bad := command(w.t)
			bad.Path = "/no/such/interpreter"
			return second(w.StartWorker(w.t.Context(), "p1", bad))
		}, `Worker initialize failed for "p1": Worker process failed to start: spawn /no/such/interpreter ENOENT`, 0, ""},
		{"WMG-03", nil, func(w *world) error { return w.execute(fixtureLease(w, ""), "exit", "9") },
			`Worker process exited (code=9, signal=null)`, -32000, call},
		{"WMG-03 killed", nil, func(w *world) error { return w.execute(fixtureLease(w, ""), "kill") },
			`Worker process exited (code=null, signal=SIGKILL)`, -32000, call},
		{"WMG-03 with error output", nil, func(w *world) error {
			in := fixtureLease(w, "")
			_ = w.execute(in, "stderr", "disk full")
			return w.execute(in, "exit", "1")
		}, "Worker process exited (code=1, signal=null)\n\nWorker stderr:\ndisk full", -32000, call},
		{"WMG-04", nil, func(w *world) error { return w.worker().Start(w.t.Context()) }, `Worker for plugin "p1" is already running`, 0, ""},
		{"WMG-05", nil, func(w *world) error { return start(w, "init=refuse") },
			`Worker initialize failed for "p1": Worker initialize returned ok=false`, 0, ""},
		{"WMG-06 error", nil, func(w *world) error { return start(w, "init=error") },
			`Worker initialize failed for "p1": fixture refuses to start`, 0, ""},
		{"WMG-06 silence", func(c *host.Config) { c.WorkerLimits.Initialize = 100 * time.Millisecond }, func(w *world) error { return start(w, "init=silent") },
			`Worker initialize failed for "p1": RPC call "initialize" timed out after 100ms`, 0, ""},
		{"WMG-06 exit", nil, func(w *world) error { return start(w, "init=exit:4") },
			`Worker initialize failed for "p1": Worker process exited (code=4, signal=null)`, 0, ""},
		{"WMG-07", nil, func(w *world) error {
			in := fixtureLease(w, "")
			_ = w.execute(in, "close-stdin")
			_ = w.execute(in, "echo")
			return w.execute(in, "echo")
		}, `Cannot call "environmentExecute" — worker for "p1" is not running`, 0, ""},
		{"WMG-07 channel", nil, func(w *world) error {
			in := fixtureLease(w, "")
			_ = w.execute(in, "close-stdin")
			_ = w.open(in)
			return w.open(in)
		}, `Cannot call "duplexChannelOpen" — worker for "p1" is not running`, 0, ""},
		{"WMG-08", frozen, func(w *world) error { return w.execute(crashed(w), "echo") },
			`Cannot call "environmentExecute" — worker for "p1" is backoff`, 0, ""},
		{"WMG-10 back-off", frozen, func(w *world) error { return w.open(crashed(w)) },
			`Cannot open a duplex channel — worker for "p1" is backoff`, 0, ""},
		{"WMG-10 killed by the host", nil, func(w *world) error {
			in := fixtureLease(w, "close=bad")
			channel, err := w.Service.OpenDuplexChannel(w.t.Context(), environment.DuplexInput{LeaseInput: in, Command: []string{"cat"}})
			if err != nil {
				return err
			}
			channel.Close()
			w.await(w.Workers.Get("p1"), worker.Stopped)
			return w.open(in)
		}, `Cannot open a duplex channel — worker for "p1" is stopped`, 0, ""},
		{"WMG-11", func(c *host.Config) { c.WorkerLimits.Call = 50 * time.Millisecond }, func(w *world) error { return w.execute(fixtureLease(w, ""), "hang") },
			`RPC call "environmentExecute" timed out after 50ms`, -32003, call},
		{"WMG-12", nil, func(w *world) error {
			in := fixtureLease(w, "")
			_ = w.execute(in, "close-stdin")
			return w.execute(in, "echo")
		}, `Failed to send "environmentExecute" to worker: write EPIPE`, 0, ""},
		{"WMG-14", nil, func(w *world) error { return w.raw("health", nil) }, `No worker registered for plugin "p1"`, 0, ""},
		{"WMG-14 execute", nil, func(w *world) error { in := fixtureLease(w, ""); w.Workers.Stop("p1"); return w.execute(in, "echo") },
			`No worker registered for plugin "p1"`, 0, ""},
		{"WMG-15", nil, func(w *world) error { _ = start(w, "init=refuse"); return start(w) },
			`Worker already registered for plugin "p1" (status: crashed)`, 0, ""},
		{"WMG-16", func(c *host.Config) { c.Ceiling = 1 }, func(w *world) error {
			in := fixtureLease(w, "")
			if err := w.open(in); err != nil {
				return err
			}
			return w.open(in)
		}, `DUPLEX_CHANNEL_ROUTE_BUSY`, 0, ""},
		{"WMG-17 no session", nil, func(w *world) error { return w.open(fixtureLease(w, "open=no-session")) }, `DUPLEX_CHANNEL_OPEN_FAILED`, 0, ""},
		{"WMG-17 wrong route", nil, func(w *world) error { return w.open(fixtureLease(w, "open=wrong-route")) }, `DUPLEX_CHANNEL_OPEN_FAILED`, 0, ""},
		{"WMG-17 null", nil, func(w *world) error { return w.open(fixtureLease(w, "open=null")) }, `DUPLEX_CHANNEL_OPEN_FAILED`, 0, ""},
		{"WMG-17 duplicate", nil, func(w *world) error {
			in := fixtureLease(w, "open=same-session")
			if err := w.open(in); err != nil {
				return err
			}
			err := w.open(in)
			w.await(w.Workers.Get("p1"), worker.Stopped)
			return err
		}, `DUPLEX_CHANNEL_OPEN_FAILED`, 0, ""},
		{"WMG-21", nil, func(w *world) error { return w.execute(fixtureLease(w, ""), "call", "secrets.read") },
			`Host does not handle method "secrets.read"`, -32601, call},
		{"RPC-01", nil, func(w *world) error { w.worker(); return w.raw("initialize", wire.Object{}) }, `Worker already initialized`, -32002, call},
		{"RPC-02", nil, func(w *world) error { w.worker(); return w.raw("dance", wire.Object{}) }, `Unknown method: dance`, -32601, call},
		{"RPC-03", nil, func(w *world) error {
			w.worker("without=environmentSyncIn")
			return second(w.Service.SyncIn(w.t.Context(), environment.SyncInput{LeaseInput: w.acquire(fixtureEnv(""))}))
		}, `environmentSyncIn is not implemented by this plugin`, -32004, call},
		{"RPC-04, PRO-02", nil, func(w *world) error { return bytesTo(w, "{oops") }, `Parse error: Invalid JSON: {oops`, -32700, call},
		{"PRO-02", nil, func(w *world) error { return bytesTo(w, `{"jsonrpc":`) }, `Parse error: Invalid JSON: {"jsonrpc":`, -32700, call},
		{"PRO-03", nil, func(w *world) error { return bytesTo(w, "null") }, `Parse error: Message must be a JSON object`, -32700, call},
		{"PRO-04", nil, func(w *world) error { return bytesTo(w, `{"jsonrpc":"1.0","id":1}`) },
			`Parse error: Invalid or missing jsonrpc version (expected "2.0", got "1.0")`, -32700, call},
	}
}

// bytesTo writes a line to the standard input of a worker process and returns
// the error that it answers with.
func bytesTo(w *world, line string) error {
	run := command(w.t)
	process := exec.CommandContext(w.t.Context(), run.Path, run.Args...)
	process.Stdin = strings.NewReader(line + "\n")
	out, err := process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := process.Start(); err != nil {
		return err
	}
	answer, err := bufio.NewReader(out).ReadBytes('\n')
	_, _ = io.Copy(io.Discard, out)
	if err := errors.Join(err, process.Wait()); err != nil {
		return err
	}
	var m struct {
		ID    json.RawMessage
		Error *wire.Error
	}
	if err := json.Unmarshal(answer, &m); err != nil || string(m.ID) != "null" || m.Error == nil {
		w.t.Fatalf("the worker answered %s (%v)", answer, err)
	}
	return fault.Received(m.Error.Message, m.Error.Code, m.Error.Data, fault.Place{})
}
