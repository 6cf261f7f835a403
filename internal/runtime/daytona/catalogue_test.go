package daytona

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"errorkb/internal/runtime/daytona/service"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

// row is one message of the catalogue and a way to it: raise returns the error
// of a call, or, for a text that is not an error of a call, an error with
// that text made by the test from where the text was seen.
type row struct {
	id, text string
	file     string // that raises it; "" when the text is not an error of a call
	raise    func(x *stage) error
}

// seen is a text that was seen elsewhere than in an error.
func seen(text string) error { return errors.New(text) }

// item validates a configuration and returns the one item that is wrong.
func item(config wire.Object) func(x *stage) error {
	return func(x *stage) error {
		var got wire.ValidateResult
		x.must(x.call(wire.MethodEnvironmentValidateConfig, wire.ValidateParams{DriverKey: DriverKey, Config: config}, &got))
		if got.OK {
			x.t.Error("the configuration was accepted")
		}
		return seen(strings.Join(got.Errors, "|"))
	}
}

var rows = []row{
	{"DAY-01", "Daytona sandbox environments require an API key in config or DAYTONA_API_KEY.", "daytona/daytona.go", func(x *stage) error {
		delete(x.env, "DAYTONA_API_KEY")
		_, err := x.acquire()
		return err
	}},
	{"DAY-01", "Daytona sandbox environments require an API key in config or DAYTONA_API_KEY.", "", func(x *stage) error {
		delete(x.env, "DAYTONA_API_KEY")
		return item(wire.Object{})(x)
	}},
	{"DAY-02", "Daytona duplex channel: no cached sandbox resolves the provider lease.", "daytona/duplex.go", func(x *stage) error {
		l := x.lease()
		x.restart()
		_, err := x.open(string(l.ProviderLeaseID), "cat")
		return err
	}},
	{"DAY-02", "Daytona duplex channel: no cached sandbox resolves the provider lease.", "daytona/duplex.go", func(x *stage) error {
		l := x.lease()
		if _, err := x.release(l); err != nil {
			return err
		}
		_, err := x.open(string(l.ProviderLeaseID), "cat")
		return err
	}},
	{"DAY-03", "The duplex channel launch command needs at least one argument.", "daytona/duplex.go", func(x *stage) error {
		l := x.lease()
		_, err := x.open(string(l.ProviderLeaseID))
		if x.called("terminal.create") > 0 {
			x.t.Error("a terminal was made for it")
		}
		return err
	}},
	{"DAY-04", "Failed to stop Daytona sandbox during lease release: no room. Attempting delete instead.", "", func(x *stage) error {
		x.config["reuseLease"] = true
		l := x.lease()
		x.breaks(service.Fault{Operation: "sandbox.stop", Kind: service.KindStatus, Message: "no room"})
		receipt, err := x.release(l)
		if err != nil || receipt.State != wire.ReceiptDestroyed || len(x.service.Sandboxes()) > 0 {
			x.t.Errorf("receipt %+v, %v, sandboxes %v", receipt, err, x.service.Sandboxes())
		}
		return seen(x.stderr.String())
	}},
	{"DAY-06", "Failed to archive Daytona sandbox during lease release: no room. Falling back to delete.", "", func(x *stage) error {
		x.config["archiveOnRelease"] = true
		l := x.lease()
		x.breaks(service.Fault{Operation: "sandbox.archive", Kind: service.KindStatus, Message: "no room"})
		receipt, err := x.release(l)
		if err != nil || receipt.State != wire.ReceiptDestroyed || len(x.service.Sandboxes()) > 0 {
			x.t.Errorf("receipt %+v, %v, sandboxes %v", receipt, err, x.service.Sandboxes())
		}
		return seen(x.stderr.String())
	}},
	{"DAY-07", "Daytona login pseudo-terminal: no cached sandbox resolves the provider lease.", "daytona/login.go", func(x *stage) error {
		_, err := x.login("sandbox-1", "claude", sessionHome)
		return err
	}},
	{"DAY-08", "write_error", "", func(x *stage) error {
		l := x.lease()
		x.breaks(service.Fault{Operation: "terminal.connect", Kind: service.KindDropInput})
		c, err := x.open(string(l.ProviderLeaseID), "sh", "-c", "echo ready-; exec sleep 1000")
		x.must(err)
		c.until("ready-\n")
		if x.service.Terminals("sandbox-1") != 1 {
			x.t.Error("there is no terminal")
		}
		c.write(make([]byte, 262_144)) // an error of it ends the test
		if exit := c.exit(); exit != "lost" {
			x.t.Errorf("exit %s", exit)
		}
		x.must(x.service.WaitCall(x.ctx, "terminal.kill", 1))
		if x.service.Terminals("sandbox-1") != 0 {
			x.t.Error("the terminal lives")
		}
		c.write([]byte("dropped")) // queued writes are dropped without an error
		if n := x.called("terminal.kill"); n != 1 {
			x.t.Errorf("killed %d times", n)
		}
		logged := x.wait("log", func(m *wire.Message) bool { return m.Method == wire.NotifyLog })
		var entry wire.LogEntry
		x.must(unmarshal(logged.Params, &entry))
		return seen(entry.Message)
	}},
	{"DAY-09", "Daytona sandbox sandbox-1 is in an unrecoverable error state: disk full", "daytona/sandbox.go", func(x *stage) error {
		l := x.lease()
		x.must(x.service.SetState("sandbox-1", "error", "disk full", false))
		x.later(time.Hour)
		return x.execute(l, "true")
	}},
	{"DAY-09", "Daytona sandbox sandbox-1 is in an unrecoverable error state: unknown error", "daytona/sandbox.go", func(x *stage) error {
		l := x.lease()
		x.must(x.service.SetState("sandbox-1", "error", "", false))
		x.restart()
		return x.execute(l, "true")
	}},
	{"DAY-10", "Daytona sandbox lease sandbox-1 is no longer active.", "daytona/gates.go", func(x *stage) error {
		x.config["reuseLease"] = true
		l := x.lease()
		_, err := x.release(l)
		x.must(err)
		return x.execute(l, "true")
	}},
	{"DAY-10", "Daytona sandbox lease sandbox-1 is no longer active.", "daytona/gates.go", func(x *stage) error {
		l := x.lease()
		x.must(x.call(wire.MethodDestroyLease, x.leaseParams(l), nil))
		return x.call(wire.MethodRealizeWorkspace, wire.RealizeParams{Target: x.target(), Lease: wire.Lease{ProviderLeaseID: l.ProviderLeaseID}}, nil)
	}},
	{"DAY-11", "Daytona sandbox handle mismatch: handle sandbox-2 does not belong to lease sandbox-1.", "daytona/cache.go", func(x *stage) error {
		l := x.lease()
		x.restart()
		x.breaks(service.Fault{Operation: "sandbox.get", Kind: service.KindWrongID, ID: "sandbox-2", Times: 1})
		err := x.execute(l, "true")
		if again := x.execute(l, "true"); again != nil {
			x.t.Errorf("the wrong handle was kept: %v", again)
		}
		return err
	}},
	{"DAY-11", "Daytona sandbox handle mismatch: handle sandbox-2 does not belong to lease sandbox-1.", "daytona/cache.go", func(x *stage) error {
		l := x.lease()
		x.breaks(service.Fault{Operation: "sandbox.get", Kind: service.KindWrongID, ID: "sandbox-2"})
		x.later(time.Hour)
		return x.execute(l, "true")
	}},
	{"DAY-12", "The stopped Daytona sandbox is still settling cancelled work. Retry shortly.", "daytona/gates.go", func(x *stage) error {
		x.config["reuseLease"] = true
		l := x.lease()
		x.breaks(service.Fault{Operation: "session.create", Kind: service.KindHang})
		q := x.executeParams(l, "sleep 1000")
		q.BypassSession = false
		running := make(chan error, 1)
		go func() { _, err := x.send(q); running <- err }()
		x.must(x.service.WaitHanging(x.ctx, 1))
		cancel := x.leaseParams(l)
		cancel.CancelActiveWork = true
		x.must(x.call(wire.MethodReleaseLease, cancel, nil))
		_, err := x.resume(l)
		x.service.Mend("")
		if failed := <-running; failed == nil {
			x.t.Error("the cancelled command did not fail")
		}
		if _, err := x.resume(l); err != nil {
			x.t.Errorf("resume after it has settled: %v", err)
		}
		return err
	}},
	{"DAY-13", `Daytona sandbox liveness call "sandbox.refreshData" did not respond within 20 ms; the sandbox connection is unresponsive.`, "daytona/sandbox.go", func(x *stage) error {
		x.config["livenessTimeoutMs"], x.config["autoStopInterval"] = 20, 0
		l := x.lease()
		x.breaks(service.Fault{Operation: "sandbox.get", Kind: service.KindHang})
		return x.execute(l, "true")
	}},
	{"DAY-13", `Daytona sandbox liveness call "sandbox.start" did not respond within 1001 ms; the sandbox connection is unresponsive.`, "daytona/sandbox.go", func(x *stage) error {
		x.config["timeoutMs"] = 1
		l := x.lease()
		x.must(x.service.SetState("sandbox-1", "stopped", "", false))
		x.breaks(service.Fault{Operation: "sandbox.start", Kind: service.KindHang})
		x.restart()
		return x.execute(l, "true")
	}},
	{"DAY-13", `Daytona sandbox liveness call "sandbox.recover" did not respond within 1001 ms; the sandbox connection is unresponsive.`, "daytona/sandbox.go", func(x *stage) error {
		x.config["timeoutMs"] = 1
		l := x.lease()
		x.must(x.service.SetState("sandbox-1", "error", "tired", true))
		x.breaks(service.Fault{Operation: "sandbox.recover", Kind: service.KindHang})
		x.restart()
		return x.execute(l, "true")
	}},
	{"DAY-14", "Invalid sandbox environment variable key: A-B", "daytona/execute.go", func(x *stage) error {
		q := x.executeParams(x.lease(), "true")
		q.Env = map[string]string{"GOOD": "1", "A-B": "2"}
		_, err := x.send(q)
		return err
	}},
	{"DAY-19", "Daytona resource settings require image-backed sandbox creation; snapshot/default sandbox creation cannot override CPU, memory, disk, or GPU.", "",
		item(wire.Object{"snapshot": "s", "cpu": 2})},
	{"DAY-20", "Daytona resource settings require image-backed sandbox creation; default sandbox creation cannot override CPU, memory, disk, or GPU.", "daytona/acquire.go", func(x *stage) error {
		x.config["memory"] = 4
		_, err := x.acquire()
		return err
	}},
	{"DAY-21.1", "Daytona image cannot be empty.", "", item(wire.Object{"image": "  "})},
	{"DAY-21.2", "Daytona snapshot cannot be empty.", "", item(wire.Object{"snapshot": ""})},
	{"DAY-21.3", "Daytona sandbox environments must set either image or snapshot, not both.", "", item(wire.Object{"image": "a", "snapshot": "b"})},
	{"DAY-21.4", "apiUrl must be a valid URL.", "", item(wire.Object{"apiUrl": "not a url"})},
	{"DAY-21.5", "timeoutMs must be between 1 and 86400000.", "", item(wire.Object{"timeoutMs": 0})},
	{"DAY-21.6", "livenessTimeoutMs must be less than or equal to 86400000.", "", item(wire.Object{"livenessTimeoutMs": 86_400_001})},
	{"DAY-21.7", "autoStopInterval must be greater than or equal to 0.", "", item(wire.Object{"autoStopInterval": -1})},
	{"DAY-21.8", "autoArchiveInterval must be greater than or equal to 0.", "", item(wire.Object{"autoArchiveInterval": -1})},
	{"DAY-21.9", "autoDeleteInterval must be greater than or equal to -1.", "", item(wire.Object{"autoDeleteInterval": -2})},
	{"DAY-21.10", "gpu must be greater than 0 when provided.", "", item(wire.Object{"image": "a", "gpu": 0})},
	{"DAY-21.10", "cpu must be greater than 0 when provided.", "", item(wire.Object{"image": "a", "cpu": "many"})},
	{"DAY-22", "Command timed out after 1 s.", "", func(x *stage) error {
		q := x.executeParams(x.lease(), "sleep 1000")
		q.TimeoutMs = 1
		got, err := x.send(q)
		x.must(err)
		if !got.TimedOut || got.ExitCode != nil {
			x.t.Errorf("result %+v", got)
		}
		return seen(got.Stderr)
	}},
	{"DAY-22", "Command timed out after 1 s.", "", func(x *stage) error {
		q := x.executeParams(x.lease(), "echo begun; sleep 1000")
		q.TimeoutMs, q.BypassSession = 1000, false
		got, err := x.send(q)
		x.must(err)
		if !got.TimedOut || got.ExitCode != nil || got.Stdout != "begun\n" {
			x.t.Errorf("result %+v", got)
		}
		return seen(got.Stderr)
	}},
	{"DAY-24", "No provider lease ID available for execution.", "", func(x *stage) error {
		got, err := x.send(x.executeParams(wire.LeaseResult{}, "true"))
		x.must(err)
		if got.ExitCode == nil || *got.ExitCode != 1 {
			x.t.Errorf("result %+v", got)
		}
		return seen(got.Stderr)
	}},
	{"DAY-25", "Daytona sandbox probe failed.", "", func(x *stage) error {
		x.breaks(service.Fault{Operation: "sandbox.create", Kind: service.KindStatus, Message: "closed today"})
		var got wire.ProbeResult
		x.must(x.call(wire.MethodEnvironmentProbe, wire.ProbeParams{Target: x.target()}, &got))
		if got.OK || got.Metadata["error"] != "closed today" {
			x.t.Errorf("result %+v", got)
		}
		return seen(got.Summary)
	}},
	{"DAY-33", "LOGIN_PTY_DESCRIPTOR_REJECTED", "daytona/login.go", func(x *stage) error {
		_, err := x.login(string(x.lease().ProviderLeaseID), "bash", sessionHome)
		return err
	}},
	{"DAY-33", "LOGIN_PTY_DESCRIPTOR_REJECTED", "daytona/login.go", func(x *stage) error {
		_, err := x.login(string(x.lease().ProviderLeaseID), "claude", "/tmp/x")
		return err
	}},
	{"API-01", "PTY connection timeout", "daytona/client/terminal.go", connectFault(service.Fault{Kind: service.KindSilent})},
	{"API-02", "Connection failed", "daytona/client/terminal.go", connectFault(service.Fault{Kind: service.KindShut})},
	{"API-03", "PTY is not connected", "daytona/client/terminal.go", func(x *stage) error {
		os.RemoveAll(sessionHome)
		defer os.Remove(filepath.Dir(sessionHome)) // only when empty
		defer os.RemoveAll(sessionHome)
		l := x.lease()
		x.breaks(service.Fault{Operation: "terminal.connect", Kind: service.KindShutConnected})
		_, err := x.login(string(l.ProviderLeaseID), "claude", sessionHome)
		return err
	}},
	{"API-05", "Unknown connection error", "daytona/client/terminal.go", connectFault(service.Fault{Kind: service.KindRefuse})},
	{"API-06", "WebSocket connection error", "daytona/client/terminal.go", connectFault(service.Fault{Kind: service.KindStatus})},
}

// connectFault opens a channel whose terminal cannot be connected. The
// terminal must not stay.
func connectFault(f service.Fault) func(x *stage) error {
	return func(x *stage) error {
		if f.Kind == service.KindSilent {
			x.options.ConnectTimeout = 20 * time.Millisecond
			x.restart()
		}
		l := x.lease()
		f.Operation = "terminal.connect"
		x.breaks(f)
		_, err := x.open(string(l.ProviderLeaseID), "cat")
		if n := x.service.Terminals("sandbox-1"); n != 0 {
			x.t.Errorf("%d terminals are left", n)
		}
		return err
	}
}

// mustRows are the rows of the catalogue that have to be here.
var mustRows = strings.Fields(`DAY-01 DAY-02 DAY-03 DAY-04 DAY-06 DAY-08 DAY-09 DAY-10 DAY-11 DAY-13 DAY-14 DAY-19 DAY-20
	DAY-21.1 DAY-21.2 DAY-21.3 DAY-21.4 DAY-21.5 DAY-21.6 DAY-21.7 DAY-21.8 DAY-21.9 DAY-21.10 DAY-24 API-01 API-02 API-03`)

func TestCatalogue(t *testing.T) {
	var have []string
	for _, r := range rows {
		have = append(have, r.id)
		t.Run(r.id, func(t *testing.T) {
			err := r.raise(begin(t))
			if err == nil || strings.TrimSuffix(err.Error(), "\n") != r.text {
				t.Fatalf("got  %v\nwant %s", err, r.text)
			}
			if r.file == "" {
				return
			}
			e := fault.As(err)
			if e == nil || e.Code != wire.CodeWorkerError || e.Class != fault.ClassCall || e.Origin.File != r.file {
				t.Errorf("got %+v, want an error of %s", e, r.file)
			}
		})
	}
	for _, id := range mustRows {
		if !slices.Contains(have, id) {
			t.Errorf("%s has no test", id)
		}
	}
}

// TestGuardOrder meets two guards at once: the first decides.
func TestGuardOrder(t *testing.T) {
	for _, c := range []struct {
		first, second, text string
		raise               func(x *stage) error
	}{
		{"DAY-20", "DAY-01", msgResourcesDefault, func(x *stage) error {
			delete(x.env, "DAYTONA_API_KEY")
			x.config["cpu"] = 1
			_, err := x.acquire()
			return err
		}},
		{"DAY-02", "DAY-03", msgNoDuplexSandbox, func(x *stage) error { _, err := x.open("sandbox-1"); return err }},
		{"DAY-02", "API", msgNoDuplexSandbox, func(x *stage) error { _, err := x.open("", "cat"); return err }},
		{"DAY-07", "DAY-33", msgNoLoginSandbox, func(x *stage) error { _, err := x.login("sandbox-1", "bash", "/"); return err }},
		{"DAY-16", "DAY-15", msgSyncInLease, func(x *stage) error {
			_, err := x.sync(wire.MethodSyncIn, wire.LeaseResult{}, wire.SyncOperation{})
			return err
		}},
		{"DAY-15", "DAY-10", msgNoRemoteDir, func(x *stage) error {
			l := x.lease()
			_, err := x.release(l)
			x.must(err)
			_, err = x.sync(wire.MethodSyncOut, wire.LeaseResult{ProviderLeaseID: l.ProviderLeaseID})
			return err
		}},
		{"DAY-10", "DAY-14", "Daytona sandbox lease sandbox-1 is no longer active.", func(x *stage) error {
			l := x.lease()
			_, err := x.release(l)
			x.must(err)
			q := x.executeParams(l, "true")
			q.Env = map[string]string{"A-B": ""}
			_, err = x.send(q)
			return err
		}},
		{"DAY-11", "DAY-09", "Daytona sandbox handle mismatch: handle sandbox-2 does not belong to lease sandbox-1.", func(x *stage) error {
			l := x.lease()
			x.must(x.service.SetState("sandbox-1", "error", "", false))
			x.breaks(service.Fault{Operation: "sandbox.get", Kind: service.KindWrongID, ID: "sandbox-2"})
			x.restart()
			return x.execute(l, "true")
		}},
		{"DAY-09", "DAY-14", "Daytona sandbox sandbox-1 is in an unrecoverable error state: worn out", func(x *stage) error {
			l := x.lease()
			x.must(x.service.SetState("sandbox-1", "error", "worn out", false))
			x.restart()
			q := x.executeParams(l, "true")
			q.Env = map[string]string{"A-B": ""}
			_, err := x.send(q)
			return err
		}},
	} {
		t.Run(c.first+" before "+c.second, func(t *testing.T) {
			if err := c.raise(begin(t)); err == nil || err.Error() != c.text {
				t.Errorf("got  %v\nwant %s", err, c.text)
			}
		})
	}
	x := begin(t)
	delete(x.env, "DAYTONA_API_KEY")
	all := item(wire.Object{
		"image": "", "snapshot": "", "apiUrl": "x", "timeoutMs": 0, "livenessTimeoutMs": 1e9, "autoStopInterval": -1,
		"autoArchiveInterval": -1, "autoDeleteInterval": -2, "cpu": 0, "memory": 0, "disk": 0, "gpu": 0,
	})(x)
	want := strings.Join([]string{
		msgEmptyImage, msgEmptySnapshot, msgURL, msgTimeout, msgLiveness, msgAutoStop, msgAutoArchive, msgAutoDelete,
		"cpu must be greater than 0 when provided.", "memory must be greater than 0 when provided.",
		"disk must be greater than 0 when provided.", "gpu must be greater than 0 when provided.", msgResources, msgNoKey,
	}, "|")
	if all.Error() != want {
		t.Errorf("items are\n%s\nwant\n%s", all, want)
	}
}
