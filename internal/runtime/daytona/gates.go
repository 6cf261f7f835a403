package daytona

import (
	"context"
	"sync"

	"errorkb/internal/runtime/fault"
)

// gates guard the leases of this worker. A lease has three: admission, which
// release and destroy close and resume opens; teardown, while which everybody
// waits; and activity, for whose end a teardown waits. A lease that is not
// known is admitted.
type gates struct {
	mu     sync.Mutex
	leases map[scope]*gate
}

type gate struct {
	closed  bool          // admission
	tearing bool          // a teardown runs
	active  int           // operations that run
	changed chan struct{} // closed and replaced whenever the gate changes
}

func newGates() *gates { return &gates{leases: map[scope]*gate{}} }

// of is called with the lock held.
func (g *gates) of(s scope) *gate {
	have := g.leases[s]
	if have == nil {
		have = &gate{changed: make(chan struct{})}
		g.leases[s] = have
	}
	return have
}

func (x *gate) change(f func()) {
	f()
	close(x.changed)
	x.changed = make(chan struct{})
}

// wait waits, with the lock held before and after, until blocked is false.
func (g *gates) wait(ctx context.Context, x *gate, blocked func() bool) error {
	for blocked() {
		changed := x.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		g.mu.Lock()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

const (
	msgInactive = `Daytona sandbox lease %s is no longer active.`                                // DAY-10
	msgSettling = `The stopped Daytona sandbox is still settling cancelled work. Retry shortly.` // DAY-12
)

// enter begins an operation on a lease; leave ends it.
func (g *gates) enter(ctx context.Context, s scope) (leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	x := g.of(s)
	if err := g.wait(ctx, x, func() bool { return x.tearing }); err != nil {
		return nil, err
	}
	if x.closed {
		return nil, fault.New(msgInactive, s.leaseID)
	}
	x.change(func() { x.active++ })
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		x.change(func() { x.active-- })
	}, nil
}

// teardown closes the admission and begins to tear a lease down; done ends
// that. It waits for another teardown.
func (g *gates) teardown(ctx context.Context, s scope) (done func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	x := g.of(s)
	if err := g.wait(ctx, x, func() bool { return x.tearing }); err != nil {
		return nil, err
	}
	x.change(func() { x.closed, x.tearing = true, true })
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		x.change(func() { x.tearing = false })
	}, nil
}

// idle waits until no operation runs on a lease.
func (g *gates) idle(ctx context.Context, s scope) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	x := g.of(s)
	return g.wait(ctx, x, func() bool { return x.active > 0 })
}

// settled waits for a teardown and makes sure that nothing of the time before
// it still runs.
func (g *gates) settled(ctx context.Context, s scope) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	x := g.of(s)
	if err := g.wait(ctx, x, func() bool { return x.tearing }); err != nil {
		return err
	}
	if x.closed && x.active > 0 {
		return fault.New(msgSettling)
	}
	return nil
}

// open opens the admission.
func (g *gates) open(s scope) {
	g.mu.Lock()
	defer g.mu.Unlock()
	x := g.of(s)
	x.change(func() { x.closed = false })
}
