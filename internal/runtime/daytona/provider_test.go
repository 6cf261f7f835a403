package daytona

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"errorkb/internal/runtime/daytona/service"
	"errorkb/internal/runtime/wire"
)

func unmarshal(raw json.RawMessage, v any) error { return json.Unmarshal(raw, v) }

const sessionHome = "/tmp/paperclip-adapter-login/00000000-0000-4000-8000-00000000d0e5"

func (x *stage) login(lease, key, home string) (wire.LoginOpenResult, error) {
	var got wire.LoginOpenResult
	err := x.call(wire.MethodLoginOpen, wire.LoginOpenParams{HostRouteID: "login-1", DriverKey: DriverKey, ProviderLeaseID: lease, LoginCommandKey: key, SessionHome: home}, &got)
	return got, err
}

func TestManifestMatchesHooks(t *testing.T) {
	x := begin(t)
	x.worker.stop()
	x.worker = run(t, x.options, x.stderr)
	var ready wire.InitializeResult
	x.must(x.call(wire.MethodInitialize, wire.InitializeParams{Manifest: Manifest()}, &ready))
	for _, method := range []string{
		wire.MethodEnvironmentValidateConfig, wire.MethodEnvironmentProbe, wire.MethodAcquireLease, wire.MethodResumeLease,
		wire.MethodReleaseLease, wire.MethodDestroyLease, wire.MethodRealizeWorkspace, wire.MethodExecute, wire.MethodSyncIn, wire.MethodSyncOut,
		wire.MethodDuplexOpen, wire.MethodDuplexWrite, wire.MethodDuplexStop, wire.MethodDuplexClose,
		wire.MethodLoginOpen, wire.MethodLoginInput, wire.MethodLoginStop, wire.MethodLoginClose,
	} {
		if !slices.Contains(ready.SupportedMethods, method) {
			t.Errorf("%s is not supported", method)
		}
	}
}

func TestValidateAccepts(t *testing.T) {
	x := begin(t)
	for _, config := range []wire.Object{
		{}, {"image": "debian", "cpu": 2, "memory": "4"}, {"snapshot": "s"}, {"livenessTimeoutMs": -1, "autoDeleteInterval": -1, "autoStopInterval": 0},
		{"apiKey": "k", "apiUrl": "https://example.org/api", "timeoutMs": 86_400_000},
	} {
		var got wire.ValidateResult
		x.must(x.call(wire.MethodEnvironmentValidateConfig, wire.ValidateParams{Config: config}, &got))
		if !got.OK || len(got.Errors) > 0 || got.NormalizedConfig["timeoutMs"] == nil {
			t.Errorf("%v: %+v", config, got)
		}
		if config["apiKey"] == nil && got.NormalizedConfig["apiKey"] != nil {
			t.Error("the key of the environment became part of the configuration")
		}
	}
	var got wire.ValidateResult
	x.must(x.call(wire.MethodEnvironmentValidateConfig, wire.ValidateParams{Config: wire.Object{"image": "", "snapshot": "", "timeoutMs": "x", "cpu": -1}}, &got))
	if len(got.Errors) != 5 {
		t.Errorf("not every item is told: %q", got.Errors)
	}
}

func TestAcquire(t *testing.T) {
	x := begin(t)
	x.config["reuseLease"], x.config["image"], x.config["cpu"] = true, "debian:12", 2
	end := x.now.Add(90*time.Minute + time.Second)
	var got wire.LeaseResult
	x.must(x.call(wire.MethodAcquireLease, wire.AcquireParams{Target: x.target(), RunID: "r1", AgentID: "a1", ExecutionWorkspaceID: "w1", RequestedExpiresAt: &end}, &got))
	boxes := x.service.Sandboxes()
	if len(boxes) != 1 {
		t.Fatalf("sandboxes %v", boxes)
	}
	want := map[string]string{"paperclip-provider": "daytona", "paperclip-company-id": "c1", "paperclip-environment-id": "e1", "paperclip-reuse-lease": "true", "paperclip-run-id": "r1"}
	if box := boxes[0]; fmt.Sprint(box.Labels) != fmt.Sprint(want) || box.CPU != 2 || *box.AutoStopInterval != 15 || *box.AutoDeleteInterval != 10080 {
		t.Errorf("sandbox %+v", box)
	}
	home := x.service.Home("sandbox-1")
	m := got.Metadata
	if got.ProviderLeaseID != "sandbox-1" || m["remoteCwd"] != home+"/paperclip-workspace" || m["sandboxId"] != "sandbox-1" || m["shellCommand"] != "bash" || got.ExpiresAt == nil {
		t.Errorf("lease %+v", got)
	}
	if info, err := os.Stat(home + "/paperclip-workspace"); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("workspace %v, %v", info, err)
	}
	if data, err := os.ReadFile(home + "/paperclip-workspace/.paperclip-runtime/reusable-sandbox-lease.json"); err != nil || !bytes.Contains(data, []byte(`"token":"`)) || bytes.Contains(data, []byte("w1")) {
		t.Errorf("sentinel %s, %v", data, err)
	}
}

// TestAcquireCleansUp fails each step of an acquire: no sandbox may stay.
func TestAcquireCleansUp(t *testing.T) {
	for _, operation := range []string{"toolbox.workdir", "files.folder", "toolbox.execute", "files.upload"} {
		t.Run(operation, func(t *testing.T) {
			x := begin(t)
			x.config["reuseLease"] = true
			x.breaks(service.Fault{Operation: operation, Kind: service.KindStatus, Message: "broken " + operation})
			if _, err := x.acquire(); err == nil || err.Error() != "broken "+operation {
				t.Errorf("got %v", err)
			}
			if left := x.service.Sandboxes(); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

func TestExecute(t *testing.T) {
	x := begin(t)
	l := x.lease()
	for _, bypass := range []bool{true, false} {
		q := x.executeParams(l, `echo "$1 $GREETING"; pwd; cat; echo err >&2; exit 5`)
		input := "from stdin\nit's 'quoted' $HOME\n"
		q.Args = append(q.Args, "sh", `a 'b' "c" $d`)
		q.Env, q.Stdin, q.BypassSession = map[string]string{"GREETING": "hel'lo"}, &input, bypass
		got, err := x.send(q)
		x.must(err)
		want := `a 'b' "c" $d hel'lo` + "\n" + l.Metadata["remoteCwd"].(string) + "\n" + input
		stderr := "err\n"
		if bypass {
			want, stderr = want+"err\n", ""
		}
		if got.Stdout != want || got.Stderr != stderr || got.ExitCode == nil || *got.ExitCode != 5 || got.TimedOut {
			t.Errorf("bypass %v: %+v", bypass, got)
		}
	}
	if left, _ := os.ReadDir(x.service.Scratch()); len(left) > 0 {
		t.Errorf("input files are left: %v", left)
	}
	live := map[string]string{}
	x.worker.mu.Lock()
	for _, m := range x.worker.events {
		var e wire.ExecuteLog
		if m.Method == wire.NotifyExecuteLog && json.Unmarshal(m.Params, &e) == nil && m.InvocationID != "" {
			live[e.Stream] += e.Chunk
		}
	}
	x.worker.mu.Unlock()
	if !strings.Contains(live["stdout"], "from stdin") || live["stderr"] != "err\n" {
		t.Errorf("live output %q", live)
	}
	if x.called("session.create") != 1 {
		t.Error("not one session")
	}
}

// TestSessionLog breaks the log of a command: the result has to be whole.
func TestSessionLog(t *testing.T) {
	for _, times := range []int{0, 1, 2} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			x := begin(t)
			l := x.lease()
			if times > 0 {
				x.breaks(service.Fault{Operation: "session.logs", Kind: service.KindStatus, Times: times})
			}
			q := x.executeParams(l, "for i in 1 2 3 4 5; do echo line $i; done; printf 'h\\303\\251 \\377'; exit 2")
			q.BypassSession = false
			got, err := x.send(q)
			x.must(err)
			if got.Stdout != "line 1\nline 2\nline 3\nline 4\nline 5\nhé \uFFFD" || *got.ExitCode != 2 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestCutLog breaks the log off in its middle. What is sent again must not be
// in the output twice.
func TestCutLog(t *testing.T) {
	for _, times := range []int{1, 2} {
		x := begin(t)
		l := x.lease()
		x.breaks(service.Fault{Operation: "session.logs", Kind: service.KindCut, Times: times})
		q := x.executeParams(l, "echo one; echo err >&2; echo two; exit 4")
		q.BypassSession = false
		got, err := x.send(q)
		x.must(err)
		if got.Stdout != "one\ntwo\n" || got.Stderr != "err\n" || *got.ExitCode != 4 {
			t.Errorf("cut %d times: %+v", times, got)
		}
	}
}

// TestReleaseWaits lets a release come while a command runs: the command ends
// first.
func TestReleaseWaits(t *testing.T) {
	x := begin(t)
	l := x.lease()
	x.restart()
	x.breaks(service.Fault{Operation: "sandbox.get", Kind: service.KindHang, Times: 1})
	ended := make(chan error, 2)
	go func() { ended <- x.execute(l, "true") }()
	x.must(x.service.WaitHanging(x.ctx, 1))
	before := x.called("sandbox.get")
	go func() { _, err := x.release(l); ended <- err }()
	x.must(x.service.WaitCall(x.ctx, "sandbox.get", before+1)) // the release has begun
	for range 50 {
		var got wire.ProbeResult // time enough for a release that does not wait
		x.config["image"], x.config["snapshot"] = "a", "b"
		x.must(x.call(wire.MethodEnvironmentProbe, wire.ProbeParams{Target: x.target()}, &got))
	}
	if n := x.called("sandbox.delete"); n > 0 {
		t.Error("the sandbox was deleted under the command")
	}
	x.service.Mend("")
	x.must(<-ended)
	x.must(<-ended)
	order := ""
	for _, c := range x.service.Calls() {
		if c.Operation == "sandbox.delete" || c.Operation == "toolbox.execute" {
			order += c.Operation + " "
		}
	}
	if !strings.HasSuffix(order, "toolbox.execute sandbox.delete ") {
		t.Errorf("order is %s", order)
	}
}

func TestReleaseOfAnotherSandbox(t *testing.T) {
	x := begin(t)
	l := x.lease()
	x.breaks(service.Fault{Operation: "sandbox.get", Kind: service.KindWrongID, ID: "sandbox-2"})
	_, err := x.release(l)
	if err == nil || err.Error() != "Daytona sandbox handle mismatch: handle sandbox-2 does not belong to lease sandbox-1." {
		t.Errorf("got %v", err)
	}
	if x.called("sandbox.delete") > 0 {
		t.Error("a sandbox was deleted")
	}
}

func TestSessionAfterTimeoutAndExit(t *testing.T) {
	x := begin(t)
	l := x.lease()
	q := x.executeParams(l, "sleep 1000")
	q.BypassSession, q.TimeoutMs = false, 1
	if got, err := x.send(q); err != nil || !got.TimedOut {
		t.Errorf("got %+v, %v", got, err)
	}
	q = x.executeParams(l, "kill -9 $PPID; echo over")
	q.BypassSession = false
	_, _ = x.send(q) // ends the shell of its session, one way or the other
	q = x.executeParams(l, "echo again")
	q.BypassSession = false
	if got, err := x.send(q); err != nil || got.Stdout != "again\n" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestReleaseAndResume(t *testing.T) {
	x := begin(t)
	x.config["reuseLease"] = true
	l := x.lease()
	x.must(x.execute(l, "echo kept >file"))
	receipt, err := x.release(l)
	x.must(err)
	if receipt.State != "stopped" || receipt.ProviderLeaseID != l.ProviderLeaseID {
		t.Errorf("receipt %+v", receipt)
	}
	got, err := x.resume(l)
	x.must(err)
	if got.ProviderLeaseID != l.ProviderLeaseID || got.Metadata["workspaceSentinel"].(map[string]any)["status"] != "matched" {
		t.Errorf("resumed %+v", got)
	}
	result, err := x.send(x.executeParams(l, "cat file"))
	x.must(err)
	if result.Stdout != "kept\n" {
		t.Errorf("got %+v", result)
	}
	// Another workspace lies in the sandbox.
	x.must(x.execute(l, "echo '{\"version\":1,\"token\":\"other\"}' >.paperclip-runtime/reusable-sandbox-lease.json"))
	_, err = x.release(l)
	x.must(err)
	got, err = x.resume(l)
	x.must(err)
	if got.ProviderLeaseID != "" || got.Metadata["workspaceSentinel"].(map[string]any)["status"] != "mismatched" {
		t.Errorf("resumed %+v", got)
	}
	if err := x.execute(l, "true"); err == nil {
		t.Error("the lease is admitted although it was not resumed")
	}
	x.must(x.service.Remove("sandbox-1"))
	got, err = x.resume(l)
	x.must(err)
	if got.ProviderLeaseID != "" || got.Metadata["expired"] != true {
		t.Errorf("resumed %+v", got)
	}
	receipt, err = x.release(l)
	x.must(err)
	if receipt.State != "destroyed" {
		t.Errorf("receipt %+v", receipt)
	}
}

func TestReleaseKinds(t *testing.T) {
	for _, c := range []struct {
		config        wire.Object
		method, state string
		left          string
	}{
		{wire.Object{}, wire.MethodReleaseLease, "destroyed", ""},
		{wire.Object{"archiveOnRelease": true}, wire.MethodReleaseLease, "stopped", "archived"},
		{wire.Object{"reuseLease": true}, wire.MethodReleaseLease, "stopped", "stopped"},
		{wire.Object{"reuseLease": true}, wire.MethodDestroyLease, "destroyed", ""},
	} {
		x := begin(t)
		x.config = c.config
		l := x.lease()
		var got wire.Receipt
		x.must(x.call(c.method, x.leaseParams(l), &got))
		left := ""
		for _, box := range x.service.Sandboxes() {
			left += box.State
		}
		if got.State != c.state || left != c.left {
			t.Errorf("%v %s: receipt %s, left %q", c.config, c.method, got.State, left)
		}
	}
	x := begin(t)
	if got, err := x.release(wire.LeaseResult{}); err != nil || got != nil {
		t.Errorf("release of nothing gave %+v, %v", got, err)
	}
	// A failed delete reaches the host, and the next release works.
	l := x.lease()
	x.breaks(service.Fault{Operation: "sandbox.delete", Kind: service.KindStatus, Message: "busy", Times: 1})
	if _, err := x.release(l); err == nil || err.Error() != "busy" {
		t.Errorf("got %v", err)
	}
	if got, err := x.release(l); err != nil || got.State != "destroyed" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestSessionDeleteWarning(t *testing.T) { // DAY-28
	x := begin(t)
	x.config["reuseLease"] = true
	l := x.lease()
	q := x.executeParams(l, "true")
	q.BypassSession = false
	_, err := x.send(q)
	x.must(err)
	x.breaks(service.Fault{Operation: "session.delete", Kind: service.KindStatus, Message: "stuck"})
	_, err = x.release(l)
	x.must(err)
	if line := x.stderr.String(); !strings.HasPrefix(line, "Failed to delete Daytona session paperclip-") || !strings.HasSuffix(line, " during teardown: stuck\n") {
		t.Errorf("stderr is %q", line)
	}
}

func TestColdCacheIsFilledOnce(t *testing.T) {
	x := begin(t)
	l := x.lease()
	x.restart()
	before := x.called("sandbox.get")
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			if err := x.execute(l, "true"); err != nil {
				t.Errorf("execute: %v", err)
			}
		})
	}
	calls.Wait()
	if n := x.called("sandbox.get") - before; n != 1 {
		t.Errorf("%d fetches", n)
	}
	// A failed fetch is not kept.
	x.restart()
	x.breaks(service.Fault{Operation: "sandbox.get", Kind: service.KindStatus, Message: "not now", Times: 1})
	if err := x.execute(l, "true"); err == nil || err.Error() != "not now" {
		t.Errorf("got %v", err)
	}
	x.must(x.execute(l, "true"))
	// A stopped sandbox is started by the first operation.
	x.must(x.service.SetState("sandbox-1", "stopped", "", false))
	x.later(8 * time.Minute)
	x.must(x.execute(l, "true"))
	if x.service.Sandboxes()[0].State != "started" {
		t.Error("it was not started")
	}
	x.must(x.service.SetState("sandbox-1", "error", "tired", true))
	x.later(8 * time.Minute)
	x.must(x.execute(l, "true"))
	if x.service.Sandboxes()[0].State != "started" {
		t.Error("it was not recovered")
	}
}

// TestServiceFaults breaks each operation that a command needs, in every way:
// the call has to end, and when the service is mended the next one works.
func TestServiceFaults(t *testing.T) {
	x := begin(t)
	l := x.lease()
	input := "in"
	for _, operation := range []string{
		"sandbox.get", "toolbox.execute", "files.upload", "files.delete", "session.create", "session.exec", "session.logs", "session.command",
	} {
		for _, kind := range []string{service.KindStatus, service.KindReset, service.KindGarbage} {
			x.later(time.Hour) // the state of the sandbox has to be looked at
			x.breaks(service.Fault{Operation: operation, Kind: kind})
			for _, bypass := range []bool{true, false} {
				q := x.executeParams(l, "cat; exit 3")
				q.Stdin, q.BypassSession = &input, bypass
				got, err := x.send(q)
				if err == nil && (got.Stdout != "in" || *got.ExitCode != 3) {
					t.Errorf("%s %s: %+v", operation, kind, got)
				}
			}
			x.service.Mend("")
			q := x.executeParams(l, "echo works")
			q.BypassSession = false
			if got, err := x.send(q); err != nil || got.Stdout != "works\n" {
				t.Errorf("after %s %s: %+v, %v", operation, kind, got, err)
			}
			if n := x.called(operation); n == 0 {
				t.Errorf("%s was never called", operation)
			}
		}
	}
}

// TestHangsEnd lets the service hang in the middle of the end of a worker: the
// worker ends nevertheless.
func TestHangsEnd(t *testing.T) {
	x := begin(t)
	x.options.KillTimeout = 20 * time.Millisecond
	x.restart()
	l := x.lease()
	q := x.executeParams(l, "true")
	q.BypassSession = false
	_, err := x.send(q)
	x.must(err)
	c, err := x.open(string(l.ProviderLeaseID), "cat")
	x.must(err)
	x.breaks(service.Fault{Operation: "*", Kind: service.KindHang})
	if pair := c.close(); pair != c.pair {
		t.Errorf("close answered %+v", pair)
	}
	x.worker.stop()
}
