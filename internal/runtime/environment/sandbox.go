package environment

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"time"

	"errorkb/internal/runtime/clock"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/lease"
	"errorkb/internal/runtime/plugin"
	"errorkb/internal/runtime/wire"
	"errorkb/internal/runtime/worker"
)

// sandbox is the driver of sandboxes, which a plugin provides or, for probes,
// the built-in provider "fake".
type sandbox struct{ *core }

func (*sandbox) Key() string { return DriverSandbox }

// Texts of errors in leasing a sandbox.
const (
	msgNotSandbox       = `Expected sandbox environment config for driver "%s".`                                                                                                                                                       // SBX-01
	msgProviderMissing  = `Sandbox provider "%s" is not registered as a built-in provider and no matching plugin is available.`                                                                                                        // SBX-02
	msgProviderNotReady = `Sandbox provider "%s" is installed via plugin "%s", but that plugin is currently %s.`                                                                                                                       // SBX-03
	msgNoManager        = `Sandbox provider "%s" is installed, but sandbox plugin workers are unavailable in this server process.`                                                                                                     // SBX-04
	msgWorkerNotRunning = `Sandbox provider "%s" is installed via plugin "%s", but its worker is not running.`                                                                                                                         // SBX-05
	msgNotResumed       = `Reusable sandbox lease "%s" could not be resumed; the lease was preserved and no replacement was created.`                                                                                                  // SBX-06
	msgLeaked           = `Sandbox provider "%s" leaked lease "%s": the acquire could not tear it down and could not record a durable pending-cleanup row. The live sandbox has no durable cleanup state and needs a manual teardown.` // SBX-08
)

// providerState says whether a plugin can provide a sandbox now.
type providerState string

const (
	providerRunning     providerState = "running"
	providerMissing     providerState = "missing"
	providerNotReady    providerState = "not_ready"
	providerUnavailable providerState = "worker_unavailable"
)

// running reports whether the worker of a plugin runs.
func (s *core) running(pluginID string) bool {
	return s.Workers != nil && s.Workers.IsRunning(pluginID)
}

// findProvider looks for the plugin of a provider and gives the worker of a
// ready one a while to run.
func (d *sandbox) findProvider(ctx context.Context, key string) (plugin.Plugin, plugin.Driver, providerState) {
	for waited := time.Duration(0); ; waited += d.Limits.WorkerPoll {
		p, declared, ok := d.Plugins.BySandboxDriver(key, d.running)
		switch {
		case !ok:
			return p, declared, providerMissing
		case p.Status != plugin.Ready:
			return p, declared, providerNotReady
		case d.running(p.ID):
			return p, declared, providerRunning
		case d.Workers == nil, waited >= d.Limits.WorkerWait, clock.Sleep(ctx, d.Clock, d.Limits.WorkerPoll) != nil:
			return p, declared, providerUnavailable
		}
	}
}

// acquisition is one acquire under way.
type acquisition struct {
	in       AcquireInput
	config   sandboxConfig // as it is stored, with references to secrets
	resolved Object        // with their values
	plugin   plugin.Plugin
	declared plugin.Driver
	reusable bool
	outcome  Object // recorded as sandboxLeaseAcquisition
}

func (d *sandbox) Acquire(ctx context.Context, in AcquireInput) (Acquired, error) {
	if in.Environment.Driver != DriverSandbox {
		return Acquired{}, fault.New(msgNotSandbox, in.Environment.Driver)
	}
	config, bad := parseSandbox(in.Environment.Config)
	if bad != nil {
		return Acquired{}, bad
	}
	if config.provider == ProviderFake {
		return d.acquireFake(in, config)
	}
	_, declared, _ := d.Plugins.BySandboxDriver(config.provider, d.running)
	resolved, err := d.resolveSecrets(ctx, in.company(), declared, config.all)
	if err != nil {
		return Acquired{}, err
	}
	p, declared, state := d.findProvider(ctx, config.provider)
	switch {
	case state == providerMissing:
		return Acquired{}, fault.New(msgProviderMissing, config.provider)
	case state == providerNotReady:
		return Acquired{}, fault.New(msgProviderNotReady, config.provider, p.Key, p.Status)
	case d.Workers == nil:
		return Acquired{}, fault.New(msgNoManager, config.provider)
	case state == providerUnavailable:
		return Acquired{}, fault.New(msgWorkerNotRunning, config.provider, p.Key)
	}
	a := &acquisition{in: in, config: config, resolved: resolved, plugin: p, declared: declared, outcome: Object{"outcome": "created"}}
	a.reusable = d.mayReuse(a)
	if a.reusable {
		l, resumed, err := d.resumeCandidate(ctx, a)
		if err != nil {
			return Acquired{}, err
		}
		if resumed {
			return acquired(in, l), nil
		}
	}
	return d.acquireNew(ctx, a)
}

// acquireNew lets the provider make a sandbox and stores its lease.
func (d *sandbox) acquireNew(ctx context.Context, a *acquisition) (Acquired, error) {
	in := a.in
	run := in.RunID
	if run == "" {
		run = fmt.Sprintf("probe-%d", d.Clock.Now().UnixNano())
	}
	granted, err := unmarshal[wire.LeaseResult](d.Workers.Call(ctx, a.plugin.ID, worker.Request{
		Method: wire.MethodAcquireLease, CompanyID: in.company(), Timeout: callTimeout(0, a.resolved),
		Params: wire.AcquireParams{
			Target: d.target(a), RunID: run, WorkspaceMode: wire.Text(in.ExecutionWorkspaceMode), AgentID: wire.Text(in.AgentID),
			ExecutionWorkspaceID: wire.Text(in.ExecutionWorkspaceID), AdapterType: wire.Text(in.AdapterType), RequestedExpiresAt: in.RequestedExpiresAt,
		},
	}))
	if err != nil {
		return Acquired{}, err
	}
	l := lease.Lease{
		Policy: lease.Ephemeral, Provider: a.config.provider, ProviderLeaseID: string(granted.ProviderLeaseID),
		ExpiresAt: granted.ExpiresAt, Metadata: d.leaseMetadata(a, granted),
	}
	if a.reusable {
		l.Policy = lease.ReuseByEnvironment
	}
	stored, err := d.insert(in, l)
	if err != nil {
		return Acquired{}, d.rejected(ctx, a, l, err)
	}
	return acquired(in, stored), nil
}

func (d *sandbox) target(a *acquisition) wire.Target {
	return wire.Target{
		DriverKey: a.config.provider, CompanyID: a.in.company(), EnvironmentID: a.in.Environment.ID,
		IssueID: wire.Text(a.in.IssueID), Config: workerConfig(a.resolved),
	}
}

// leaseMetadata is what is kept with a lease: the configuration with its
// references, so that the lease can be cleaned up when the environment has
// changed, and what the provider said, without secrets.
func (d *sandbox) leaseMetadata(a *acquisition, granted wire.LeaseResult) Object {
	metadata := copyObject(a.config.all)
	metadata["provider"] = a.config.provider
	maps.Copy(metadata, withoutSecrets(a.declared, granted.Metadata))
	metadata["sandboxProviderPlugin"] = true
	metadata["pluginId"], metadata["pluginKey"] = a.plugin.ID, a.plugin.Key
	metadata["sandboxLeaseAcquisition"] = a.outcome
	if a.reusable {
		metadata["reusableSandboxLease"] = reuseStamp(a)
	}
	return metadata
}

// rejected ends a sandbox whose lease could not be stored. The error is that of
// the store, unless the sandbox is lost.
func (d *sandbox) rejected(ctx context.Context, a *acquisition, l lease.Lease, rejection error) error {
	owed := l
	owed.Metadata = copyObject(l.Metadata)
	owed.Status, owed.CleanupStatus, owed.FailureReason = lease.PendingCleanup, lease.CleanupPending, lease.ReasonAcquireRejected
	unbound := a.in // the row must not fail for the reason that the lease did
	unbound.Environment.CompanyID = ""
	unbound.CompanyID = a.in.company()
	var row lease.Lease
	var writeErr error
	for attempt := range d.Limits.CleanupWrites {
		if attempt > 0 && clock.Sleep(ctx, d.Clock, d.Limits.CleanupPause*time.Duration(attempt)) != nil {
			break
		}
		if row, writeErr = d.insert(unbound, owed); writeErr == nil {
			break
		}
		d.Log.Warn("sandbox orphan cleanup write failed; retrying the durable pending-cleanup write", "error", writeErr)
	}
	teardown := d.destroyResource(ctx, owed, a.plugin.ID, a.config.provider, a.resolved)
	switch {
	case teardown == nil && writeErr == nil:
		_, err := d.Leases.Update(row.ID, func(l *lease.Lease) {
			l.Status, l.CleanupStatus, l.ReleasedAt = lease.Expired, lease.CleanupSuccess, d.now()
		})
		if err != nil {
			d.Log.Warn("clean-up could not be recorded", "lease", row.ID, "error", err)
		}
	case teardown != nil && writeErr != nil:
		return fault.New(msgLeaked, a.config.provider, cmp.Or(l.ProviderLeaseID, "unknown")).WithClass(fault.ClassOrphan).WithCause(teardown)
	}
	return rejection
}

// acquireFake grants a lease of the built-in provider.
func (d *sandbox) acquireFake(in AcquireInput, config sandboxConfig) (Acquired, error) {
	metadata := copyObject(config.all)
	metadata["provider"] = ProviderFake
	metadata["sandboxLeaseAcquisition"] = Object{"outcome": "created"}
	d.mu.Lock()
	d.fakes++
	id := fmt.Sprintf("sandbox://fake/%s/%d", cmp.Or(in.RunID, "probe"), d.fakes)
	d.mu.Unlock()
	return d.grant(in, lease.Lease{Policy: lease.Ephemeral, Provider: ProviderFake, ProviderLeaseID: id, Metadata: metadata})
}

// callMargin is how much longer than its command a call may take.
const callMargin = 30 * time.Second

// callTimeout returns how long a call may take: as long as asked for, else as
// long as the configuration says, with a margin; zero for the default.
func callTimeout(asked time.Duration, config Object) time.Duration {
	if asked > 0 {
		return asked + callMargin
	}
	if ms, ok := number(config, "timeoutMs"); ok && ms > 0 {
		return time.Duration(ms)*time.Millisecond + callMargin
	}
	return 0
}
