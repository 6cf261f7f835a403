package environment

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"errorkb/internal/runtime/capability"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/lease"
)

// local is the driver of the machine itself.
type local struct{ *core }

// msgLocalCleanup is LOC-01.
const msgLocalCleanup = `Local lease cleanup cannot release a provider resource.`

func (*local) Key() string { return DriverLocal }

func (d *local) Acquire(_ context.Context, in AcquireInput) (Acquired, error) {
	return d.grant(in, lease.Lease{Policy: lease.Ephemeral, Provider: DriverLocal})
}

// Release never fails for a local lease: there is nothing to clean up.
func (d *local) Release(_ context.Context, in ReleaseInput) (lease.Lease, error) {
	return d.Leases.Update(in.Lease.ID, func(l *lease.Lease) { d.finish(l, in.Status) })
}

func (*local) ResolveCapabilities(context.Context, LeaseInput) (capability.Set, error) {
	return capability.None(), nil
}

func (*local) Realize(_ context.Context, in RealizeInput) (Realization, error) {
	return Realization{Cwd: cmp.Or(string(in.Workspace.LocalPath), string(in.Workspace.RemotePath), "/")}, nil
}

func (*local) TearDownOrphan(_ context.Context, l lease.Lease) error {
	if l.Provider != DriverLocal || l.ProviderLeaseID != "" {
		return fault.New(msgLocalCleanup)
	}
	return nil
}

// grant stores a lease with what every driver records.
func (s *core) grant(in AcquireInput, l lease.Lease) (Acquired, error) {
	stored, err := s.insert(in, l)
	if err != nil {
		return Acquired{}, err
	}
	return acquired(in, stored), nil
}

func (s *core) insert(in AcquireInput, l lease.Lease) (lease.Lease, error) {
	l.CompanyID, l.EnvironmentID = in.company(), in.Environment.ID
	l.ExecutionWorkspaceID, l.IssueID, l.HeartbeatRunID = in.ExecutionWorkspaceID, in.IssueID, in.RunID
	if l.Status == "" {
		l.Status = lease.Active
	}
	if l.Metadata == nil {
		l.Metadata = Object{}
	}
	l.Metadata["driver"] = in.Environment.Driver
	for key, value := range map[string]string{"agentId": in.AgentID, "executionWorkspaceMode": in.ExecutionWorkspaceMode} {
		if value != "" {
			l.Metadata[key] = value
		}
	}
	return s.Leases.Insert(l, in.Environment.CompanyID)
}

func acquired(in AcquireInput, l lease.Lease) Acquired {
	return Acquired{Environment: in.Environment, Lease: l,
		LeaseContext: LeaseContext{in.ExecutionWorkspaceID, in.ExecutionWorkspaceMode}}
}

// finish ends a lease whose resource is in order.
func (s *core) finish(l *lease.Lease, status lease.Status) {
	l.Status, l.ReleasedAt = status, s.now()
	if status == lease.Failed {
		l.FailureReason = lease.ReasonRunFailure
	}
}

// ssh is the driver of another host. It checks configurations and keeps
// leases; how the other host is reached is the caller's.
type ssh struct{ *core }

func (*ssh) Key() string { return DriverSSH }

func (d *ssh) Acquire(ctx context.Context, in AcquireInput) (Acquired, error) {
	if in.Environment.Driver != DriverSSH {
		return Acquired{}, fault.New(msgSSHNotResolved, in.Environment.Driver)
	}
	config, bad := parseSSH(in.Environment.Config)
	if bad != nil {
		return Acquired{}, bad
	}
	if d.PrepareSSH == nil {
		return Acquired{}, fmt.Errorf("ssh workspace on %s: %w", config.Host, errors.ErrUnsupported)
	}
	cwd, err := d.PrepareSSH(ctx, config)
	if err != nil {
		return Acquired{}, fmt.Errorf("ssh workspace on %s: %w", config.Host, err)
	}
	return d.grant(in, lease.Lease{
		Policy: lease.Ephemeral, Provider: DriverSSH, Metadata: Object{"remoteCwd": cwd},
		ProviderLeaseID: fmt.Sprintf("ssh://%s@%s:%d%s", config.Username, config.Host, config.Port, cwd),
	})
}

func (d *ssh) Release(_ context.Context, in ReleaseInput) (lease.Lease, error) {
	return d.Leases.Update(in.Lease.ID, func(l *lease.Lease) { d.finish(l, in.Status) })
}

func (*ssh) ResolveCapabilities(context.Context, LeaseInput) (capability.Set, error) {
	return capability.None(), nil
}

func (*ssh) Realize(_ context.Context, in RealizeInput) (Realization, error) {
	return Realization{Cwd: in.Lease.Text("remoteCwd")}, nil
}
