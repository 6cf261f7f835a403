package environment

import (
	"context"
	"maps"
	"slices"

	"errorkb/internal/runtime/capability"
	"errorkb/internal/runtime/duplex"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/lease"
	"errorkb/internal/runtime/plugin"
	"errorkb/internal/runtime/wire"
	"errorkb/internal/runtime/worker"
)

// Texts of errors in using a sandbox.
const (
	msgNoDirectExecute = `Sandbox driver does not support direct command execution for built-in providers.`                // SBX-15
	msgNoLeaseSync     = `Sandbox driver does not support native file sync for this lease.`                                // SBX-16
	msgSyncMetadata    = `Sandbox lease is missing plugin/provider metadata for native file sync.`                         // SBX-17
	msgNoLeaseDuplex   = `Sandbox driver does not support duplex channels for this lease.`                                 // SBX-18
	msgDuplexMetadata  = `Sandbox duplex channel needs a plugin id, a provider key, and a provider lease id on the lease.` // SBX-19
	msgDuplexWorker    = `Plugin worker "%s" is not running for the duplex channel.`                                       // SBX-20
)

// providerOf returns the provider of a lease: the recorded one, else that of
// the environment, else "".
func (d *sandbox) providerOf(in LeaseInput) string {
	if provider := in.Lease.Text("provider"); provider != "" {
		return provider
	}
	if in.Environment.Driver != DriverSandbox {
		return ""
	}
	config, bad := parseSandbox(in.Environment.Config)
	if bad != nil {
		return ""
	}
	return config.provider
}

// runtimeConfig returns the configuration that serves a lease, with the values
// of secrets: that of the lease when it has one, else that of the environment.
func (d *sandbox) runtimeConfig(ctx context.Context, in LeaseInput) (Object, error) {
	provider := d.providerOf(in)
	_, declared, known := d.Plugins.Pinned(in.Lease.Text("pluginId"), provider)
	if !known {
		declared = plugin.Driver{}
	}
	if in.Lease.Text("provider") == provider {
		return d.resolveSecrets(ctx, in.Lease.CompanyID, declared, in.Lease.Metadata)
	}
	if config, bad := parseSandbox(in.Environment.Config); bad == nil && config.provider == provider {
		// What fails here is not fatal: the lease may have all that is needed.
		if resolved, err := d.resolveSecrets(ctx, in.Lease.CompanyID, declared, config.all); err == nil {
			return resolved, nil
		}
	}
	return maps.Clone(in.Lease.Metadata), nil
}

func advertises(h *worker.Handle, method string) bool {
	return slices.Contains(h.SupportedMethods(), method)
}

func (d *sandbox) ResolveCapabilities(ctx context.Context, in LeaseInput) (capability.Set, error) {
	provider := d.providerOf(in)
	if provider == "" {
		return capability.None(), nil
	}
	facts := capability.Facts{Supported: capability.Keys()}
	narrowing := capability.Lease{Reusable: in.Lease.Policy == lease.ReuseByEnvironment, Metadata: in.Lease.Metadata}
	if in.Lease.PluginBacked() {
		id := in.Lease.Text("pluginId")
		_, declared, ok := d.Plugins.Pinned(id, provider)
		if !ok {
			return capability.None(), nil
		}
		if d.Workers != nil {
			if h := d.Workers.Get(id); h != nil {
				facts.Methods = h.SupportedMethods()
			}
		}
		facts.Declared = declared.Declared()
		_, err := d.runtimeConfig(ctx, in)
		narrowing.ConfigFailed = err != nil
	}
	facts.Narrowing = capability.Narrow(narrowing)
	return capability.Effective(facts), nil
}

// at names the target of a call about a lease.
func at(in LeaseInput, driverKey string, config Object) wire.Target {
	return wire.Target{DriverKey: driverKey, CompanyID: in.Lease.CompanyID, EnvironmentID: in.Environment.ID,
		IssueID: wire.Text(in.Lease.IssueID), Config: workerConfig(config)}
}

func leaseOf(l lease.Lease) wire.Lease {
	return wire.Lease{ProviderLeaseID: wire.Text(l.ProviderLeaseID), Metadata: l.Metadata, ExpiresAt: l.ExpiresAt}
}

func (d *sandbox) Realize(ctx context.Context, in RealizeInput) (Realization, error) {
	id, provider := in.Lease.Text("pluginId"), d.providerOf(in.LeaseInput)
	made := Realization{Cwd: in.Lease.Text("remoteCwd"), Metadata: Object{"provider": provider}}
	if !in.Lease.PluginBacked() || d.Workers == nil || id == "" || provider == "" {
		return made, nil
	}
	config, err := d.runtimeConfig(ctx, in.LeaseInput)
	if err != nil {
		return Realization{}, err
	}
	result, err := unmarshal[wire.RealizeResult](d.Workers.Call(ctx, id, worker.Request{
		Method: wire.MethodRealizeWorkspace, CompanyID: in.Lease.CompanyID, Timeout: callTimeout(0, config),
		Params: wire.RealizeParams{Target: at(in.LeaseInput, provider, config), Lease: leaseOf(in.Lease), Workspace: in.Workspace},
	}))
	if err != nil {
		return Realization{}, err
	}
	made.Cwd = result.Cwd
	maps.Copy(made.Metadata, result.Metadata)
	return made, nil
}

// Execute runs a command. It reads the provider from the lease only.
func (d *sandbox) Execute(ctx context.Context, in ExecuteInput) (wire.ExecuteResult, error) {
	id, provider := in.Lease.Text("pluginId"), in.Lease.Text("provider")
	if !in.Lease.PluginBacked() || d.Workers == nil || id == "" || provider == "" {
		return wire.ExecuteResult{}, fault.New(msgNoDirectExecute)
	}
	config, err := d.runtimeConfig(ctx, in.LeaseInput)
	if err != nil {
		return wire.ExecuteResult{}, err
	}
	return d.executeIn(ctx, in, id, at(in.LeaseInput, provider, config), config)
}

// executeIn calls execute, for the sandbox and the plugin driver.
func (s *core) executeIn(ctx context.Context, in ExecuteInput, pluginID string, target wire.Target, config Object) (wire.ExecuteResult, error) {
	args := in.Args
	if args == nil {
		args = []string{}
	}
	return unmarshal[wire.ExecuteResult](s.Workers.Call(ctx, pluginID, worker.Request{
		Method: wire.MethodExecute, CompanyID: in.Lease.CompanyID, Timeout: callTimeout(in.Timeout, config), OnLog: in.OnLog,
		Params: wire.ExecuteParams{
			Target: target, Lease: leaseOf(in.Lease), Command: in.Command, Args: args, Cwd: wire.Text(in.Cwd),
			Env: in.Env, Stdin: in.Stdin, TimeoutMs: in.Timeout.Milliseconds(), BypassSession: in.BypassSession,
		},
	}))
}

func (d *sandbox) SyncIn(ctx context.Context, in SyncInput) (wire.SyncResult, error) {
	return d.sync(ctx, in, wire.MethodSyncIn)
}

func (d *sandbox) SyncOut(ctx context.Context, in SyncInput) (wire.SyncResult, error) {
	return d.sync(ctx, in, wire.MethodSyncOut)
}

func (d *sandbox) sync(ctx context.Context, in SyncInput, method string) (wire.SyncResult, error) {
	if !in.Lease.PluginBacked() || d.Workers == nil {
		return wire.SyncResult{}, fault.New(msgNoLeaseSync)
	}
	id, provider := in.Lease.Text("pluginId"), in.Lease.Text("provider")
	if id == "" || provider == "" {
		return wire.SyncResult{}, fault.New(msgSyncMetadata)
	}
	config, err := d.runtimeConfig(ctx, in.LeaseInput)
	if err != nil {
		return wire.SyncResult{}, err
	}
	return unmarshal[wire.SyncResult](d.Workers.Call(ctx, id, worker.Request{
		Method: method, CompanyID: in.Lease.CompanyID, Timeout: callTimeout(0, config),
		Params: wire.SyncParams{Target: at(in.LeaseInput, provider, config), Lease: leaseOf(in.Lease), Operations: in.Operations},
	}))
}

func (d *sandbox) SupportsSync(in LeaseInput) bool {
	id := in.Lease.Text("pluginId")
	if !in.Lease.PluginBacked() || d.Workers == nil || id == "" {
		return false
	}
	h := d.Workers.Get(id)
	return h != nil && advertises(h, wire.MethodSyncIn) && advertises(h, wire.MethodSyncOut) &&
		in.Lease.Metadata["backend"] != "job" && in.Lease.Metadata["nativeFileSyncUnsupported"] != true
}

// OpenDuplexChannel opens a channel. It reads the provider from the lease only.
func (d *sandbox) OpenDuplexChannel(ctx context.Context, in DuplexInput) (*duplex.Channel, error) {
	l := in.Lease
	if !l.PluginBacked() || d.Workers == nil {
		return nil, fault.New(msgNoLeaseDuplex)
	}
	id, provider := l.Text("pluginId"), l.Text("provider")
	if id == "" || provider == "" || l.ProviderLeaseID == "" {
		return nil, fault.New(msgDuplexMetadata)
	}
	h := d.Workers.Get(id)
	if h == nil {
		return nil, fault.New(msgDuplexWorker, id)
	}
	command := in.Command
	if command == nil {
		command = []string{}
	}
	return h.OpenDuplex(ctx, wire.DuplexOpenParams{
		DriverKey: provider, CompanyID: l.CompanyID, EnvironmentID: in.Environment.ID, ProviderLeaseID: l.ProviderLeaseID, Command: command,
	})
}
