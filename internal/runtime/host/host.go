// Package host puts a whole runtime together: the server process of the
// documented project, as far as this reference runtime needs one.
//
//	h, err := host.New(host.Config{Dir: dir})
//	defer h.Close()
//	h.Plugins.Install(p)
//	_, err = h.StartWorker(ctx, p.ID, worker.Command{Path: program, Args: args})
//	got, err := h.Service.Acquire(ctx, environment.AcquireInput{Environment: e, RunID: "run-1"})
//	channel, err := h.Service.OpenDuplexChannel(ctx, environment.DuplexInput{…})
//
// Restart does what a restart of the server does: workers and channels are
// gone, leases are read again.
package host

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"errorkb/internal/runtime/clock"
	"errorkb/internal/runtime/duplex"
	"errorkb/internal/runtime/environment"
	"errorkb/internal/runtime/lease"
	"errorkb/internal/runtime/plugin"
	"errorkb/internal/runtime/worker"
)

// Config describes a host. The zero value is a host with default limits whose
// leases live in memory.
type Config struct {
	Dir       string // of the leases; "" keeps them in memory
	NoWorkers bool   // a server process without a worker manager

	Limits        environment.Limits
	WorkerLimits  worker.Limits
	ChannelLimits duplex.Limits
	LoginLimits   duplex.Limits
	Ceiling       int // channels at once; 0 means 128

	Secrets    func(ctx context.Context, companyID, secretID string) (string, error)
	PrepareSSH func(ctx context.Context, config environment.SSHConfig) (string, error)
	Drivers    []environment.Driver // replaces the stock drivers
	Handlers   map[string]worker.Handler

	Clock  clock.Clock
	Jitter func() float64 // of restarts; between −1 and 1
	Log    *slog.Logger
	Stderr io.Writer // gets a copy of the workers' error output; may be nil
}

// Host is a running runtime.
type Host struct {
	Plugins *plugin.Registry
	Leases  *lease.Store
	Workers *worker.Manager // nil with NoWorkers
	Service *environment.Service

	config Config
	slots  *duplex.Slots
}

// New puts a host together.
func New(c Config) (*Host, error) {
	h := &Host{config: c, Plugins: &plugin.Registry{}}
	return h, h.begin()
}

// begin makes what does not survive a restart.
func (h *Host) begin() error {
	c := h.config
	if h.Leases == nil || c.Dir != "" {
		store, err := lease.Open(c.Dir, c.Clock)
		if err != nil {
			return fmt.Errorf("host: %w", err)
		}
		h.Leases = store
	}
	h.slots = duplex.NewSlots(c.Ceiling)
	if !c.NoWorkers {
		h.Workers = &worker.Manager{}
	}
	h.Service = environment.New(environment.Config{
		Leases: h.Leases, Plugins: h.Plugins, Workers: h.Workers, Secrets: c.Secrets, PrepareSSH: c.PrepareSSH,
		Drivers: c.Drivers, Limits: c.Limits, Clock: c.Clock, Log: c.Log,
	})
	return nil
}

// Options returns how the host starts the worker of a plugin.
func (h *Host) Options(pluginID string, command worker.Command) worker.Options {
	c := h.config
	options := worker.Options{
		Command: command, Handlers: c.Handlers, Stderr: c.Stderr, Limits: c.WorkerLimits, ChannelLimits: c.ChannelLimits,
		LoginLimits: c.LoginLimits,
		Slots:       h.slots, Clock: c.Clock, Log: c.Log, Jitter: c.Jitter,
	}
	if p, ok := h.Plugins.ByID(pluginID); ok {
		options.Manifest = p.Manifest
	}
	return options
}

// StartWorker starts the worker of a plugin.
func (h *Host) StartWorker(ctx context.Context, pluginID string, command worker.Command) (*worker.Handle, error) {
	return h.Workers.Start(ctx, pluginID, h.Options(pluginID, command))
}

// Channels returns how many channels are open.
func (h *Host) Channels() int { return h.slots.Taken() }

// Restart stops all workers and begins anew with the stored leases. Plugins
// stay installed; their workers have to be started again.
func (h *Host) Restart() error {
	h.Close()
	return h.begin()
}

// Close stops all workers.
func (h *Host) Close() {
	if h.Workers != nil {
		h.Workers.StopAll()
	}
}
