package daytona

import (
	"context"
	"sync"
	"time"

	"errorkb/internal/runtime/daytona/client"
	"errorkb/internal/runtime/fault"
)

// cache keeps the handles of sandboxes that this worker has dealt with. It is
// memory of the process: a worker that was started again knows none.
type cache struct {
	clock func() time.Time

	mu      sync.Mutex
	entries map[scope]*entry
}

// entry is a handle, or the one fetch of it that is under way.
type entry struct {
	ready    chan struct{} // closed when box and err are set
	box      *client.Sandbox
	err      error
	verified time.Time // when the state was last seen; guarded by the cache
}

func newCache(clock func() time.Time) *cache {
	return &cache{clock: clock, entries: map[scope]*entry{}}
}

// DAY-11
const msgMismatch = `Daytona sandbox handle mismatch: handle %s does not belong to lease %s.`

// get returns the handle of a lease: from the cache, where its data is
// refreshed when it was verified too long ago, else fetched. Callers that come
// meanwhile share one fetch; one that failed is not kept.
func (c *cache) get(ctx context.Context, s scope, fresh time.Duration, fetch func(context.Context) (*client.Sandbox, error), refresh func(context.Context, *client.Sandbox) error) (*client.Sandbox, error) {
	c.mu.Lock()
	e, hit := c.entries[s]
	if !hit {
		e = &entry{ready: make(chan struct{})}
		c.entries[s] = e
		c.mu.Unlock()
		// The fetch is shared: it must not end with the first caller.
		go c.fill(context.WithoutCancel(ctx), s, e, fetch)
	} else {
		c.mu.Unlock()
	}
	select {
	case <-e.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if e.err != nil {
		return nil, e.err
	}
	if id := e.box.ID(); id != s.leaseID {
		c.evict(s)
		return nil, fault.New(msgMismatch, id, s.leaseID)
	}
	c.mu.Lock()
	stale := hit && c.clock().Sub(e.verified) >= fresh
	c.mu.Unlock()
	if !stale {
		return e.box, nil
	}
	if err := refresh(ctx, e.box); err != nil {
		c.evict(s)
		return nil, err
	}
	if id := e.box.ID(); id != s.leaseID {
		c.evict(s)
		return nil, fault.New(msgMismatch, id, s.leaseID)
	}
	c.mu.Lock()
	e.verified = c.clock()
	c.mu.Unlock()
	return e.box, nil
}

func (c *cache) fill(ctx context.Context, s scope, e *entry, fetch func(context.Context) (*client.Sandbox, error)) {
	box, err := fetch(ctx)
	c.mu.Lock()
	e.box, e.err, e.verified = box, err, c.clock()
	if err != nil && c.entries[s] == e {
		delete(c.entries, s)
	}
	c.mu.Unlock()
	close(e.ready)
}

// seed puts a handle in that was just made or verified.
func (c *cache) seed(s scope, box *client.Sandbox) {
	e := &entry{ready: make(chan struct{}), box: box, verified: c.clock()}
	close(e.ready)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[s] = e
}

// find looks for the handle of a sandbox in all scopes, nil when there is
// none. It neither refreshes nor fetches, but waits for a fetch under way.
func (c *cache) find(ctx context.Context, id string) *client.Sandbox {
	if id == "" {
		return nil
	}
	c.mu.Lock()
	entries := make([]*entry, 0, len(c.entries))
	for _, e := range c.entries {
		entries = append(entries, e)
	}
	c.mu.Unlock()
	for _, e := range entries {
		select {
		case <-e.ready:
		case <-ctx.Done():
			return nil
		}
		if e.err == nil && e.box.ID() == id {
			return e.box
		}
	}
	return nil
}

// evict forgets a handle and returns it, nil when there was none.
func (c *cache) evict(s scope) *client.Sandbox {
	c.mu.Lock()
	e := c.entries[s]
	delete(c.entries, s)
	c.mu.Unlock()
	if e == nil {
		return nil
	}
	select {
	case <-e.ready:
		return e.box
	default:
		return nil
	}
}

func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
}
