package environment

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"errorkb/internal/runtime/capability"
	"errorkb/internal/runtime/clock"
	"errorkb/internal/runtime/duplex"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/lease"
	"errorkb/internal/runtime/plugin"
	"errorkb/internal/runtime/wire"
	"errorkb/internal/runtime/worker"
)

// Config is what a Service is built from. Only Leases is required.
type Config struct {
	Leases  *lease.Store
	Plugins *plugin.Registry
	Workers *worker.Manager // nil in a process that runs no workers
	// Secrets returns the value behind a reference. Without it a reference that
	// is a string is its own value.
	Secrets func(ctx context.Context, companyID, secretID string) (string, error)
	// PrepareSSH makes the workspace on the other host and returns its
	// directory. There is no transport here; without it ssh leases nothing.
	PrepareSSH func(ctx context.Context, config SSHConfig) (string, error)
	// Drivers replaces the stock drivers when it is not nil.
	Drivers []Driver
	Limits  Limits
	Clock   clock.Clock
	Log     *slog.Logger
}

// Limits bound how long the runtime tries.
type Limits struct {
	WorkerWait    time.Duration // for the worker of a ready plugin to run
	WorkerPoll    time.Duration
	ResumeBudget  time.Duration // for retries of a resume
	ResumeBackoff time.Duration // before the first retry; doubles
	ResumeMax     time.Duration
	CleanupWrites int           // attempts to record a clean-up that is owed
	CleanupPause  time.Duration // before the second attempt; grows by itself
}

// DefaultLimits returns the limits of the documented project.
func DefaultLimits() Limits {
	return Limits{
		WorkerWait: 5 * time.Second, WorkerPoll: 100 * time.Millisecond,
		ResumeBudget: 60 * time.Second, ResumeBackoff: 250 * time.Millisecond, ResumeMax: 5 * time.Second,
		CleanupWrites: 3, CleanupPause: 100 * time.Millisecond,
	}
}

// Service is the facade.
type Service struct {
	*core
	drivers map[string]Driver
}

// core is what the facade and the stock drivers share. It has no operation of a
// driver, so that embedding it gives a driver none that it does not have.
type core struct {
	Config

	mu    sync.Mutex
	fakes int // sandboxes of the built-in provider so far
}

// New builds a service.
func New(c Config) *Service {
	if c.Plugins == nil {
		c.Plugins = &plugin.Registry{}
	}
	if c.Limits == (Limits{}) {
		c.Limits = DefaultLimits()
	}
	if c.Clock == nil {
		c.Clock = clock.Real()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	shared := &core{Config: c}
	s := &Service{core: shared, drivers: map[string]Driver{}}
	drivers := c.Drivers
	if drivers == nil {
		drivers = []Driver{&local{shared}, &ssh{shared}, &sandbox{shared}}
		if c.Workers != nil {
			drivers = append(drivers, &pluginDriver{shared})
		}
	}
	for _, d := range drivers {
		s.drivers[d.Key()] = d
	}
	return s
}

// Texts of errors of the facade.
const (
	msgNoDriver   = `Environment driver "%s" is not registered in the environment runtime yet.` // FAC-01
	msgNotActive  = `Environment "%s" is not active.`                                           // FAC-02
	msgNoResume   = `Environment driver "%s" does not support lease resume.`                    // FAC-03
	msgNoDestroy  = `Environment driver "%s" does not support lease destroy.`                   // FAC-04
	msgNoRealize  = `Environment driver "%s" does not support workspace realization.`           // FAC-05
	msgNoExecute  = `Environment driver "%s" does not support command execution.`               // FAC-06
	msgNoSync     = `Environment driver "%s" does not support native file sync.`                // FAC-07
	msgNoDuplex   = `Environment driver "%s" does not support duplex channels.`                 // FAC-08
	msgDenied     = `Sandbox lease does not grant the duplex command stream capability.`        // FAC-09
	msgNoIngress  = `Sandbox lease does not grant runner WebSocket ingress.`                    // FAC-10
	msgIngress    = `Environment driver "%s" does not support runner ingress.`                  // FAC-11
	msgNoTeardown = `Environment driver "%s" does not support orphan sandbox teardown.`         // FAC-12
	msgKeep       = `Cannot keep non-reusable environment lease "%s" running.`                  // FAC-13
)

// GetDriver returns the driver of a key, nil when there is none.
func (s *Service) GetDriver(key string) Driver { return s.drivers[key] }

func (s *Service) driver(key string) (Driver, error) {
	d := s.drivers[key]
	if d == nil {
		return nil, fault.New(msgNoDriver, key)
	}
	return d, nil
}

func (s *Service) driverOf(in LeaseInput) (Driver, error) {
	return s.driver(in.Lease.DriverKey(in.Environment.Driver))
}

// Acquire leases an environment.
func (s *Service) Acquire(ctx context.Context, in AcquireInput) (Acquired, error) {
	if in.Environment.Status != StatusActive {
		return Acquired{}, fault.New(msgNotActive, in.Environment.Name)
	}
	d, err := s.driver(in.Environment.Driver)
	if err != nil {
		return Acquired{}, err
	}
	return d.Acquire(ctx, in)
}

// Resume takes a lease up again.
func (s *Service) Resume(ctx context.Context, in LeaseInput) (lease.Lease, error) {
	d, err := s.driverOf(in)
	if err != nil {
		return lease.Lease{}, err
	}
	r, ok := d.(resumer)
	if !ok {
		return lease.Lease{}, fault.New(msgNoResume, d.Key())
	}
	return r.Resume(ctx, in)
}

// Release ends the use of one lease. Unlike every other operation it does not
// insist on a driver: without one nobody has a resource to give back, and the
// row alone is ended.
func (s *Service) Release(ctx context.Context, in ReleaseInput) (lease.Lease, error) {
	d, err := s.driverOf(in.LeaseInput)
	if err != nil {
		return s.Leases.Update(in.Lease.ID, func(l *lease.Lease) { s.finish(l, in.Status) })
	}
	return d.Release(ctx, in)
}

// Disposition is what a caller wants done with a lease at the end of its run.
type Disposition string

// Dispositions. The empty one releases.
const KeepRunning Disposition = "keep_running"

// RunRelease ends the leases of a run.
type RunRelease struct {
	RunID  string
	Status lease.Status
	// Environment returns the environment of a lease; false when it is gone.
	Environment func(id string) (Environment, bool)
	// Disposition chooses for each lease; nil releases all.
	Disposition func(l lease.Lease) Disposition
	// OnError is told of leases that could not be released; nil ignores them.
	OnError func(l lease.Lease, err error)
}

// ReleaseRunLeases ends the active leases of a run, one after the other. An
// error of one does not keep the others.
func (s *Service) ReleaseRunLeases(ctx context.Context, in RunRelease) ([]lease.Lease, error) {
	active, err := s.Leases.List(func(l lease.Lease) bool { return l.HeartbeatRunID == in.RunID && l.Status == lease.Active })
	if err != nil {
		return nil, err
	}
	var released []lease.Lease
	for _, l := range active {
		l, err := s.releaseOne(ctx, in, l)
		if err == nil {
			released = append(released, l)
		} else if in.OnError != nil {
			in.OnError(l, err)
		}
	}
	return released, nil
}

func (s *Service) releaseOne(ctx context.Context, in RunRelease, l lease.Lease) (lease.Lease, error) {
	if in.Disposition != nil && in.Disposition(l) == KeepRunning {
		if l.Policy != lease.ReuseByEnvironment {
			return l, fault.New(msgKeep, l.ID)
		}
		return s.Leases.Update(l.ID, func(l *lease.Lease) { l.Status = lease.Retained })
	}
	input := ReleaseInput{LeaseInput: LeaseInput{Lease: l}, Status: in.Status}
	if in.Environment != nil {
		input.Environment, _ = in.Environment(l.EnvironmentID)
	}
	released, err := s.Release(ctx, input)
	if err != nil {
		return l, err
	}
	return released, nil
}

// Destroy ends a lease and its resource.
func (s *Service) Destroy(ctx context.Context, in LeaseInput) (lease.Lease, error) {
	d, err := s.driverOf(in)
	if err != nil {
		return lease.Lease{}, err
	}
	r, ok := d.(destroyer)
	if !ok {
		return lease.Lease{}, fault.New(msgNoDestroy, d.Key())
	}
	return r.Destroy(ctx, in)
}

// Realize makes the workspace of a lease ready.
func (s *Service) Realize(ctx context.Context, in RealizeInput) (Realization, error) {
	d, err := s.driverOf(in.LeaseInput)
	if err != nil {
		return Realization{}, err
	}
	r, ok := d.(realizer)
	if !ok {
		return Realization{}, fault.New(msgNoRealize, d.Key())
	}
	return r.Realize(ctx, in)
}

// Execute runs a command. A command that fails is a result, not an error.
func (s *Service) Execute(ctx context.Context, in ExecuteInput) (wire.ExecuteResult, error) {
	d, err := s.driverOf(in.LeaseInput)
	if err != nil {
		return wire.ExecuteResult{}, err
	}
	r, ok := d.(executor)
	if !ok {
		return wire.ExecuteResult{}, fault.New(msgNoExecute, d.Key())
	}
	return r.Execute(ctx, in)
}

// SyncIn copies files into a lease.
func (s *Service) SyncIn(ctx context.Context, in SyncInput) (wire.SyncResult, error) {
	r, err := s.syncer(in)
	if err != nil {
		return wire.SyncResult{}, err
	}
	return r.SyncIn(ctx, in)
}

// SyncOut copies files out of a lease.
func (s *Service) SyncOut(ctx context.Context, in SyncInput) (wire.SyncResult, error) {
	r, err := s.syncer(in)
	if err != nil {
		return wire.SyncResult{}, err
	}
	return r.SyncOut(ctx, in)
}

func (s *Service) syncer(in SyncInput) (syncer, error) {
	d, err := s.driverOf(in.LeaseInput)
	if err != nil {
		return nil, err
	}
	r, ok := d.(syncer)
	if !ok {
		return nil, fault.New(msgNoSync, d.Key())
	}
	return r, nil
}

// SupportsSync reports whether files can be copied. It never fails.
func (s *Service) SupportsSync(in LeaseInput) bool {
	d, err := s.driverOf(in)
	if err != nil {
		return false
	}
	r, ok := d.(syncer)
	return ok && r.SupportsSync(in)
}

// Capabilities returns what a lease may do now.
func (s *Service) Capabilities(ctx context.Context, in LeaseInput) (capability.Set, error) {
	d, err := s.driverOf(in)
	if err != nil {
		return nil, err
	}
	return d.ResolveCapabilities(ctx, in)
}

// OpenDuplexChannel opens a channel to a command.
func (s *Service) OpenDuplexChannel(ctx context.Context, in DuplexInput) (*duplex.Channel, error) {
	d, err := s.driverOf(in.LeaseInput)
	if err != nil {
		return nil, err
	}
	opener, ok := d.(DuplexOpener)
	if !ok {
		return nil, fault.New(msgNoDuplex, d.Key())
	}
	granted, err := d.ResolveCapabilities(ctx, in.LeaseInput)
	if err != nil {
		return nil, err
	}
	if !granted[capability.DuplexCommandStream] {
		return nil, fault.New(msgDenied)
	}
	return opener.OpenDuplexChannel(ctx, in)
}

// RunnerIngress returns the endpoint at which a runner in the lease is reached.
func (s *Service) RunnerIngress(ctx context.Context, in LeaseInput) (string, error) {
	d, err := s.driverOf(in)
	if err != nil {
		return "", err
	}
	granted, err := d.ResolveCapabilities(ctx, in)
	if err != nil {
		return "", err
	}
	if !granted[capability.RunnerWebSocketIngress] {
		return "", fault.New(msgNoIngress)
	}
	r, ok := d.(ingress)
	if !ok {
		return "", fault.New(msgIngress, d.Key())
	}
	return r.RunnerIngress(ctx, in)
}

// Swept is the outcome of one clean-up that was owed.
type Swept struct {
	Lease lease.Lease
	Err   error // nil when the resource is gone
}

// Sweep tries again to end the resources of leases whose clean-up is owed.
func (s *Service) Sweep(ctx context.Context) ([]Swept, error) {
	owed, err := s.Leases.List(func(l lease.Lease) bool { return l.Status == lease.PendingCleanup })
	if err != nil {
		return nil, err
	}
	var swept []Swept
	for _, l := range owed {
		err := s.sweepOne(ctx, l)
		if err == nil {
			l, err = s.Leases.Update(l.ID, func(l *lease.Lease) {
				l.Status, l.CleanupStatus = lease.Expired, lease.CleanupSuccess
				l.ReleasedAt = s.now()
			})
		}
		swept = append(swept, Swept{l, err})
	}
	return swept, nil
}

func (s *Service) sweepOne(ctx context.Context, l lease.Lease) error {
	d, err := s.driver(l.DriverKey(""))
	if err != nil {
		return err
	}
	o, ok := d.(orphanage)
	if !ok {
		return fault.New(msgNoTeardown, d.Key())
	}
	return o.TearDownOrphan(ctx, l)
}

func (s *core) now() *time.Time {
	now := s.Clock.Now().UTC()
	return &now
}
