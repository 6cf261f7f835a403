// Package environment is the runtime's facade: it leases environments, runs
// commands in them and opens channels to them.
//
// New builds a Service from a lease store, a plugin registry and a worker
// manager. The service finds the driver of an environment or lease, asks
// whether it can do what is wanted, and lets it. Drivers are values of type
// Driver with optional interfaces beside it; GetDriver hands one out.
//
// The guards of each operation stand in the order in which they are tried; the
// first that fails decides the error.
package environment

import (
	"context"
	"encoding/json"
	"time"

	"errorkb/internal/runtime/capability"
	"errorkb/internal/runtime/duplex"
	"errorkb/internal/runtime/lease"
	"errorkb/internal/runtime/wire"
)

// Object is a configuration or metadata.
type Object = map[string]any

// Environment is a place where commands run.
type Environment struct {
	ID          string `json:"id"`
	CompanyID   string `json:"companyId"` // "" when it is open to all companies
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Driver      string `json:"driver"`
	Status      string `json:"status"` // StatusActive or StatusArchived
	Config      Object `json:"config"`
	Metadata    Object `json:"metadata,omitempty"`
}

// States of an environment.
const (
	StatusActive   = "active"
	StatusArchived = "archived"
)

// Keys of the stock drivers.
const (
	DriverLocal   = "local"
	DriverSSH     = "ssh"
	DriverSandbox = "sandbox"
	DriverPlugin  = "plugin"
)

// AcquireInput asks for a lease.
type AcquireInput struct {
	Environment            Environment
	CompanyID              string // of the run; "" means that of the environment
	IssueID                string
	RunID                  string // "" for a probe
	AgentID                string
	ExecutionWorkspaceID   string
	ExecutionWorkspaceMode string
	AdapterType            string
	RequestedExpiresAt     *time.Time
}

func (in AcquireInput) company() string {
	if in.CompanyID != "" {
		return in.CompanyID
	}
	return in.Environment.CompanyID
}

// Acquired is a new lease with its environment.
type Acquired struct {
	Environment  Environment
	Lease        lease.Lease
	LeaseContext LeaseContext
}

// LeaseContext is where the work of a lease belongs.
type LeaseContext struct {
	ExecutionWorkspaceID   string
	ExecutionWorkspaceMode string
}

// LeaseInput names a lease and its environment.
type LeaseInput struct {
	Environment Environment
	Lease       lease.Lease
}

// ReleaseInput ends the use of a lease. Status is what it becomes when the
// clean-up works: released, expired or failed.
type ReleaseInput struct {
	LeaseInput
	Status           lease.Status
	CancelActiveWork bool
}

// RealizeInput asks for the working directory of a lease.
type RealizeInput struct {
	LeaseInput
	Workspace wire.Workspace
}

// Realization is where the work of a lease happens.
type Realization struct {
	Cwd      string
	Metadata Object
}

// ExecuteInput runs a command in a lease.
type ExecuteInput struct {
	LeaseInput
	Command       string
	Args          []string
	Cwd           string
	Env           map[string]string
	Stdin         *string
	Timeout       time.Duration // 0 means that of the configuration
	BypassSession bool
	// OnLog gets live output. It must not block.
	OnLog func(stream, chunk string)
}

// SyncInput copies files between the host and a lease.
type SyncInput struct {
	LeaseInput
	Operations []wire.SyncOperation
}

// DuplexInput opens a channel to a command in a lease. Command is an argument
// vector.
type DuplexInput struct {
	LeaseInput
	Command []string
}

// Driver leases environments of one kind.
type Driver interface {
	Key() string
	Acquire(ctx context.Context, in AcquireInput) (Acquired, error)
	Release(ctx context.Context, in ReleaseInput) (lease.Lease, error)
	ResolveCapabilities(ctx context.Context, in LeaseInput) (capability.Set, error)
}

// What else a driver may be able to do.
type (
	resumer interface {
		Resume(ctx context.Context, in LeaseInput) (lease.Lease, error)
	}
	destroyer interface {
		Destroy(ctx context.Context, in LeaseInput) (lease.Lease, error)
	}
	realizer interface {
		Realize(ctx context.Context, in RealizeInput) (Realization, error)
	}
	executor interface {
		Execute(ctx context.Context, in ExecuteInput) (wire.ExecuteResult, error)
	}
	syncer interface {
		SyncIn(ctx context.Context, in SyncInput) (wire.SyncResult, error)
		SyncOut(ctx context.Context, in SyncInput) (wire.SyncResult, error)
		SupportsSync(in LeaseInput) bool
	}
	// DuplexOpener opens channels.
	DuplexOpener interface {
		OpenDuplexChannel(ctx context.Context, in DuplexInput) (*duplex.Channel, error)
	}
	orphanage interface {
		// TearDownOrphan ends the resource of a lease that nobody holds.
		TearDownOrphan(ctx context.Context, l lease.Lease) error
	}
	ingress interface {
		RunnerIngress(ctx context.Context, in LeaseInput) (string, error)
	}
)

// unmarshal decodes the result of a call.
func unmarshal[T any](raw json.RawMessage, err error) (T, error) {
	var v T
	if err != nil {
		return v, err
	}
	if len(raw) > 0 {
		err = json.Unmarshal(raw, &v)
	}
	return v, err
}
