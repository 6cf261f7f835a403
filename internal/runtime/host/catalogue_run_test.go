//go:build unix

package host_test

import (
	"errorkb/internal/runtime/environment"
	"errorkb/internal/runtime/lease"
)

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
