// Package sdk is the worker side of the protocol: what a plugin is written
// with.
//
// A worker program fills a Plugin with the hooks that it has and hands it to
// Serve together with its standard streams:
//
//	plugin := sdk.Plugin{
//		AcquireLease: func(ctx context.Context, p wire.AcquireParams) (wire.LeaseResult, error) { … },
//		DuplexOpen:   func(ctx context.Context, p wire.DuplexOpenParams) (wire.DuplexPair, error) { … },
//	}
//	os.Exit(sdk.Serve(ctx, os.Stdin, os.Stdout, os.Stderr, plugin))
//
// The hooks that are set are what the worker advertises as supported methods.
// A hook answers with a result or an error: an error made by package fault
// keeps its code, any other becomes code −32002; the text always stays.
//
// Every call runs in a goroutine of its own, except that the writes of one
// channel (DuplexWrite, LoginInput) run one after the other in the order in
// which they came. The context of a hook ends when the worker stops. Host,
// taken from the context with HostOf, sends notifications and calls the host.
package sdk

import (
	"context"
	"encoding/json"
	"time"

	"errorkb/internal/runtime/wire"
)

// Plugin is a worker program: its hooks, each of which may be nil.
type Plugin struct {
	// Setup runs once, inside initialize. Its error makes the start fail.
	Setup func(ctx context.Context, p wire.InitializeParams) error
	// Shutdown runs once when the worker ends, also when its input was closed.
	Shutdown func(ctx context.Context) error
	// Health returns what the host is told; without it that is {"status":"ok"}.
	Health         func(ctx context.Context) (any, error)
	ValidateConfig func(ctx context.Context, p wire.ValidateParams) (wire.ValidateResult, error)
	ConfigChanged  func(ctx context.Context, p wire.ConfigChangedParams) error

	EnvironmentValidateConfig func(ctx context.Context, p wire.ValidateParams) (wire.ValidateResult, error)
	Probe                     func(ctx context.Context, p wire.ProbeParams) (wire.ProbeResult, error)
	AcquireLease              func(ctx context.Context, p wire.AcquireParams) (wire.LeaseResult, error)
	ResumeLease               func(ctx context.Context, p wire.LeaseParams) (wire.LeaseResult, error)
	ReleaseLease              func(ctx context.Context, p wire.LeaseParams) (*wire.Receipt, error)
	DestroyLease              func(ctx context.Context, p wire.LeaseParams) (*wire.Receipt, error)
	RealizeWorkspace          func(ctx context.Context, p wire.RealizeParams) (wire.RealizeResult, error)
	Execute                   func(ctx context.Context, p wire.ExecuteParams) (wire.ExecuteResult, error)
	SyncIn                    func(ctx context.Context, p wire.SyncParams) (wire.SyncResult, error)
	SyncOut                   func(ctx context.Context, p wire.SyncParams) (wire.SyncResult, error)

	LoginOpen  func(ctx context.Context, p wire.LoginOpenParams) (wire.LoginOpenResult, error)
	LoginInput func(ctx context.Context, p wire.LoginInputParams) error
	LoginStop  func(ctx context.Context, p wire.LoginStopParams) error
	LoginClose func(ctx context.Context, p wire.LoginCloseParams) (wire.LoginCloseParams, error)

	DuplexOpen  func(ctx context.Context, p wire.DuplexOpenParams) (wire.DuplexPair, error)
	DuplexWrite func(ctx context.Context, p wire.DuplexWriteParams) error
	DuplexStop  func(ctx context.Context, p wire.DuplexStopParams) error
	DuplexClose func(ctx context.Context, p wire.DuplexCloseParams) (wire.DuplexPair, error)

	// MultiCompanyConfig allows configurations of several companies in one
	// worker; without it the second one is refused.
	MultiCompanyConfig bool
	// CallTimeout bounds a call to the host. Zero means 30 s.
	CallTimeout time.Duration
	// Grace bounds how long the end waits for running hooks and for Shutdown.
	// Zero means 5 s.
	Grace time.Duration
	// FatalDelay is how long the worker lives on after Fatal, so that the host
	// reads why. Zero means 100 ms.
	FatalDelay time.Duration
	// TellPlace adds to each error where it was raised, for the proof. The
	// environment variable TellPlaceVariable has the same effect.
	TellPlace bool
}

// TellPlaceVariable is set to "1" for workers that shall tell where they raise
// an error.
const TellPlaceVariable = "RUNTIME_TELL_PLACE"

// hook is one optional method. Hooks with the same lane run in order.
type hook struct {
	method string
	run    func(ctx context.Context, params json.RawMessage) (any, error) // nil when the plugin has none
	lane   func(params json.RawMessage) string
}

// hooks lists the optional methods in the order in which they are advertised.
func (p *Plugin) hooks() []hook {
	return []hook{
		{wire.MethodValidateConfig, bind(p.ValidateConfig), nil},
		{wire.MethodConfigChanged, bindError(p.ConfigChanged), nil},
		{wire.MethodHealth, bindNoParams(p.Health), nil},
		{wire.MethodShutdown, bindEnd(p.Shutdown), nil},
		{wire.MethodEnvironmentValidateConfig, bind(p.EnvironmentValidateConfig), nil},
		{wire.MethodEnvironmentProbe, bind(p.Probe), nil},
		{wire.MethodAcquireLease, bind(p.AcquireLease), nil},
		{wire.MethodResumeLease, bind(p.ResumeLease), nil},
		{wire.MethodReleaseLease, bind(p.ReleaseLease), nil},
		{wire.MethodDestroyLease, bind(p.DestroyLease), nil},
		{wire.MethodRealizeWorkspace, bind(p.RealizeWorkspace), nil},
		{wire.MethodExecute, bind(p.Execute), nil},
		{wire.MethodSyncIn, bind(p.SyncIn), nil},
		{wire.MethodSyncOut, bind(p.SyncOut), nil},
		{wire.MethodRunnerIngressEndpoint, nil, nil},
		{wire.MethodLoginOpen, bind(p.LoginOpen), nil},
		{wire.MethodLoginInput, bindError(p.LoginInput), lane[wire.LoginInputParams]},
		{wire.MethodLoginStop, bindError(p.LoginStop), nil},
		{wire.MethodLoginClose, bind(p.LoginClose), nil},
		{wire.MethodDuplexOpen, bind(p.DuplexOpen), nil},
		{wire.MethodDuplexWrite, bindError(p.DuplexWrite), lane[wire.DuplexWriteParams]},
		{wire.MethodDuplexStop, bindError(p.DuplexStop), nil},
		{wire.MethodDuplexClose, bind(p.DuplexClose), nil},
	}
}

type call = func(ctx context.Context, params json.RawMessage) (any, error)

func bind[P, R any](f func(context.Context, P) (R, error)) call {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, raw json.RawMessage) (any, error) {
		p, err := decode[P](raw)
		if err != nil {
			return nil, err
		}
		return f(ctx, p)
	}
}

func bindError[P any](f func(context.Context, P) error) call {
	if f == nil {
		return nil
	}
	return bind(func(ctx context.Context, p P) (any, error) { return nil, f(ctx, p) })
}

func bindNoParams(f func(context.Context) (any, error)) call {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, _ json.RawMessage) (any, error) { return f(ctx) }
}

func bindEnd(f func(context.Context) error) call {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, _ json.RawMessage) (any, error) { return nil, f(ctx) }
}

// lane names the channel that a write belongs to.
func lane[P interface{ Channel() string }](raw json.RawMessage) string {
	p, err := decode[P](raw)
	if err != nil {
		return ""
	}
	return p.Channel()
}

func decode[P any](raw json.RawMessage) (P, error) {
	var p P
	if len(raw) == 0 {
		return p, nil
	}
	if err := wire.Unmarshal(raw, &p); err != nil {
		return p, badParams(err)
	}
	return p, nil
}
