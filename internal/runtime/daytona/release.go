package daytona

import (
	"context"

	"errorkb/internal/runtime/daytona/client"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

// Warnings on the worker's error output. The error in them is only its text.
const (
	warnStop    = `Failed to stop Daytona sandbox during lease release: %s. Attempting delete instead.` // DAY-04
	warnArchive = `Failed to archive Daytona sandbox during lease release: %s. Falling back to delete.` // DAY-06
)

// archivedFor is after how many minutes an archived sandbox is deleted.
const archivedFor = 60

// release gives a lease up: a reusable sandbox is stopped, another archived or
// deleted, as configured.
func (p *provider) release(ctx context.Context, q wire.LeaseParams) (*wire.Receipt, error) {
	return p.tearDown(ctx, q, p.park)
}

// destroy gives a lease up and deletes its sandbox.
func (p *provider) destroy(ctx context.Context, q wire.LeaseParams) (*wire.Receipt, error) {
	return p.tearDown(ctx, q, func(ctx context.Context, _ config, box *client.Sandbox) (string, error) {
		return wire.ReceiptDestroyed, remove(ctx, box)
	})
}

// tearDown ends everything of a lease in this worker and hands its sandbox to
// finish.
func (p *provider) tearDown(ctx context.Context, q wire.LeaseParams, finish func(context.Context, config, *client.Sandbox) (string, error)) (*wire.Receipt, error) {
	if q.ProviderLeaseID == "" {
		return nil, nil
	}
	c := p.config(q.Config)
	api, err := p.client(c)
	if err != nil {
		return nil, err
	}
	s := c.scope(q.Target, q.ProviderLeaseID)
	done, err := p.gates.teardown(ctx, s)
	if err != nil {
		return nil, err
	}
	defer done()
	destroyed := &wire.Receipt{ProviderLeaseID: q.ProviderLeaseID, State: wire.ReceiptDestroyed}
	box := p.cache.evict(s)
	defer p.cache.evict(s) // an operation may have fetched it again
	if box == nil || box.ID() != s.leaseID {
		if box, err = api.Get(ctx, s.leaseID); client.NotFound(err) {
			p.endLease(ctx, s.leaseID)
			return destroyed, nil
		}
		if err != nil {
			return nil, err
		}
	}
	if q.CancelActiveWork {
		// Whatever runs ends with the sandbox; nobody waits for it.
		stop, cancel := context.WithTimeout(ctx, p.options.StopTimeout)
		err := box.Stop(stop)
		cancel()
		if err != nil && !client.NotFound(err) && !c.reuseLease {
			return nil, err
		}
	} else if err := p.gates.idle(ctx, s); err != nil {
		return nil, err
	}
	if session := p.forgetSession(s); session != nil && box.State() == client.StateStarted {
		p.deleteSession(ctx, session)
	}
	p.endLease(ctx, s.leaseID)
	if err := p.refresh(ctx, c, box); client.NotFound(err) {
		return destroyed, nil
	} else if err != nil {
		return nil, err
	}
	if id := box.ID(); id != s.leaseID {
		return nil, fault.New(msgMismatch, id, s.leaseID)
	}
	state, err := finish(ctx, c, box)
	if err != nil {
		return nil, err
	}
	return &wire.Receipt{ProviderLeaseID: q.ProviderLeaseID, State: state}, nil
}

// park does with the sandbox of a released lease what is configured.
func (p *provider) park(ctx context.Context, c config, box *client.Sandbox) (string, error) {
	switch {
	case c.reuseLease:
		err := stop(ctx, box)
		if err == nil {
			return wire.ReceiptStopped, nil
		}
		if !client.NotFound(err) {
			warn(ctx, fault.New(warnStop, err))
		}
	case c.archiveOnRelease:
		err := archive(ctx, box)
		if err == nil {
			return wire.ReceiptStopped, nil
		}
		if !client.NotFound(err) {
			warn(ctx, fault.New(warnArchive, err))
		}
	}
	return wire.ReceiptDestroyed, remove(ctx, box)
}

// stop stops a sandbox unless it is.
func stop(ctx context.Context, box *client.Sandbox) error {
	switch box.State() {
	case client.StateStopped, client.StateArchived:
		return nil
	}
	return box.Stop(ctx)
}

func archive(ctx context.Context, box *client.Sandbox) error {
	if err := stop(ctx, box); err != nil {
		return err
	}
	if err := box.SetAutoDelete(ctx, archivedFor); err != nil {
		return err
	}
	if box.State() == client.StateArchived {
		return nil
	}
	return box.Archive(ctx)
}

// remove deletes a sandbox; one that is gone is no failure.
func remove(ctx context.Context, box *client.Sandbox) error {
	if err := box.Delete(ctx); err != nil && !client.NotFound(err) {
		return err
	}
	return nil
}
