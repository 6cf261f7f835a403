// Package daytona is the Daytona sandbox provider: a worker program that
// grants leases of sandboxes of a Daytona-style service.
//
// Main is the program, Args starts it from the kb program, and Manifest is
// what its plugin declares. Plugin builds the hooks for package sdk. One file
// holds one operation; the guards of an operation stand in it in their order.
// All state is in memory and gone when the worker ends: the cache of sandbox
// handles (cache.go), the gates of each lease (gates.go), open channels
// (duplex.go) and sessions for commands (session.go).
package daytona

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"errorkb/internal/runtime/daytona/client"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/sdk"
	"errorkb/internal/runtime/wire"
)

const (
	// Name is what the program is called as an argument.
	Name = "daytona"
	// PluginKey names the plugin.
	PluginKey = "paperclip.daytona-sandbox-provider"
	// DriverKey names its environment driver.
	DriverKey = "daytona"
)

// Manifest is the manifest of the plugin.
func Manifest() wire.Object {
	return wire.Object{
		"id": PluginKey, "apiVersion": 1, "version": "1.0.0", "displayName": "Daytona Sandbox Provider",
		"capabilities": []string{"environment.drivers.register"},
		"entrypoints":  wire.Object{"worker": Name},
		"environmentDrivers": []wire.Object{{
			"driverKey": DriverKey, "kind": "sandbox_provider", "displayName": "Daytona Sandbox",
			"description":            "Runs commands in sandboxes of a Daytona service.",
			"configSchema":           configSchema(),
			"supportsReusableLeases": true,
			"sandboxCapabilities": wire.Object{
				"reusableLeases": true, "nativeSyncIn": true, "nativeSyncOut": true,
				"persistentProcessSessions": true, "independentControlCommands": true,
				"incrementalSessionOutput": true, "concurrentSyncOperations": true,
				"duplexCommandStream": true,
			},
		}},
	}
}

// Args returns the arguments that make the kb program, or a test binary whose
// TestMain calls RunIfAsked, run as this worker. The worker reads
// DAYTONA_API_KEY, DAYTONA_API_URL, DAYTONA_SERVER_URL, DAYTONA_TARGET and
// PAPERCLIP_DAYTONA_SCRATCH from its environment; Env of a test service sets
// what is needed.
func Args() []string { return []string{"runtime", "worker", Name} }

// RunIfAsked runs the worker and exits when the arguments of this process are
// those of Args. TestMain calls it first.
func RunIfAsked() {
	if slices.Equal(os.Args[1:], Args()) {
		os.Exit(Main())
	}
}

// Main runs the worker on the standard streams and returns its exit status.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return sdk.Serve(ctx, os.Stdin, os.Stdout, os.Stderr, Plugin(fromEnvironment(os.Getenv)))
}

// Variables that shorten what a worker waits for, as durations like "50ms".
// They are for tests and proofs.
const (
	ConnectTimeoutVariable = "PAPERCLIP_DAYTONA_CONNECT_TIMEOUT"
	StartMarginVariable    = "PAPERCLIP_DAYTONA_START_MARGIN"
)

func fromEnvironment(getenv func(string) string) Options {
	duration := func(name string) time.Duration {
		d, _ := time.ParseDuration(getenv(name)) // what is no duration leaves the default
		return max(d, 0)
	}
	return Options{Getenv: getenv, ConnectTimeout: duration(ConnectTimeoutVariable), StartMargin: duration(StartMarginVariable)}
}

// Options of the provider. The zero value is that of the documented project.
type Options struct {
	// Getenv reads the environment. Nil is os.Getenv.
	Getenv func(string) string
	// Clock tells the time; nil is the clock of the machine.
	Clock func() time.Time
	// Scratch is the directory in a sandbox for diagnostics of channels and
	// for input of commands. "" is PAPERCLIP_DAYTONA_SCRATCH, else /tmp.
	Scratch string
	// ConnectTimeout bounds the connection to a terminal. Zero means 10 s.
	ConnectTimeout time.Duration
	// StartMargin is added to the time-out of a start or recovery before the
	// sandbox counts as unresponsive. Zero means 5 s.
	StartMargin time.Duration
	// StopTimeout bounds the stop that cancels active work. Zero means 30 s.
	StopTimeout time.Duration
	// KillTimeout bounds the end of a terminal that nobody wants any more.
	// Zero means 5 s.
	KillTimeout time.Duration
	// PollInterval is the time between two looks at a command whose output
	// cannot be followed. Zero means 50 ms.
	PollInterval time.Duration
}

// provider is the running worker.
type provider struct {
	options Options
	cache   *cache
	gates   *gates
	routes  *routes

	mu       sync.Mutex
	clients  map[string]*client.Client // by account
	sessions map[scope]*execSession
}

// Plugin returns the hooks of the provider.
func Plugin(o Options) sdk.Plugin {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Scratch == "" {
		o.Scratch = or(o.Getenv("PAPERCLIP_DAYTONA_SCRATCH"), "/tmp")
	}
	o.StartMargin = or(o.StartMargin, 5*time.Second)
	o.StopTimeout = or(o.StopTimeout, 30*time.Second)
	o.KillTimeout = or(o.KillTimeout, 5*time.Second)
	p := &provider{
		options: o, cache: newCache(o.Clock), gates: newGates(), routes: newRoutes(),
		clients: map[string]*client.Client{}, sessions: map[scope]*execSession{},
	}
	return sdk.Plugin{
		Shutdown:                  p.shutdown,
		EnvironmentValidateConfig: p.validate,
		Probe:                     p.probe,
		AcquireLease:              p.acquire,
		ResumeLease:               p.resume,
		ReleaseLease:              p.release,
		DestroyLease:              p.destroy,
		RealizeWorkspace:          p.realize,
		Execute:                   p.execute,
		SyncIn:                    p.syncIn,
		SyncOut:                   p.syncOut,
		LoginOpen:                 p.loginOpen,
		LoginInput:                p.loginInput,
		LoginStop:                 p.loginStop,
		LoginClose:                p.loginClose,
		DuplexOpen:                p.duplexOpen,
		DuplexWrite:               p.duplexWrite,
		DuplexStop:                p.duplexStop,
		DuplexClose:               p.duplexClose,
		// Each lease carries its own configuration.
		MultiCompanyConfig: true,
	}
}

func or[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

// scope names a lease within this worker.
type scope struct {
	driverKey, companyID, environmentID, leaseID, account string
}

func (c config) scope(t wire.Target, leaseID wire.Text) scope {
	return scope{t.DriverKey, t.CompanyID, t.EnvironmentID, string(leaseID), c.account()}
}

// client returns the client of an account.
func (p *provider) client(c config) (*client.Client, error) {
	if c.apiKey == "" {
		return nil, fault.New(msgNoKey)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := c.account() + " " + c.target
	if have := p.clients[key]; have != nil {
		return have, nil
	}
	made := client.New(client.Options{
		URL: c.apiURL, Key: c.apiKey, Target: c.target,
		ConnectTimeout: p.options.ConnectTimeout, PollInterval: p.options.PollInterval,
	})
	p.clients[key] = made
	return made, nil
}

// warn writes a line to the worker's error output.
func warn(ctx context.Context, warning *fault.Error) {
	if host := sdk.HostOf(ctx); host != nil {
		fmt.Fprintln(host.Stderr, warning.Message)
	}
}

// newID returns a random UUID.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // does not fail
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// shutdown gives everything up that the worker holds: its channels and its
// sessions end, the sandboxes stay.
func (p *provider) shutdown(ctx context.Context) error {
	p.mu.Lock()
	sessions, clients := p.sessions, p.clients
	p.sessions, p.clients = map[scope]*execSession{}, map[string]*client.Client{}
	p.mu.Unlock()
	var ends sync.WaitGroup
	ends.Go(func() { finish(ctx, p.routes.takeAll()) })
	for _, s := range sessions {
		ends.Go(func() { p.deleteSession(ctx, s) })
	}
	ends.Wait()
	p.cache.clear()
	for _, c := range clients {
		c.Close()
	}
	return nil
}
