//go:build unix

package host_test

import (
	"context"
	"errors"

	"errorkb/internal/runtime/environment"
	"errorkb/internal/runtime/fixture"
	"errorkb/internal/runtime/host"
	"errorkb/internal/runtime/lease"
	"errorkb/internal/runtime/plugin"
)

func facadeRows() []row {
	return []row{
		{"FAC-01 lease", nil, func(w *world) error {
			in := w.edit(local(w), func(l *lease.Lease) { l.Metadata["driver"] = "docker" })
			return w.execute(in, "true")
		}, `Environment driver "docker" is not registered in the environment runtime yet.`, 0, ""},
		{"FAC-01 plugin driver without workers", noWorkers, func(w *world) error {
			return second(w.Service.Acquire(w.t.Context(), input(boxEnv())))
		}, `Environment driver "plugin" is not registered in the environment runtime yet.`, 0, ""},
		{"FAC-02", nil, func(w *world) error {
			e := env("nosuch", nil) // the status is looked at first
			e.Status = environment.StatusArchived
			return second(w.Service.Acquire(w.t.Context(), input(e)))
		}, `Environment "Box" is not active.`, 0, ""},
		{"FAC-03", nil, func(w *world) error { return second(w.Service.Resume(w.t.Context(), fake(w))) },
			`Environment driver "sandbox" does not support lease resume.`, 0, ""},
		{"FAC-04", nil, func(w *world) error { return second(w.Service.Destroy(w.t.Context(), local(w))) },
			`Environment driver "local" does not support lease destroy.`, 0, ""},
		{"FAC-05", func(c *host.Config) { c.Drivers = []environment.Driver{minimal{}} }, func(w *world) error {
			return second(w.Service.Realize(w.t.Context(), environment.RealizeInput{LeaseInput: environment.LeaseInput{Environment: env("minimal", nil)}}))
		}, `Environment driver "minimal" does not support workspace realization.`, 0, ""},
		{"FAC-06", nil, func(w *world) error { return w.execute(local(w), "true") },
			`Environment driver "local" does not support command execution.`, 0, ""},
		{"FAC-07", nil, func(w *world) error {
			return second(w.Service.SyncIn(w.t.Context(), environment.SyncInput{LeaseInput: local(w)}))
		}, `Environment driver "local" does not support native file sync.`, 0, ""},
		{"FAC-07 out", nil, func(w *world) error {
			w.worker()
			return second(w.Service.SyncOut(w.t.Context(), environment.SyncInput{LeaseInput: w.acquire(boxEnv())}))
		}, `Environment driver "plugin" does not support native file sync.`, 0, ""},
		{"FAC-08 local", nil, func(w *world) error { return w.open(local(w)) },
			`Environment driver "local" does not support duplex channels.`, 0, ""},
		{"FAC-08 plugin", nil, func(w *world) error { w.worker(); return w.open(w.acquire(boxEnv())) },
			`Environment driver "plugin" does not support duplex channels.`, 0, ""},
		{"FAC-09 built-in sandbox", nil, func(w *world) error { return w.open(fake(w)) }, denied, 0, ""},
		{"FAC-09 no worker manager", noWorkers, func(w *world) error {
			in := w.edit(fake(w), func(l *lease.Lease) {
				l.Metadata["sandboxProviderPlugin"], l.Metadata["pluginId"], l.Metadata["provider"] = true, "p1", fixture.SandboxDriver
			})
			return w.open(in)
		}, denied, 0, ""},
		{"FAC-09 not declared", nil, func(w *world) error {
			w.worker()
			in := w.acquire(fixtureEnv(""))
			w.Plugins.Edit("p1", func(p *plugin.Plugin) {
				delete(p.Manifest.EnvironmentDrivers[0].SandboxCapabilities, "duplexCommandStream")
			})
			return w.open(in)
		}, denied, 0, ""},
		{"FAC-09 declared false", nil, func(w *world) error {
			w.worker()
			in := w.acquire(fixtureEnv(""))
			w.Plugins.Edit("p1", func(p *plugin.Plugin) {
				p.Manifest.EnvironmentDrivers[0].SandboxCapabilities["duplexCommandStream"] = false
			})
			return w.open(in)
		}, denied, 0, ""},
		{"FAC-09 not advertised", nil, func(w *world) error {
			w.worker("without=duplexChannelOpen")
			return w.open(w.acquire(fixtureEnv("")))
		}, denied, 0, ""},
		{"FAC-09 plugin id missing", nil, func(w *world) error {
			w.worker()
			return w.open(w.edit(w.acquire(fixtureEnv("")), func(l *lease.Lease) { delete(l.Metadata, "pluginId") }))
		}, denied, 0, ""},
		{"FAC-09 plugin id unknown", nil, func(w *world) error {
			w.worker()
			return w.open(w.edit(w.acquire(fixtureEnv("")), func(l *lease.Lease) { l.Metadata["pluginId"] = "p9" }))
		}, denied, 0, ""},
		{"FAC-09 key no longer declared", nil, func(w *world) error {
			w.worker()
			in := w.acquire(fixtureEnv(""))
			w.Plugins.Edit("p1", func(p *plugin.Plugin) { p.Manifest.EnvironmentDrivers[0].Kind = "environment_driver" })
			return w.open(in)
		}, denied, 0, ""},
		{"FAC-09 secret not resolvable", func(c *host.Config) {
			gone := false
			c.Secrets = func(context.Context, string, string) (string, error) {
				if gone {
					return "", errors.New("secret deleted")
				}
				gone = true
				return "value", nil
			}
		}, func(w *world) error {
			w.worker()
			e := fixtureEnv("")
			e.Config["apiKey"] = "secret-1"
			return w.open(w.acquire(e))
		}, denied, 0, ""},
		{"FAC-09 no provider", nil, func(w *world) error {
			w.worker()
			in := w.edit(w.acquire(fixtureEnv("")), func(l *lease.Lease) { delete(l.Metadata, "provider") })
			in.Environment = environment.Environment{}
			return w.open(in)
		}, denied, 0, ""},
		{"FAC-09 worker stopped", nil, func(w *world) error {
			w.worker()
			in := w.acquire(fixtureEnv(""))
			w.Workers.Stop("p1")
			return w.open(in)
		}, denied, 0, ""},
		{"FAC-09 first start failed", nil, func(w *world) error {
			w.worker()
			in := w.acquire(fixtureEnv(""))
			w.Workers.Stop("p1")
			_, _ = w.StartWorker(w.t.Context(), "p1", command(w.t, "init=refuse"))
			return w.open(in)
		}, denied, 0, ""},
		{"FAC-10", nil, func(w *world) error {
			w.worker()
			return second(w.Service.RunnerIngress(w.t.Context(), w.acquire(fixtureEnv(""))))
		}, `Sandbox lease does not grant runner WebSocket ingress.`, 0, ""},
		{"FAC-12", nil, func(w *world) error {
			return sweep(w, w.edit(local(w), func(l *lease.Lease) { l.Metadata["driver"] = "ssh" }))
		}, `Environment driver "ssh" does not support orphan sandbox teardown.`, 0, ""},
		{"FAC-13", nil, func(w *world) error {
			fake(w)
			var seen error
			_, err := w.Service.ReleaseRunLeases(w.t.Context(), environment.RunRelease{
				RunID: "run-1", Status: lease.Released, OnError: func(_ lease.Lease, err error) { seen = err },
				Disposition: func(lease.Lease) environment.Disposition { return environment.KeepRunning },
			})
			return errors.Join(err, seen)
		}, `Cannot keep non-reusable environment lease "lease-1" running.`, 0, ""},
		{"LOC-01", nil, func(w *world) error {
			return sweep(w, w.edit(local(w), func(l *lease.Lease) { l.ProviderLeaseID = "sb-1" }))
		}, `Local lease cleanup cannot release a provider resource.`, 0, ""},
		{"LOC-02", nil, func(w *world) error {
			return second(w.Service.GetDriver("ssh").Acquire(w.t.Context(), input(env("local", nil))))
		}, `Expected SSH environment config for driver "local".`, 0, ""},
	}
}

// sweep marks a lease for clean-up and returns what the sweep said about it.
func sweep(w *world, in environment.LeaseInput) error {
	w.edit(in, func(l *lease.Lease) { l.Status = lease.PendingCleanup })
	swept, err := w.Service.Sweep(w.t.Context())
	if err != nil || len(swept) != 1 {
		w.t.Fatalf("swept %d leases, %v", len(swept), err)
	}
	return swept[0].Err
}
