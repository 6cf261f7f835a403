//go:build unix

package host_test

import (
	"errorkb/internal/runtime/environment"
	"errorkb/internal/runtime/lease"
	"errorkb/internal/runtime/plugin"
)

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
