//go:build unix

package host_test

import (
	"errors"

	"errorkb/internal/runtime/environment"
	"errorkb/internal/runtime/fixture"
	"errorkb/internal/runtime/lease"
	"errorkb/internal/runtime/plugin"
)

func sandboxRows() []row {
	reusable := func(behaviour string) environment.Environment {
		e := fixtureEnv(behaviour)
		e.Config["reuseLease"] = true
		return e
	}
	release := func(w *world, in environment.LeaseInput) {
		if _, err := w.Service.Release(w.t.Context(), environment.ReleaseInput{LeaseInput: in, Status: lease.Released}); err != nil {
			w.t.Fatal(err)
		}
	}
	acquire := func(w *world, e environment.Environment) error {
		return second(w.Service.Acquire(w.t.Context(), input(e)))
	}
	pluginLease := func(w *world) environment.LeaseInput { w.worker(); return w.acquire(fixtureEnv("")) }
	drop := func(keys ...string) func(*lease.Lease) {
		return func(l *lease.Lease) {
			for _, key := range keys {
				delete(l.Metadata, key)
			}
		}
	}
	const incomplete = "Sandbox duplex channel needs a plugin id, a provider key, and a provider lease id on the lease."
	return []row{
		{"SBX-01", nil, func(w *world) error {
			return second(w.Service.GetDriver("sandbox").Acquire(w.t.Context(), input(env("local", nil))))
		}, `Expected sandbox environment config for driver "local".`, 0, ""},
		{"SBX-02", nil, func(w *world) error { return acquire(w, env("sandbox", environment.Object{"provider": "nosuch"})) },
			`Sandbox provider "nosuch" is not registered as a built-in provider and no matching plugin is available.`, 0, ""},
		{"SBX-03 disabled", nil, func(w *world) error { w.worker(); w.status(plugin.Disabled); return acquire(w, fixtureEnv("")) },
			`Sandbox provider "fixture" is installed via plugin "acme.p1", but that plugin is currently disabled.`, 0, ""},
		{"SBX-03 error", noWorkers, func(w *world) error { w.status(plugin.Failed); return acquire(w, fixtureEnv("")) },
			`Sandbox provider "fixture" is installed via plugin "acme.p1", but that plugin is currently error.`, 0, ""},
		{"SBX-04", noWorkers, func(w *world) error { return acquire(w, fixtureEnv("")) },
			`Sandbox provider "fixture" is installed, but sandbox plugin workers are unavailable in this server process.`, 0, ""},
		{"SBX-05", nil, func(w *world) error { return acquire(w, fixtureEnv("")) },
			`Sandbox provider "fixture" is installed via plugin "acme.p1", but its worker is not running.`, 0, ""},
		{"SBX-06 resume fails", nil, func(w *world) error {
			w.worker()
			release(w, w.acquire(reusable("resume=fail:Request failed with status code 500")))
			return acquire(w, reusable("resume=fail:Request failed with status code 500"))
		}, `Reusable sandbox lease "fx-1,resume=fail:Request failed with status code 500" could not be resumed; the lease was preserved and no replacement was created.`, 0, "ReusableSandboxResumeError"},
		{"SBX-06 transient for too long", nil, func(w *world) error {
			w.worker()
			release(w, w.acquire(reusable("resume=fail:network timeout")))
			return acquire(w, reusable("resume=fail:network timeout"))
		}, `Reusable sandbox lease "fx-1,resume=fail:network timeout" could not be resumed; the lease was preserved and no replacement was created.`, 0, "ReusableSandboxResumeError"},
		{"SBX-08", nil, func(w *world) error {
			w.worker()
			w.Leases.BeforeWrite = func(lease.Lease) error { return errors.New("disk full") }
			return acquire(w, fixtureEnv("destroy=fail:still there"))
		}, `Sandbox provider "fixture" leaked lease "fx-1,destroy=fail:still there": the acquire could not tear it down and could not record a durable pending-cleanup row. The live sandbox has no durable cleanup state and needs a manual teardown.`, 0, "SandboxOrphanCleanupWriteError"},
		{"SBX-09", nil, func(w *world) error {
			in := w.edit(fake(w), drop("provider"))
			in.Environment = env("local", nil)
			return second(w.Service.GetDriver("sandbox").Release(w.t.Context(), environment.ReleaseInput{LeaseInput: in, Status: lease.Released}))
		}, `Expected sandbox environment config for lease "lease-1".`, 0, ""},
		{"SBX-10", nil, func(w *world) error { return sweep(w, w.edit(fake(w), func(l *lease.Lease) { l.Provider = "" })) },
			`Pending-cleanup lease "lease-1" has no recorded provider for teardown.`, 0, ""},
		{"SBX-11", nil, func(w *world) error { return sweep(w, w.edit(pluginLease(w), drop("provider"))) },
			`Pending-cleanup lease "lease-1" has no recorded config for provider "fixture".`, 0, ""},
		{"SBX-11 before SBX-12", noWorkers, func(w *world) error {
			return sweep(w, w.edit(fake(w), func(l *lease.Lease) { l.Provider = fixture.SandboxDriver }))
		}, `Pending-cleanup lease "lease-1" has no recorded config for provider "fixture".`, 0, ""},
		{"SBX-12", noWorkers, func(w *world) error {
			return sweep(w, w.edit(fake(w), func(l *lease.Lease) {
				l.Provider, l.Metadata["provider"] = fixture.SandboxDriver, fixture.SandboxDriver
			}))
		}, `Sandbox provider "fixture" needs a plugin worker manager for cleanup, but none is available.`, 0, ""},
		{"SBX-13 worker", nil, func(w *world) error { in := pluginLease(w); w.Workers.Stop("p1"); return sweep(w, in) },
			`Sandbox provider plugin for "fixture" is worker_unavailable, so the cleanup teardown cannot run yet.`, 0, ""},
		{"SBX-13 plugin", nil, func(w *world) error { in := pluginLease(w); w.status(plugin.Disabled); return sweep(w, in) },
			`Sandbox provider plugin for "fixture" is not_ready, so the cleanup teardown cannot run yet.`, 0, ""},
		{"SBX-15 built-in", nil, func(w *world) error { return w.execute(fake(w), "true") },
			`Sandbox driver does not support direct command execution for built-in providers.`, 0, ""},
		{"SBX-15 no plugin id", nil, func(w *world) error { return w.execute(w.edit(pluginLease(w), drop("pluginId")), "true") },
			`Sandbox driver does not support direct command execution for built-in providers.`, 0, ""},
		{"SBX-16", nil, func(w *world) error {
			return second(w.Service.SyncIn(w.t.Context(), environment.SyncInput{LeaseInput: fake(w)}))
		}, `Sandbox driver does not support native file sync for this lease.`, 0, ""},
		{"SBX-17", nil, func(w *world) error {
			return second(w.Service.SyncOut(w.t.Context(), environment.SyncInput{LeaseInput: w.edit(pluginLease(w), drop("pluginId"))}))
		}, `Sandbox lease is missing plugin/provider metadata for native file sync.`, 0, ""},
		{"SBX-18", nil, func(w *world) error { return w.openDirect(fake(w)) },
			`Sandbox driver does not support duplex channels for this lease.`, 0, ""},
		{"SBX-18 no worker manager", noWorkers, func(w *world) error {
			return w.openDirect(w.edit(fake(w), func(l *lease.Lease) { l.Metadata["sandboxProviderPlugin"] = true }))
		}, `Sandbox driver does not support duplex channels for this lease.`, 0, ""},
		{"SBX-19 provider lease id", nil, func(w *world) error {
			return w.open(w.edit(pluginLease(w), func(l *lease.Lease) { l.ProviderLeaseID = "" }))
		}, incomplete, 0, ""},
		{"SBX-19 provider", nil, func(w *world) error { return w.open(w.edit(pluginLease(w), drop("provider"))) }, incomplete, 0, ""},
		{"SBX-19 provider is a number", nil, func(w *world) error {
			return w.open(w.edit(pluginLease(w), func(l *lease.Lease) { l.Metadata["provider"] = 7 }))
		}, incomplete, 0, ""},
		{"SBX-19 plugin id, driver called directly", nil, func(w *world) error { return w.openDirect(w.edit(pluginLease(w), drop("pluginId"))) }, incomplete, 0, ""},
		{"SBX-20", nil, func(w *world) error { in := pluginLease(w); w.Workers.Stop("p1"); return w.openDirect(in) },
			`Plugin worker "p1" is not running for the duplex channel.`, 0, ""},
	}
}
