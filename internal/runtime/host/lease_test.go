//go:build unix

package host_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"errorkb/internal/runtime/capability"
	"errorkb/internal/runtime/environment"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/fixture"
	"errorkb/internal/runtime/host"
	"errorkb/internal/runtime/lease"
	"errorkb/internal/runtime/plugin"
	"errorkb/internal/runtime/sdk"
	"errorkb/internal/runtime/wire"
	"errorkb/internal/runtime/worker"
)

func reusableEnv(behaviour string) environment.Environment {
	e := fixtureEnv(behaviour)
	e.Config["reuseLease"] = true
	return e
}

func (w *world) release(in environment.LeaseInput, status lease.Status) lease.Lease {
	w.t.Helper()
	l, err := w.Service.Release(w.t.Context(), environment.ReleaseInput{LeaseInput: in, Status: status})
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

func outcome(l lease.Lease) any { return l.Metadata["sandboxLeaseAcquisition"] }

func TestReuse(t *testing.T) {
	w := newWorld(t, nil)
	w.worker()
	first := w.acquire(reusableEnv(""))
	if first.Lease.Policy != lease.ReuseByEnvironment || first.Lease.ProviderLeaseID != "fx-1" {
		t.Fatalf("lease %+v", first.Lease)
	}
	w.release(first, lease.Released)
	again := w.acquire(reusableEnv(""))
	if again.Lease.ID != first.Lease.ID || again.Lease.Status != lease.Active || again.Lease.ReleasedAt != nil {
		t.Errorf("lease %+v", again.Lease)
	}
	if diff := cmp.Diff(any(map[string]any{"outcome": "resumed"}), outcome(again.Lease)); diff != "" {
		t.Error(diff)
	}

	// Another configuration makes another sandbox and ends the old one.
	w.release(again, lease.Released)
	changed := reusableEnv("")
	changed.Config["image"] = "other"
	third := w.acquire(changed)
	old, _ := w.Leases.Get(first.Lease.ID)
	if third.Lease.ProviderLeaseID != "fx-2" || old.Status != lease.Expired || old.FailureReason != lease.ReasonFingerprintMismatch {
		t.Errorf("new %s, old %s %s", third.Lease.ProviderLeaseID, old.Status, old.FailureReason)
	}

	// Another agent gets a sandbox of its own.
	w.release(third, lease.Released)
	other := input(changed)
	other.AgentID = "agent-2"
	if got, err := w.Service.Acquire(t.Context(), other); err != nil || got.Lease.ID == third.Lease.ID {
		t.Errorf("another agent got %s, %v", got.Lease.ID, err)
	}
}

func TestResumeOfWhatIsGone(t *testing.T) {
	w := newWorld(t, nil)
	w.worker()
	first := w.acquire(reusableEnv("resume=gone"))
	w.release(first, lease.Released)
	second := w.acquire(reusableEnv("resume=gone"))
	if diff := cmp.Diff(any(map[string]any{"outcome": "replacement", "reason": "expired"}), outcome(second.Lease)); diff != "" {
		t.Error(diff)
	}
	if old, _ := w.Leases.Get(first.Lease.ID); old.Status != lease.Expired || second.Lease.ID == first.Lease.ID {
		t.Errorf("the old lease is %s", old.Status)
	}
}

func TestFailedResumeKeepsTheLease(t *testing.T) {
	w := newWorld(t, nil)
	w.worker()
	first := w.acquire(reusableEnv("resume=fail:quota used up"))
	w.release(first, lease.Released)
	_, err := w.Service.Acquire(t.Context(), input(reusableEnv("resume=fail:quota used up")))
	if cause := errors.Unwrap(err); cause == nil || cause.Error() != "quota used up" {
		t.Errorf("got %v, cause %v", err, cause)
	}
	if l, _ := w.Leases.Get(first.Lease.ID); l.Status != lease.Released {
		t.Errorf("the lease is %s", l.Status)
	}
	if all, _ := w.Leases.List(func(lease.Lease) bool { return true }); len(all) != 1 {
		t.Errorf("%d leases", len(all))
	}
}

func TestRelease(t *testing.T) {
	type ended struct {
		Status  lease.Status
		Reason  string
		Cleanup string
	}
	for name, c := range map[string]struct {
		behaviour string
		before    func(w *world)
		edit      func(*lease.Lease)
		status    lease.Status
		want      ended
	}{
		"good":           {"", nil, nil, lease.Released, ended{lease.Released, "", "success"}},
		"run failed":     {"", nil, nil, lease.Failed, ended{lease.Failed, "adapter_or_run_failure", "success"}},
		"retained":       {"", nil, func(l *lease.Lease) { l.Policy = lease.RetainOnFailure }, lease.Failed, ended{lease.Retained, "adapter_or_run_failure", "success"}},
		"provider fails": {"release=fail:no", nil, nil, lease.Released, ended{lease.PendingCleanup, "release_cleanup_failed", "failed"}},
		"wrong receipt":  {"release=wrong", nil, nil, lease.Released, ended{lease.PendingCleanup, "release_cleanup_failed", "failed"}},
		"worker stopped": {"", func(w *world) { w.Workers.Stop("p1") }, nil, lease.Released, ended{lease.PendingCleanup, "release_cleanup_failed", "failed"}},
		"no plugin id":   {"", nil, func(l *lease.Lease) { delete(l.Metadata, "pluginId") }, lease.Released, ended{lease.PendingCleanup, "release_cleanup_failed", "failed"}},
		"expired":        {"", nil, func(l *lease.Lease) { l.Policy = lease.ReuseByEnvironment }, lease.Expired, ended{lease.Expired, "lease_expired", "success"}},
	} {
		w := newWorld(t, nil)
		w.worker()
		in := w.acquire(fixtureEnv(c.behaviour))
		if c.edit != nil {
			in = w.edit(in, c.edit)
		}
		if c.before != nil {
			c.before(w)
		}
		l := w.release(in, c.status)
		if diff := cmp.Diff(c.want, ended{l.Status, l.FailureReason, l.CleanupStatus}); diff != "" || l.ReleasedAt == nil {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestReleaseWithoutDriver checks that a lease whose driver this host does not
// have is released all the same, while everything else refuses it.
func TestReleaseWithoutDriver(t *testing.T) {
	w := newWorld(t, nil)
	w.worker()
	in := w.edit(w.acquire(fixtureEnv("release=fail:nobody may ask")), func(l *lease.Lease) { l.Metadata["driver"] = "docker" })
	const unknown = `Environment driver "docker" is not registered in the environment runtime yet.`
	if _, err := w.Service.Destroy(t.Context(), in); err == nil || err.Error() != unknown {
		t.Errorf("destroyed: %v", err)
	}
	failed := func(l lease.Lease, err error) { t.Errorf("lease %s: %v", l.ID, err) }
	released, err := w.Service.ReleaseRunLeases(t.Context(), environment.RunRelease{RunID: "run-1", Status: lease.Failed, OnError: failed})
	if err != nil || len(released) != 1 {
		t.Fatalf("released %+v, %v", released, err)
	}
	if l := released[0]; l.Status != lease.Failed || l.ReleasedAt == nil || l.CleanupStatus != "" || l.FailureReason != "adapter_or_run_failure" {
		t.Errorf("the lease is %+v", l)
	}
}

func TestDestroyAndSweep(t *testing.T) {
	w := newWorld(t, nil)
	w.worker()
	in := w.acquire(fixtureEnv("destroy=wrong"))
	l, err := w.Service.Destroy(t.Context(), in)
	if err != nil || l.Status != lease.PendingCleanup {
		t.Fatalf("destroy: %s, %v", l.Status, err)
	}
	if swept, _ := w.Service.Sweep(t.Context()); len(swept) != 1 || swept[0].Err == nil {
		t.Errorf("swept %+v", swept)
	}
	w.edit(in, func(l *lease.Lease) { l.ProviderLeaseID = "fx-1" })
	if swept, err := w.Service.Sweep(t.Context()); err != nil || len(swept) != 1 || swept[0].Err != nil || swept[0].Lease.Status != lease.Expired {
		t.Errorf("swept %+v, %v", swept, err)
	}
	if swept, _ := w.Service.Sweep(t.Context()); len(swept) != 0 {
		t.Errorf("swept again %+v", swept)
	}
}

// TestRejectedLease makes the store refuse a lease after the sandbox was made.
func TestRejectedLease(t *testing.T) {
	w := newWorld(t, nil)
	w.worker()
	in := input(fixtureEnv(""))
	in.CompanyID = "c2"
	_, err := w.Service.Acquire(t.Context(), in)
	if err == nil || err.Error() != "The selected environment belongs to another company." {
		t.Errorf("got %v", err)
	}
	all, _ := w.Leases.List(func(lease.Lease) bool { return true })
	if len(all) != 1 || all[0].Status != lease.Expired || all[0].ProviderLeaseID != "fx-1" {
		t.Errorf("the owed clean-up is %+v", all)
	}
}

func TestLeaseMetadata(t *testing.T) {
	w := newWorld(t, nil)
	w.worker()
	e := fixtureEnv("")
	e.Config["apiKey"], e.Config["timeoutMs"] = "secret-1", 60_000
	e.Config["leaseMetadata"] = environment.Object{"apiKey": "resolved!", "backend": "job"}
	in := w.acquire(e)
	for key, want := range map[string]any{"driver": "sandbox", "provider": "fixture", "pluginId": "p1", "pluginKey": "acme.p1",
		"sandboxProviderPlugin": true, "agentId": "agent-1", "timeoutMs": 60_000.0, "remoteCwd": "/fixture/workspace", "apiKey": "secret-1"} {
		if got := in.Lease.Metadata[key]; got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	granted, err := w.Service.Capabilities(t.Context(), in)
	if err != nil || !granted[capability.DuplexCommandStream] || granted[capability.NativeSyncIn] || granted[capability.ReusableLeases] {
		t.Errorf("granted %v, %v", granted, err)
	}
	if w.Service.SupportsSync(in) {
		t.Error("a job has native sync")
	}
}

func TestUse(t *testing.T) {
	w := newWorld(t, nil)
	w.worker()
	for _, e := range []environment.Environment{fixtureEnv(""), boxEnv()} {
		in := w.acquire(e)
		got, err := w.Service.Execute(t.Context(), environment.ExecuteInput{LeaseInput: in, Command: "echo", Args: []string{"hi"}})
		if err != nil || got.Stdout != "hi" || *got.ExitCode != 0 {
			t.Errorf("%s: %+v, %v", e.Driver, got, err)
		}
		if got, err = w.Service.Execute(t.Context(), environment.ExecuteInput{LeaseInput: in, Command: "nosuch"}); err != nil || *got.ExitCode != 127 {
			t.Errorf("%s: a command that fails: %+v, %v", e.Driver, got, err)
		}
		made, err := w.Service.Realize(t.Context(), environment.RealizeInput{LeaseInput: in})
		if err != nil || made.Cwd != "/fixture/workspace" {
			t.Errorf("%s: realized %+v, %v", e.Driver, made, err)
		}
		if e.Driver == "plugin" {
			if l, err := w.Service.Resume(t.Context(), in); err != nil || l.Status != lease.Active {
				t.Errorf("resume: %+v, %v", l, err)
			}
			if want := "plugin:acme.p1:" + fixture.PlainDriver; in.Lease.Provider != want {
				t.Errorf("provider %q", in.Lease.Provider)
			}
		} else {
			counts, err := w.Service.SyncIn(t.Context(), environment.SyncInput{LeaseInput: in, Operations: []wire.SyncOperation{{OperationID: "o1"}}})
			if err != nil || len(counts.Operations) != 1 || !w.Service.SupportsSync(in) {
				t.Errorf("sync: %+v, %v", counts, err)
			}
		}
		if l, err := w.Service.Destroy(t.Context(), in); err != nil || l.Status != lease.Expired {
			t.Errorf("%s: destroyed %s, %v", e.Driver, l.Status, err)
		}
		w.edit(in, func(l *lease.Lease) { l.ExecutionWorkspaceID = "" })
	}
	local := w.acquire(env("local", nil))
	if made, err := w.Service.Realize(t.Context(), environment.RealizeInput{LeaseInput: local}); err != nil || made.Cwd != "/" {
		t.Errorf("local: %+v, %v", made, err)
	}
	released, err := w.Service.ReleaseRunLeases(t.Context(), environment.RunRelease{RunID: "run-1", Status: lease.Released})
	if err != nil || len(released) != 1 || released[0].Status != lease.Released {
		t.Errorf("released %+v, %v", released, err)
	}
}

func TestCheckConfig(t *testing.T) {
	w := newWorld(t, nil)
	w.worker()
	for _, e := range []environment.Environment{fixtureEnv(""), boxEnv(), env("local", environment.Object{"x": 1}),
		env("ssh", environment.Object{"host": "h", "username": "u", "remoteWorkspacePath": "/w"})} {
		if _, err := w.Service.CheckConfig(t.Context(), e); err != nil {
			t.Errorf("%s: %v", e.Driver, err)
		}
	}
	e := fixtureEnv("validate=reject:key sk-123 is wrong")
	_, err := w.Service.CheckConfig(t.Context(), e)
	if err == nil || strings.Contains(err.Error(), "sk-123") {
		t.Errorf("got %v", err)
	}
}

// TestProviderThatRuns checks that acquiring takes the plugin that can serve,
// not the first that declares the key.
func TestProviderThatRuns(t *testing.T) {
	w := newWorld(t, nil)
	w.Plugins.SetStatus("p1", plugin.Disabled)
	w.Plugins.Install(fixture.Plugin("p2"))
	if _, err := w.Service.Acquire(t.Context(), input(fixtureEnv(""))); err == nil || !strings.Contains(err.Error(), "that plugin is currently disabled") {
		t.Errorf("while no worker runs: %v", err)
	}
	if _, err := w.StartWorker(t.Context(), "p2", command(t)); err != nil {
		t.Fatal(err)
	}
	if in := w.acquire(fixtureEnv("")); in.Lease.Text("pluginId") != "p2" {
		t.Errorf("acquired %v", in.Lease.Metadata)
	}
	if _, err := w.Service.CheckConfig(t.Context(), fixtureEnv("")); err != nil {
		t.Errorf("saving: %v", err)
	}
}

// TestTwoPluginsOneKey checks that a lease stays with the plugin that made it.
func TestTwoPluginsOneKey(t *testing.T) {
	w := newWorld(t, nil)
	w.Plugins.Install(fixture.Plugin("p2"))
	w.worker()
	if _, err := w.StartWorker(t.Context(), "p2", command(t)); err != nil {
		t.Fatal(err)
	}
	in := w.acquire(fixtureEnv(""))
	w.Plugins.Edit("p1", func(p *plugin.Plugin) { p.Manifest.EnvironmentDrivers = nil })
	if err := w.open(in); err == nil || err.Error() != denied {
		t.Errorf("another plugin took over: %v", err)
	}
	if next, err := w.Service.Acquire(t.Context(), environment.AcquireInput{Environment: fixtureEnv(""), RunID: "run-2"}); err != nil || next.Lease.Text("pluginId") != "p2" {
		t.Errorf("acquired %v, %v", next.Lease.Metadata, err)
	}
}

func TestWorkerComesLate(t *testing.T) {
	w := newWorld(t, func(c *host.Config) { c.Limits.WorkerWait *= 1000 })
	result := make(chan error)
	go func() {
		_, err := w.Service.Acquire(t.Context(), input(fixtureEnv("")))
		result <- err
	}()
	w.worker()
	if err := <-result; err != nil {
		t.Errorf("a worker that runs in time: %v", err)
	}
	if w.Workers.Get("p1").Status() != worker.Running {
		t.Error("not running")
	}
}

// TestPlaces lets a worker tell where it raised an error.
func TestPlaces(t *testing.T) {
	w := newWorld(t, nil)
	run := command(t, "without=environmentSyncIn")
	run.Env = map[string]string{sdk.TellPlaceVariable: "1"}
	if _, err := w.StartWorker(t.Context(), "p1", run); err != nil {
		t.Fatal(err)
	}
	_, err := w.Service.SyncIn(t.Context(), environment.SyncInput{LeaseInput: w.acquire(fixtureEnv(""))})
	if at := fault.Raised(err); at.File != "sdk/serve.go" || at.Symbol != "(*worker).call" || at.Line == 0 {
		t.Errorf("raised at %s", at)
	}
	if e := fault.As(err); e.Place.File != "worker/messages.go" || e.Data != nil {
		t.Errorf("arrived at %s with data %s", e.Place, e.Data)
	}
}
