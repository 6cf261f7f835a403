//go:build unix

package host_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"errorkb/internal/runtime/daytona"
	"errorkb/internal/runtime/daytona/service"
	"errorkb/internal/runtime/environment"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/host"
	"errorkb/internal/runtime/lease"
	"errorkb/internal/runtime/plugin"
	"errorkb/internal/runtime/worker"
)

func daytonaEnv() environment.Environment {
	return env("sandbox", environment.Object{"provider": daytona.DriverKey})
}

// daytonaWorld is a host with the Daytona plugin and a service behind it.
func daytonaWorld(t testing.TB) (*world, *worker.Handle) {
	t.Helper()
	backend, err := service.Start(service.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := backend.Close(); err != nil {
			t.Error(err)
		}
	})
	w := newWorld(t, func(c *host.Config) { c.WorkerLimits.Backoff = 20 * time.Millisecond })
	manifest, err := plugin.ParseManifest(daytona.Manifest())
	if err != nil {
		t.Fatal(err)
	}
	w.Plugins.Install(plugin.Plugin{ID: "d1", Key: daytona.PluginKey, Status: plugin.Ready, Manifest: manifest})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h, err := w.StartWorker(t.Context(), "d1", worker.Command{Path: self, Args: daytona.Args(), Env: backend.Env()})
	if err != nil {
		t.Fatal(err)
	}
	return w, h
}

// TestDaytonaRestart goes through the whole path: a terminal in a sandbox, a
// crash of the worker, the refusal after its restart, and the remedy.
func TestDaytonaRestart(t *testing.T) {
	w, h := daytonaWorld(t)
	in := w.acquire(daytonaEnv())
	s := w.session(in)
	h.Kill()
	if e := <-s.exit; e.Code != nil {
		t.Errorf("exit %+v", e)
	}
	w.await(h, worker.Running)
	const uncached = "Daytona duplex channel: no cached sandbox resolves the provider lease."
	if e := fault.As(w.open(in)); e == nil || e.Message != uncached || e.Code != -32002 || e.Class != call {
		t.Fatalf("after the restart: %+v", e)
	}
	result, err := w.Service.Execute(t.Context(), environment.ExecuteInput{LeaseInput: in, Command: "true"})
	if err != nil || *result.ExitCode != 0 {
		t.Fatalf("true: %+v, %v", result, err)
	}
	s = w.session(in)
	s.write("still here\n")
	for n := 1; !strings.Contains(s.until(n), "still here\n"); n++ {
	}
	s.Close()
	if l := w.release(in, lease.Released); l.Status != lease.Released || l.CleanupStatus != lease.CleanupSuccess {
		t.Errorf("released: %s, %s", l.Status, l.CleanupStatus)
	}
	if err := w.open(in); err == nil || err.Error() != uncached {
		t.Errorf("after the release: %v", err)
	}
}

func TestDaytonaEmptyCommand(t *testing.T) {
	w, _ := daytonaWorld(t)
	_, err := w.Service.OpenDuplexChannel(t.Context(), environment.DuplexInput{LeaseInput: w.acquire(daytonaEnv())})
	if e := fault.As(err); e == nil || e.Message != "The duplex channel launch command needs at least one argument." || e.Code != -32002 {
		t.Errorf("got %v", err)
	}
}
