package environment

import (
	"cmp"
	"context"

	"errorkb/internal/runtime/capability"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/lease"
	"errorkb/internal/runtime/plugin"
	"errorkb/internal/runtime/wire"
	"errorkb/internal/runtime/worker"
)

// pluginDriver is the driver of environments that a plugin provides whole.
type pluginDriver struct{ *core }

func (*pluginDriver) Key() string { return DriverPlugin }

// Texts of errors of the plugin driver.
const (
	msgPluginNotReady  = `Plugin environment driver "%s:%s" is not ready.`                            // PLG-01
	msgNotDeclared     = `Plugin "%s" does not declare environment driver "%s".`                      // PLG-02
	msgNoPluginWorker  = `Plugin environment driver "%s:%s" has no running worker.`                   // PLG-03
	msgNotPlugin       = `Expected plugin environment config for driver "%s".`                        // PLG-04
	msgNoDriverKey     = `Plugin environment driver "%s:unknown" is missing a driver key.`            // PLG-05
	msgNothingToResume = `Plugin environment lease "%s" does not have a provider lease id to resume.` // PLG-06
)

// served is the plugin behind an environment or lease.
type served struct {
	plugin    plugin.Plugin
	driverKey string
	config    Object
}

// usable checks that a plugin can serve a driver key. p is empty when no plugin
// was found.
func (s *core) usable(p plugin.Plugin, pluginKey, driverKey string) error {
	if p.ID == "" || p.Status != plugin.Ready {
		return fault.New(msgPluginNotReady, pluginKey, driverKey)
	}
	if _, declared := p.Manifest.Driver(driverKey); !declared {
		return fault.New(msgNotDeclared, pluginKey, driverKey)
	}
	if !s.running(p.ID) {
		return fault.New(msgNoPluginWorker, pluginKey, driverKey)
	}
	return nil
}

// ofEnvironment finds the plugin that an environment names.
func (d *pluginDriver) ofEnvironment(e Environment) (served, error) {
	config, bad := parsePlugin(e.Config)
	if e.Driver != DriverPlugin || bad != nil {
		return served{}, fault.New(msgNotPlugin, e.Driver)
	}
	p, _ := d.Plugins.ByKey(config.pluginKey)
	return served{p, config.driverKey, config.config}, d.usable(p, config.pluginKey, config.driverKey)
}

// ofLease finds the plugin that serves an existing lease.
func (d *pluginDriver) ofLease(in LeaseInput) (served, error) {
	l := in.Lease
	id, key, driverKey := l.Text("pluginId"), l.Text("pluginKey"), l.Text("driverKey")
	if id == "" && key == "" && driverKey == "" {
		return d.ofEnvironment(in.Environment)
	}
	var config pluginConfig
	if in.Environment.Driver == DriverPlugin {
		if parsed, bad := parsePlugin(in.Environment.Config); bad == nil {
			config = parsed
		}
	}
	var p plugin.Plugin
	switch {
	case id != "":
		p, _ = d.Plugins.ByID(id)
	default:
		p, _ = d.Plugins.ByKey(cmp.Or(key, config.pluginKey))
	}
	name := cmp.Or(p.Key, key, config.pluginKey, id)
	driverKey = cmp.Or(driverKey, config.driverKey)
	if driverKey == "" {
		return served{}, fault.New(msgNoDriverKey, name)
	}
	if err := d.usable(p, name, driverKey); err != nil {
		return served{}, err
	}
	if config.pluginKey != p.Key || config.driverKey != driverKey || config.config == nil {
		config.config = Object{}
	}
	return served{p, driverKey, config.config}, nil
}

func (d *pluginDriver) Acquire(ctx context.Context, in AcquireInput) (Acquired, error) {
	by, err := d.ofEnvironment(in.Environment)
	if err != nil {
		return Acquired{}, err
	}
	granted, err := unmarshal[wire.LeaseResult](d.Workers.Call(ctx, by.plugin.ID, worker.Request{
		Method: wire.MethodAcquireLease, CompanyID: in.company(),
		Params: wire.AcquireParams{
			Target: wire.Target{DriverKey: by.driverKey, CompanyID: in.company(), EnvironmentID: in.Environment.ID,
				IssueID: wire.Text(in.IssueID), Config: by.config},
			RunID: in.RunID, WorkspaceMode: wire.Text(in.ExecutionWorkspaceMode), AgentID: wire.Text(in.AgentID),
			ExecutionWorkspaceID: wire.Text(in.ExecutionWorkspaceID), AdapterType: wire.Text(in.AdapterType), RequestedExpiresAt: in.RequestedExpiresAt,
		},
	}))
	if err != nil {
		return Acquired{}, err
	}
	metadata := Object{"pluginId": by.plugin.ID, "pluginKey": by.plugin.Key, "driverKey": by.driverKey}
	if granted.Metadata != nil {
		metadata["providerMetadata"] = granted.Metadata
	}
	return d.grant(in, lease.Lease{
		Policy: lease.Ephemeral, Provider: "plugin:" + by.plugin.Key + ":" + by.driverKey,
		ProviderLeaseID: string(granted.ProviderLeaseID), ExpiresAt: granted.ExpiresAt, Metadata: metadata,
	})
}

// leaseCall makes a call about a lease.
func (d *pluginDriver) leaseCall(ctx context.Context, in LeaseInput, method string, cancelWork bool) (wire.LeaseResult, error) {
	by, err := d.ofLease(in)
	if err != nil {
		return wire.LeaseResult{}, err
	}
	return unmarshal[wire.LeaseResult](d.Workers.Call(ctx, by.plugin.ID, worker.Request{
		Method: method, CompanyID: in.Lease.CompanyID,
		Params: wire.LeaseParams{Target: at(in, by.driverKey, by.config), ProviderLeaseID: wire.Text(in.Lease.ProviderLeaseID),
			LeaseMetadata: in.Lease.Metadata, CancelActiveWork: cancelWork},
	}))
}

func (d *pluginDriver) Resume(ctx context.Context, in LeaseInput) (lease.Lease, error) {
	if in.Lease.ProviderLeaseID == "" {
		return lease.Lease{}, fault.New(msgNothingToResume, in.Lease.ID)
	}
	if _, err := d.leaseCall(ctx, in, wire.MethodResumeLease, false); err != nil {
		return lease.Lease{}, err
	}
	return d.Leases.Update(in.Lease.ID, func(l *lease.Lease) {
		l.Status, l.LastUsedAt, l.ReleasedAt = lease.Active, *d.now(), nil
	})
}

func (d *pluginDriver) Release(ctx context.Context, in ReleaseInput) (lease.Lease, error) {
	if _, err := d.leaseCall(ctx, in.LeaseInput, wire.MethodReleaseLease, in.CancelActiveWork); err != nil {
		return lease.Lease{}, err
	}
	return d.Leases.Update(in.Lease.ID, func(l *lease.Lease) { d.finish(l, in.Status) })
}

func (d *pluginDriver) Destroy(ctx context.Context, in LeaseInput) (lease.Lease, error) {
	if _, err := d.leaseCall(ctx, in, wire.MethodDestroyLease, false); err != nil {
		return lease.Lease{}, err
	}
	return d.Leases.Update(in.Lease.ID, func(l *lease.Lease) {
		d.finish(l, lease.Expired)
		l.FailureReason = lease.ReasonDestroyed
	})
}

func (d *pluginDriver) Realize(ctx context.Context, in RealizeInput) (Realization, error) {
	by, err := d.ofLease(in.LeaseInput)
	if err != nil {
		return Realization{}, err
	}
	result, err := unmarshal[wire.RealizeResult](d.Workers.Call(ctx, by.plugin.ID, worker.Request{
		Method: wire.MethodRealizeWorkspace, CompanyID: in.Lease.CompanyID,
		Params: wire.RealizeParams{Target: at(in.LeaseInput, by.driverKey, by.config), Lease: leaseOf(in.Lease), Workspace: in.Workspace},
	}))
	return Realization{Cwd: result.Cwd, Metadata: result.Metadata}, err
}

func (d *pluginDriver) Execute(ctx context.Context, in ExecuteInput) (wire.ExecuteResult, error) {
	by, err := d.ofLease(in.LeaseInput)
	if err != nil {
		return wire.ExecuteResult{}, err
	}
	return d.executeIn(ctx, in, by.plugin.ID, at(in.LeaseInput, by.driverKey, by.config), by.config)
}

func (d *pluginDriver) ResolveCapabilities(_ context.Context, in LeaseInput) (capability.Set, error) {
	p, _ := d.Plugins.ByID(in.Lease.Text("pluginId"))
	declared, ok := p.Manifest.Driver(in.Lease.Text("driverKey"))
	if p.ID == "" || p.Status != plugin.Ready || !ok {
		return capability.None(), nil
	}
	facts := capability.Facts{Supported: capability.Keys(), Declared: declared.Declared(),
		Narrowing: capability.Narrow(capability.Lease{Reusable: in.Lease.Policy == lease.ReuseByEnvironment, Metadata: in.Lease.Metadata})}
	if d.Workers != nil {
		if h := d.Workers.Get(p.ID); h != nil {
			facts.Methods = h.SupportedMethods()
		}
	}
	return capability.Effective(facts), nil
}
