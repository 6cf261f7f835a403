//go:build unix

package host_test

import (
	"context"
	"os"
	"testing"
	"time"

	"errorkb/internal/runtime/daytona"
	"errorkb/internal/runtime/environment"
	"errorkb/internal/runtime/fixture"
	"errorkb/internal/runtime/host"
	"errorkb/internal/runtime/lease"
	"errorkb/internal/runtime/plugin"
	"errorkb/internal/runtime/worker"
)

func TestMain(m *testing.M) {
	fixture.RunIfAsked()
	daytona.RunIfAsked()
	if os.Getenv(runHost) != "" {
		runAsHost()
	}
	os.Exit(fixture.CheckLeaks(m.Run))
}

// world is a host with a fixture plugin, and what a test needs at hand.
type world struct {
	*host.Host
	t testing.TB
}

// quick are limits under which nothing waits for long.
func quick() host.Config {
	c := host.Config{Limits: environment.DefaultLimits(), WorkerLimits: worker.DefaultLimits()}
	c.Limits.WorkerWait, c.Limits.WorkerPoll = 20*time.Millisecond, 5*time.Millisecond
	c.Limits.ResumeBudget, c.Limits.ResumeBackoff = 30*time.Millisecond, 4*time.Millisecond
	c.Limits.CleanupPause = time.Millisecond
	c.WorkerLimits.Leave = 50 * time.Millisecond
	return c
}

func newWorld(t testing.TB, change func(*host.Config)) *world {
	t.Helper()
	c := quick()
	if change != nil {
		change(&c)
	}
	h, err := host.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	h.Plugins.Install(fixture.Plugin("p1"))
	return &world{h, t}
}

func command(t testing.TB, start ...string) worker.Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return commandOf(self, start...)
}

func commandOf(program string, start ...string) worker.Command {
	return worker.Command{Path: program, Args: fixture.Args(start...)}
}

// worker starts the fixture of plugin p1.
func (w *world) worker(start ...string) *worker.Handle {
	w.t.Helper()
	h, err := w.StartWorker(w.t.Context(), "p1", command(w.t, start...))
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

func env(driver string, config environment.Object) environment.Environment {
	return environment.Environment{ID: "env-1", CompanyID: "c1", Name: "Box", Driver: driver, Status: environment.StatusActive, Config: config}
}

func fixtureEnv(behaviour string) environment.Environment {
	config := environment.Object{"provider": fixture.SandboxDriver}
	if behaviour != "" {
		config["behaviour"] = behaviour
	}
	return env("sandbox", config)
}

func boxEnv() environment.Environment {
	return env("plugin", environment.Object{"pluginKey": "acme.p1", "driverKey": fixture.PlainDriver, "driverConfig": environment.Object{}})
}

func input(e environment.Environment) environment.AcquireInput {
	return environment.AcquireInput{Environment: e, RunID: "run-1", AgentID: "agent-1", ExecutionWorkspaceID: "ws-1"}
}

func (w *world) acquire(e environment.Environment) environment.LeaseInput {
	w.t.Helper()
	got, err := w.Service.Acquire(w.t.Context(), input(e))
	if err != nil {
		w.t.Fatal(err)
	}
	return environment.LeaseInput{Environment: got.Environment, Lease: got.Lease}
}

// edit changes a stored lease and returns it with its environment.
func (w *world) edit(in environment.LeaseInput, change func(*lease.Lease)) environment.LeaseInput {
	w.t.Helper()
	l, err := w.Leases.Update(in.Lease.ID, change)
	if err != nil {
		w.t.Fatal(err)
	}
	in.Lease = l
	return in
}

func (w *world) open(in environment.LeaseInput) error {
	channel, err := w.Service.OpenDuplexChannel(w.t.Context(), environment.DuplexInput{LeaseInput: in, Command: []string{"cat"}})
	if err == nil {
		w.t.Cleanup(func() { channel.Close() })
	}
	return err
}

// openDirect asks the sandbox driver itself.
func (w *world) openDirect(in environment.LeaseInput) error {
	driver := w.Service.GetDriver("sandbox").(environment.DuplexOpener)
	_, err := driver.OpenDuplexChannel(w.t.Context(), environment.DuplexInput{LeaseInput: in, Command: []string{"cat"}})
	return err
}

func (w *world) execute(in environment.LeaseInput, name string, args ...string) error {
	_, err := w.Service.Execute(w.t.Context(), environment.ExecuteInput{LeaseInput: in, Command: name, Args: args})
	return err
}

func (w *world) await(h *worker.Handle, status worker.Status) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	if err := h.WaitStatus(ctx, status); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) status(s plugin.Status) { w.Plugins.SetStatus("p1", s) }

// raw calls the worker without any driver in between.
func (w *world) raw(method string, params any) error {
	_, err := w.Workers.Call(w.t.Context(), "p1", worker.Request{Method: method, Params: params})
	return err
}

func second[T any](_ T, err error) error { return err }
