// Package worker is the host side of plugin workers: processes that speak the
// protocol of package wire over their standard streams.
//
// A Handle is one worker with its states, calls, crashes and restarts; a
// Manager keeps the handles of all plugins. Options says what a worker is and
// what bounds it.
package worker

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"math/rand/v2"
	"time"

	"errorkb/internal/runtime/clock"
	"errorkb/internal/runtime/duplex"
	"errorkb/internal/runtime/wire"
)

// Command is the program of a worker. The worker is started with a minimal
// environment: Env and a few variables, nothing of the host.
type Command struct {
	Path string
	Args []string // without the program itself
	Env  map[string]string
	Dir  string
}

// Handler answers a request of the worker. An error without a code reaches the
// worker as an internal error.
type Handler func(ctx context.Context, params json.RawMessage) (any, error)

// Options describe a worker.
type Options struct {
	Command   Command
	Manifest  any         // sent with initialize
	Config    wire.Object // sent with initialize
	NoRestart bool        // a crash is final
	TellPlace bool        // tell the worker where the host raised an error, for the proof

	Handlers map[string]Handler // requests of the worker that the host answers
	Stderr   io.Writer          // gets a copy of the worker's error output; may be nil

	Limits        Limits
	ChannelLimits duplex.Limits
	LoginLimits   duplex.Limits
	Slots         *duplex.Slots // shared by all workers of a host
	Clock         clock.Clock
	Log           *slog.Logger
	Jitter        func() float64 // between −1 and 1
}

// Limits bound the life of a worker and its calls.
type Limits struct {
	Line       int           // bytes of one message of the worker
	Call       time.Duration // for a reply, unless the call says otherwise
	Initialize time.Duration
	Shutdown   time.Duration // for the reply to shutdown
	Leave      time.Duration // then, to exit by itself
	Terminate  time.Duration // then, after SIGTERM
	Kill       time.Duration // then, after SIGKILL
	Drain      time.Duration // to read what an exited worker left in its pipes

	Backoff      time.Duration // before the first restart; doubles each time
	BackoffMax   time.Duration
	Crashes      int           // consecutive crashes that are followed by a restart
	CrashesReset time.Duration // a crash later than this after the last one counts as the first

	Excerpt    int   // characters of error output that are added to a failure
	LiveChunk  int   // characters of one piece of live output
	LiveOutput int64 // characters of live output of one call
}

// DefaultLimits returns the limits of the documented project. Drain is ours.
func DefaultLimits() Limits {
	return Limits{
		Line: wire.MaxLine, Call: 30 * time.Second, Initialize: 15 * time.Second,
		Shutdown: 10 * time.Second, Leave: 500 * time.Millisecond, Terminate: 5 * time.Second, Kill: 2 * time.Second,
		Drain:   2 * time.Second,
		Backoff: time.Second, BackoffMax: 5 * time.Minute, Crashes: 10, CrashesReset: 10 * time.Minute,
		Excerpt: 8_000, LiveChunk: 1_000_000, LiveOutput: 128 << 20,
	}
}

const (
	maxDefaultCall = 15 * time.Minute               // a default time-out is at most this
	maxCall        = (1<<31 - 1) * time.Millisecond // an explicit one at most this
	backoffJitter  = 0.25                           // share by which a delay varies
)

// complete fills in what was left out.
func (o Options) complete() Options {
	if o.Limits == (Limits{}) {
		o.Limits = DefaultLimits()
	}
	if o.ChannelLimits == (duplex.Limits{}) {
		o.ChannelLimits = duplex.DefaultLimits()
	}
	if o.LoginLimits == (duplex.Limits{}) {
		o.LoginLimits = duplex.DefaultLoginLimits()
	}
	if o.Slots == nil {
		o.Slots = duplex.NewSlots(0)
	}
	if o.Clock == nil {
		o.Clock = clock.Real()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Jitter == nil {
		o.Jitter = func() float64 { return 2*rand.Float64() - 1 }
	}
	return o
}

// timeout returns how long a call may take that asks for d.
func (l Limits) timeout(d time.Duration) time.Duration {
	if d > 0 {
		return min(max(d, time.Millisecond), maxCall)
	}
	return min(l.Call, maxDefaultCall)
}

// backoff returns the delay before the restart after the n-th crash.
func (l Limits) backoff(n int, jitter float64) time.Duration {
	delay := l.BackoffMax
	if n < 30 {
		delay = min(l.Backoff<<(n-1), l.BackoffMax)
	}
	return min(delay+time.Duration(jitter*backoffJitter*float64(delay)), l.BackoffMax)
}
