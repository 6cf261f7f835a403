package environment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/lease"
	"errorkb/internal/runtime/wire"
	"errorkb/internal/runtime/worker"
)

// Texts of errors in ending a sandbox.
const (
	msgNoReleaseConfig = `Expected sandbox environment config for lease "%s".`                                     // SBX-09
	msgNoProvider      = `Pending-cleanup lease "%s" has no recorded provider for teardown.`                       // SBX-10
	msgNoConfig        = `Pending-cleanup lease "%s" has no recorded config for provider "%s".`                    // SBX-11
	msgCleanupManager  = `Sandbox provider "%s" needs a plugin worker manager for cleanup, but none is available.` // SBX-12
	msgCleanupProvider = `Sandbox provider plugin for "%s" is %s, so the cleanup teardown cannot run yet.`         // SBX-13
)

// Reasons why a provider was not asked to end a sandbox. They are recorded as a
// failed clean-up and never reach a caller.
var (
	errCannotAsk = errors.New("the provider cannot be asked")
	errReceipt   = errors.New("the receipt names another lease")
)

// Release ends the use of a sandbox. What goes wrong at the provider is
// recorded in the lease, never returned.
func (d *sandbox) Release(ctx context.Context, in ReleaseInput) (lease.Lease, error) {
	l := in.Lease
	if in.Status == lease.Expired && l.Policy == lease.ReuseByEnvironment {
		return d.destroy(ctx, in.LeaseInput, lease.ReasonExpired)
	}
	var cleanup error
	if l.PluginBacked() {
		cleanup = d.ask(ctx, in.LeaseInput, wire.MethodReleaseLease, in.CancelActiveWork)
	} else if in.Environment.Driver != DriverSandbox && l.Text("provider") == "" {
		return l, fault.New(msgNoReleaseConfig, l.ID)
	}
	return d.Leases.Update(l.ID, func(l *lease.Lease) {
		l.ReleasedAt, l.CleanupStatus = d.now(), lease.CleanupSuccess
		if cleanup != nil {
			d.Log.Warn("sandbox release failed", "lease", l.ID, "error", cleanup)
			l.CleanupStatus = lease.CleanupFailed
		}
		switch {
		case in.Status == lease.Failed:
			l.FailureReason = lease.ReasonRunFailure
		case cleanup != nil:
			l.FailureReason = lease.ReasonCleanupFailed
		}
		switch {
		case in.Status == lease.Failed && l.Policy == lease.RetainOnFailure:
			l.Status = lease.Retained
		case cleanup != nil:
			l.Status = lease.PendingCleanup
		default:
			l.Status = in.Status
		}
	})
}

// Destroy ends a sandbox for good, like Release without an error of the
// provider.
func (d *sandbox) Destroy(ctx context.Context, in LeaseInput) (lease.Lease, error) {
	return d.destroy(ctx, in, lease.ReasonDestroyed)
}

func (d *sandbox) destroy(ctx context.Context, in LeaseInput, reason string) (lease.Lease, error) {
	var cleanup error
	if in.Lease.PluginBacked() {
		cleanup = d.ask(ctx, in, wire.MethodDestroyLease, false)
	}
	return d.Leases.Update(in.Lease.ID, func(l *lease.Lease) {
		l.ReleasedAt, l.FailureReason = d.now(), reason
		l.Status, l.CleanupStatus = lease.Expired, lease.CleanupSuccess
		if cleanup != nil {
			d.Log.Warn("sandbox destroy failed", "lease", l.ID, "error", cleanup)
			l.Status, l.CleanupStatus = lease.PendingCleanup, lease.CleanupFailed
		}
	})
}

// ask lets the worker release or destroy the sandbox of a lease.
func (d *sandbox) ask(ctx context.Context, in LeaseInput, method string, cancelWork bool) error {
	l := in.Lease
	provider := d.providerOf(in)
	if d.Workers == nil || l.Text("pluginId") == "" || provider == "" {
		return errCannotAsk
	}
	config, err := d.runtimeConfig(ctx, in)
	if err != nil {
		return err
	}
	return d.end(ctx, l, l.Text("pluginId"), provider, config, method, cancelWork)
}

func (d *sandbox) destroyResource(ctx context.Context, l lease.Lease, pluginID, provider string, config Object) error {
	return d.end(ctx, l, pluginID, provider, config, wire.MethodDestroyLease, false)
}

func (d *sandbox) end(ctx context.Context, l lease.Lease, pluginID, provider string, config Object, method string, cancelWork bool) error {
	h := d.Workers.Get(pluginID)
	if h == nil || h.Status() != worker.Running || !advertises(h, method) {
		return errCannotAsk
	}
	raw, err := h.Call(ctx, worker.Request{
		Method: method, CompanyID: l.CompanyID, Timeout: callTimeout(0, config),
		Params: wire.LeaseParams{
			Target: wire.Target{DriverKey: provider, CompanyID: l.CompanyID, EnvironmentID: l.EnvironmentID,
				IssueID: wire.Text(l.IssueID), Config: workerConfig(config)},
			ProviderLeaseID: wire.Text(l.ProviderLeaseID), LeaseMetadata: l.Metadata, CancelActiveWork: cancelWork,
		},
	})
	if err != nil {
		return err
	}
	var receipt *wire.Receipt
	if err := json.Unmarshal(raw, &receipt); err != nil {
		return fmt.Errorf("receipt: %w", err)
	}
	if receipt != nil && string(receipt.ProviderLeaseID) != l.ProviderLeaseID {
		return errReceipt
	}
	return nil
}

// TearDownOrphan ends the sandbox of a lease that nobody holds. The row alone
// decides who provides it.
func (d *sandbox) TearDownOrphan(ctx context.Context, l lease.Lease) error {
	provider := l.Provider
	if provider == "" {
		return fault.New(msgNoProvider, l.ID)
	}
	if l.Text("provider") != provider {
		return fault.New(msgNoConfig, l.ID, provider)
	}
	if provider == ProviderFake {
		return nil
	}
	if d.Workers == nil {
		return fault.New(msgCleanupManager, provider)
	}
	p, declared, state := d.findProvider(ctx, provider)
	if state != providerRunning {
		return fault.New(msgCleanupProvider, provider, state)
	}
	config, err := d.resolveSecrets(ctx, l.CompanyID, declared, l.Metadata)
	if err != nil {
		return err
	}
	return d.destroyResource(ctx, l, p.ID, provider, config)
}
