package daytona

import (
	"context"
	"errors"
	"time"

	"errorkb/internal/runtime/daytona/client"
	"errorkb/internal/runtime/fault"
)

const (
	msgUnrecoverable = `Daytona sandbox %s is in an unrecoverable error state: %s`                                                // DAY-09
	msgUnresponsive  = `Daytona sandbox liveness call "%s" did not respond within %d ms; the sandbox connection is unresponsive.` // DAY-13
)

// sandbox returns the handle of a lease.
func (p *provider) sandbox(ctx context.Context, c config, s scope) (*client.Sandbox, error) {
	api, err := p.client(c)
	if err != nil {
		return nil, err
	}
	fetch := func(ctx context.Context) (*client.Sandbox, error) {
		ctx, cancel := context.WithTimeout(ctx, c.timeout())
		defer cancel()
		return api.Get(ctx, s.leaseID)
	}
	refresh := func(ctx context.Context, box *client.Sandbox) error { return p.refresh(ctx, c, box) }
	return p.cache.get(ctx, s, c.verifiedFor(), fetch, refresh)
}

// ready returns the handle of a lease whose sandbox is started.
func (p *provider) ready(ctx context.Context, c config, s scope) (*client.Sandbox, error) {
	box, err := p.sandbox(ctx, c, s)
	if err != nil {
		return nil, err
	}
	return box, p.ensureStarted(ctx, c, box)
}

// ensureStarted starts a sandbox that is not, and recovers one that can be.
func (p *provider) ensureStarted(ctx context.Context, c config, box *client.Sandbox) error {
	bound := time.Duration(0)
	if c.liveness() > 0 {
		bound = c.timeout() + p.options.StartMargin
	}
	switch data := box.Data(); {
	case data.State == client.StateStarted:
		return nil
	case data.State == client.StateError && data.Recoverable:
		return live(ctx, "sandbox.recover", bound, box.Recover)
	case data.State == client.StateError:
		reason := "unknown error"
		if data.ErrorReason != nil {
			reason = *data.ErrorReason
		}
		return fault.New(msgUnrecoverable, data.ID, reason)
	}
	return live(ctx, "sandbox.start", bound, box.Start)
}

// refresh asks for the state of a sandbox, which has to be answered at once.
func (p *provider) refresh(ctx context.Context, c config, box *client.Sandbox) error {
	return live(ctx, "sandbox.refreshData", c.liveness(), box.Refresh)
}

// live runs a call of the service that must not hang. Zero is no bound.
func live(ctx context.Context, operation string, bound time.Duration, call func(context.Context) error) error {
	if bound <= 0 {
		return call(ctx)
	}
	inner, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	err := call(inner)
	if err != nil && ctx.Err() == nil && errors.Is(inner.Err(), context.DeadlineExceeded) {
		return fault.New(msgUnresponsive, operation, bound.Milliseconds()).WithClass(fault.ClassLiveness).WithCause(err)
	}
	return err
}
