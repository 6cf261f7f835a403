//go:build unix

package host_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"errorkb/internal/runtime/clock"
	"errorkb/internal/runtime/environment"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/fixture"
	"errorkb/internal/runtime/host"
	"errorkb/internal/runtime/lease"
	"errorkb/internal/runtime/plugin"
	"errorkb/internal/runtime/wire"
	"errorkb/internal/runtime/worker"
)

// must lists the catalogue rows that this runtime has to raise, apart from
// those of the Daytona provider and its client.
var must = strings.Fields(`
	FAC-01 FAC-02 FAC-03 FAC-04 FAC-06 FAC-07 FAC-08 FAC-09
	SBX-02 SBX-03 SBX-04 SBX-05 SBX-06 SBX-15 SBX-16 SBX-17 SBX-18 SBX-19 SBX-20
	PLG-01 PLG-02 PLG-03 PLG-09
	WMG-02 WMG-03 WMG-04 WMG-05 WMG-06 WMG-07 WMG-08 WMG-10 WMG-11 WMG-12 WMG-14 WMG-15 WMG-16 WMG-17 WMG-21
	RPC-01 RPC-02 RPC-03 RPC-04
	PRO-02 PRO-03 PRO-04`)

// row raises one documented error through the path on which a caller meets it.
type row struct {
	name   string // catalogue id, with a remark when there are several ways
	config func(*host.Config)
	raise  func(w *world) error
	want   string
	code   int
	class  string
}

const (
	call   = "JsonRpcCallError"
	denied = "Sandbox lease does not grant the duplex command stream capability."
)

func fake(w *world) environment.LeaseInput { return w.acquire(env("sandbox", nil)) }

func local(w *world) environment.LeaseInput { return w.acquire(env("local", nil)) }

func noWorkers(c *host.Config) { c.NoWorkers = true }

// frozen keeps a crashed worker in its back-off.
func frozen(c *host.Config) { c.Clock = clock.NewFake(time.Unix(0, 0)) }

// crashed starts a worker, takes a lease and lets the worker die.
func crashed(w *world) environment.LeaseInput {
	h := w.worker()
	in := w.acquire(fixtureEnv(""))
	_ = w.execute(in, "kill")
	w.await(h, worker.Backoff)
	return in
}

func rows() []row {
	return slices.Concat(facadeRows(), sandboxRows(), pluginRows(), storeRows(), runRows(), workerRows())
}

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

func pluginRows() []row {
	acquire := func(w *world) error { return second(w.Service.Acquire(w.t.Context(), input(boxEnv()))) }
	check := func(w *world, e environment.Environment) error {
		return second(w.Service.CheckConfig(w.t.Context(), e))
	}
	save := func(e environment.Environment) func(w *world) error {
		return func(w *world) error { return check(w, e) }
	}
	sshEnv := func(host, user, path string) environment.Environment {
		return env("ssh", environment.Object{"host": host, "username": user, "remoteWorkspacePath": path})
	}
	rejecting := func(e environment.Environment) environment.Environment {
		config := e.Config
		if e.Driver == "plugin" {
			config = config["driverConfig"].(environment.Object)
		}
		config["behaviour"] = "validate=reject:the key sk-123 is wrong"
		return e
	}
	return []row{
		{"PLG-01", nil, func(w *world) error { w.worker(); w.status(plugin.Disabled); return acquire(w) },
			`Plugin environment driver "acme.p1:box" is not ready.`, 0, ""},
		{"PLG-01 lease", nil, func(w *world) error {
			w.worker()
			in := w.acquire(boxEnv())
			w.status(plugin.UpgradePending)
			return w.execute(in, "echo")
		}, `Plugin environment driver "acme.p1:box" is not ready.`, 0, ""},
		{"PLG-01 before PLG-02 and PLG-03", nil, func(w *world) error {
			w.status(plugin.Disabled)
			e := boxEnv()
			e.Config["driverKey"] = "crate"
			return second(w.Service.Acquire(w.t.Context(), input(e)))
		}, `Plugin environment driver "acme.p1:crate" is not ready.`, 0, ""},
		{"PLG-01 not installed", nil, func(w *world) error {
			w.worker()
			w.status(plugin.Uninstalled)
			return acquire(w)
		}, `Plugin environment driver "acme.p1:box" is not ready.`, 0, ""},
		{"PLG-02 before PLG-03", nil, func(w *world) error {
			e := boxEnv()
			e.Config["driverKey"] = "crate"
			return second(w.Service.Acquire(w.t.Context(), input(e)))
		}, `Plugin "acme.p1" does not declare environment driver "crate".`, 0, ""},
		{"PLG-02", nil, func(w *world) error {
			w.worker()
			e := boxEnv()
			e.Config["driverKey"] = "crate"
			return second(w.Service.Acquire(w.t.Context(), input(e)))
		}, `Plugin "acme.p1" does not declare environment driver "crate".`, 0, ""},
		{"PLG-03", nil, acquire, `Plugin environment driver "acme.p1:box" has no running worker.`, 0, ""},
		{"PLG-04", nil, func(w *world) error {
			return second(w.Service.GetDriver("plugin").Acquire(w.t.Context(), input(env("local", nil))))
		}, `Expected plugin environment config for driver "local".`, 0, ""},
		{"PLG-05", nil, func(w *world) error {
			w.worker()
			in := w.edit(w.acquire(boxEnv()), func(l *lease.Lease) { delete(l.Metadata, "driverKey") })
			in.Environment = env("local", nil)
			w.status(plugin.Disabled)
			return w.execute(in, "echo")
		}, `Plugin environment driver "acme.p1:unknown" is missing a driver key.`, 0, ""},
		{"PLG-06", nil, func(w *world) error {
			w.worker()
			in := w.edit(w.acquire(boxEnv()), func(l *lease.Lease) { l.ProviderLeaseID = "" })
			w.status(plugin.Disabled)
			return second(w.Service.Resume(w.t.Context(), in))
		}, `Plugin environment lease "lease-1" does not have a provider lease id to resume.`, 0, ""},
		{"PLG-07", nil, save(fixtureEnv("")), `Sandbox provider "fixture" is not installed or its plugin worker is not running.`, 422, ""},
		{"PLG-08", nil, func(w *world) error {
			w.worker()
			e := fixtureEnv("")
			e.Config["apiKey"] = environment.Object{"type": "secret_ref", "secretId": "s1", "version": 3}
			return check(w, e)
		}, `Secret binding at apiKey pins version 3; sandbox provider secret references always resolve the latest version.`, 422, ""},
		{"PLG-07 before PLG-08", nil, func(w *world) error {
			e := fixtureEnv("")
			e.Config["apiKey"] = environment.Object{"type": "secret_ref", "secretId": "s1", "version": 3}
			return check(w, e)
		}, `Sandbox provider "fixture" is not installed or its plugin worker is not running.`, 422, ""},
		{"PLG-07 not ready", nil, func(w *world) error { w.worker(); w.status(plugin.Disabled); return check(w, fixtureEnv("")) },
			`Sandbox provider "fixture" is not installed or its plugin worker is not running.`, 422, ""},
		{"PLG-08 before PLG-09", nil, func(w *world) error {
			w.worker()
			e := rejecting(fixtureEnv(""))
			e.Config["apiKey"] = environment.Object{"type": "secret_ref", "secretId": "s1", "version": 3}
			return check(w, e)
		}, `Secret binding at apiKey pins version 3; sandbox provider secret references always resolve the latest version.`, 422, ""},
		{"PLG-09", nil, func(w *world) error { w.worker(); return check(w, rejecting(fixtureEnv(""))) },
			`Sandbox provider "fixture" rejected its config. The provider's text is withheld because a provider can echo a resolved secret.`, 422, ""},
		{"PLG-10", nil, func(w *world) error { w.worker(); return check(w, rejecting(boxEnv())) },
			`Plugin environment driver "acme.p1:box" rejected its config. The provider's text is withheld because a provider can echo a resolved secret.`, 422, ""},
		{"CFG-01", nil, save(sshEnv("", "", "")), `SSH environments require a host.`, 422, ""},
		{"CFG-02", nil, save(sshEnv("h", " ", "")), `SSH environments require a username.`, 422, ""},
		{"CFG-03", nil, save(sshEnv("h", "u", "")), `SSH environments require a remote workspace path.`, 422, ""},
		{"CFG-04", nil, save(sshEnv("h", "u", "work")), `SSH remote workspace path must be absolute.`, 422, ""},
		{"CFG-05", nil, save(env("sandbox", environment.Object{"image": " "})), `Fake sandbox environments require an image.`, 422, ""},
		{"CFG-07", nil, save(env("sandbox", environment.Object{"provider": "My Provider"})),
			`Sandbox provider key must start with a lowercase alphanumeric and contain only lowercase letters, digits, dots, hyphens, or underscores`, 422, ""},
		{"CFG-08", nil, save(env("plugin", environment.Object{"pluginKey": "p", "driverKey": "Box"})),
			`Environment driver key must start with a lowercase alphanumeric and contain only lowercase letters, digits, dots, hyphens, or underscores`, 422, ""},
		{"CFG-09 port", nil, save(env("ssh", environment.Object{"host": "h", "port": 70_000})), `Invalid environment config.`, 422, ""},
		{"CFG-09 type", nil, save(env("ssh", environment.Object{"host": 7})), `Invalid environment config.`, 422, ""},
		{"CFG-09 unknown member", nil, save(env("ssh", environment.Object{"hots": "h"})), `Invalid environment config.`, 422, ""},
		{"CFG-09 plugin", nil, save(env("plugin", environment.Object{"driverKey": "box"})), `Invalid environment config.`, 422, ""},
		{"CFG-10", nil, save(env("docker", nil)), `Unsupported environment driver "docker".`, 422, ""},
		{"CFG-11", noWorkers, save(fixtureEnv("")), `Sandbox provider config validation requires a running plugin worker manager.`, 422, ""},
		{"CFG-12", noWorkers, save(boxEnv()), `Plugin environment config validation requires a running plugin worker manager.`, 422, ""},
		{"CFG-13 before CFG-11", noWorkers, save(env("sandbox", nil)),
			`Built-in fake sandbox environments are reserved for internal probes and cannot be saved.`, 422, ""},
		{"CFG-13", nil, save(env("sandbox", nil)), `Built-in fake sandbox environments are reserved for internal probes and cannot be saved.`, 422, ""},
	}
}

func storeRows() []row {
	return []row{
		{"LST-01", nil, func(w *world) error {
			in := w.edit(local(w), func(l *lease.Lease) { l.Status = "lost" })
			return second(w.Leases.Get(in.Lease.ID))
		}, `Unexpected status value: lost`, 0, ""},
		{"LST-05", nil, func(w *world) error {
			local(w)
			in := input(env("local", nil))
			in.RunID = "run-2"
			return second(w.Service.Acquire(w.t.Context(), in))
		}, `Execution workspace ws-1 is already leased by an active run (run run-1); refusing to acquire a concurrent single-flight lease.`, 0, "EnvironmentLeaseConflictError"},
		{"LST-06", nil, func(w *world) error {
			local(w) // a conflict too
			in := input(env("local", nil))
			in.RunID = "run-2"
			in.CompanyID = "c2"
			return second(w.Service.Acquire(w.t.Context(), in))
		}, `The selected environment belongs to another company.`, 403, ""},
	}
}

func runRows() []row {
	const class = "EnvironmentRunError"
	run := func(w *world, e environment.Environment, change func(*environment.RunInput)) error {
		in := environment.RunInput{EnvironmentID: "env-1", CompanyID: "c1", Acquire: input(e),
			Environments: func(id string) (environment.Environment, bool) { return e, id == e.ID }}
		if change != nil {
			change(&in)
		}
		return second(w.Service.StartRun(w.t.Context(), in))
	}
	provision := func(command string, args ...string) func(*environment.RunInput) {
		return func(in *environment.RunInput) { in.Provision = &environment.Provision{Command: command, Args: args} }
	}
	return []row{
		{"ORC-01", nil, func(w *world) error {
			return run(w, env("local", nil), func(in *environment.RunInput) { in.EnvironmentID = "env-9" })
		}, `Environment "env-9" not found.`, 0, class},
		{"ORC-02", nil, func(w *world) error {
			e := env("local", nil)
			e.Status = environment.StatusArchived
			return run(w, e, func(in *environment.RunInput) { in.CompanyID = "c2" })
		}, `Environment "env-1" does not belong to this company.`, 0, class},
		{"ORC-03", nil, func(w *world) error {
			e := env("local", nil)
			e.Status = environment.StatusArchived
			return run(w, e, nil)
		}, `Environment "Box" is not active (status: archived).`, 0, class},
		{"ORC-04", nil, func(w *world) error { return run(w, env("sandbox", environment.Object{"provider": "nosuch"}), nil) },
			`Failed to acquire lease for environment "Box" (sandbox): Sandbox provider "nosuch" is not registered as a built-in provider and no matching plugin is available.`, 0, class},
		{"ORC-05", nil, func(w *world) error {
			local(w)
			return run(w, env("local", nil), func(in *environment.RunInput) { in.Acquire.RunID = "run-2" })
		}, `Execution workspace for environment "Box" is already leased by another active run; deferring.`, 0, class},
		{"ORC-06", nil, func(w *world) error { w.worker(); return run(w, fixtureEnv("realize=fail:no disk"), nil) },
			`Failed to realize workspace for environment "Box" (sandbox): no disk`, 0, class},
		{"ORC-07 exit code", nil, func(w *world) error { w.worker(); return run(w, fixtureEnv(""), provision("nosuch")) },
			`Failed to provision workspace for environment "Box" (sandbox): exit code 127: fixture: nosuch: not found`, 0, class},
		{"ORC-07 time-out", nil, func(w *world) error { w.worker(); return run(w, fixtureEnv(""), provision("time-out")) },
			`Failed to provision workspace for environment "Box" (sandbox): provision command timed out`, 0, class},
		{"ORC-07 error", nil, func(w *world) error { return run(w, env("local", nil), provision("true")) },
			`Failed to provision workspace for environment "Box" (local): Environment driver "local" does not support command execution.`, 0, class},
	}
}

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

// minimal is a driver with the required operations only.
type minimal struct{ environment.Driver }

func (minimal) Key() string { return "minimal" }

func TestCatalogue(t *testing.T) {
	tested := map[string]bool{}
	for _, r := range rows() {
		tested[r.name[:6]] = true
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			err := r.raise(newWorld(t, r.config))
			e := fault.As(err)
			if e == nil {
				t.Fatalf("got %v, want %s", err, r.want)
			}
			if err.Error() != r.want || e.Code != r.code || e.Class != r.class {
				t.Errorf("got  %s (code %d, class %q)\nwant %s (code %d, class %q)", err, e.Code, e.Class, r.want, r.code, r.class)
			}
			if e.Place.IsZero() {
				t.Error("the error does not know where it was raised")
			}
		})
	}
	for _, id := range must {
		if !tested[id] {
			t.Errorf("no row raises %s", id)
		}
	}
}
