package daytona

import (
	"context"
	"sync"

	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/sdk"
	"errorkb/internal/runtime/wire"
)

const (
	msgNoDuplexSandbox = `Daytona duplex channel: no cached sandbox resolves the provider lease.` // DAY-02
	msgNoCommand       = `The duplex channel launch command needs at least one argument.`         // DAY-03
	msgRouteClosed     = `The duplex channel was closed while it was being opened.`               // ours
)

// channel is an open channel of the host: a terminal under a pair of ids.
type channel struct {
	pair     wire.DuplexPair
	lease    string
	login    bool
	terminal *terminal // nil while it is being opened
	cancel   context.CancelFunc
	closed   bool // the host wants to hear nothing more; guarded by routes
}

// routes are the open channels by host route id.
type routes struct {
	mu   sync.Mutex
	open map[string]*channel
}

func newRoutes() *routes { return &routes{open: map[string]*channel{}} }

// reserve notes that a channel is being opened.
func (r *routes) reserve(c *channel) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[c.pair.HostRouteID] = c
}

// settle gives an opened channel its terminal. It returns false when the
// channel was closed meanwhile.
func (r *routes) settle(c *channel, t *terminal) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.terminal = t
	return !c.closed
}

// find returns the channel of an exact pair, nil when there is none.
func (r *routes) find(pair wire.DuplexPair) *channel {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.open[pair.HostRouteID]; c != nil && c.terminal != nil && c.pair == pair {
		return c
	}
	return nil
}

// take forgets a channel, which is closed from then on. The terminal is nil
// while it is being opened.
func (r *routes) take(routeID string) (*channel, *terminal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.open[routeID]
	if c == nil {
		return nil, nil
	}
	c.closed = true
	delete(r.open, routeID)
	return c, c.terminal
}

// takeIf forgets the channels that match. The host still hears of their end.
func (r *routes) takeIf(match func(*channel) bool) []*channel {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []*channel
	for id, c := range r.open {
		if c.terminal != nil && match(c) {
			delete(r.open, id)
			list = append(list, c)
		}
	}
	return list
}

func (r *routes) takeAll() []*channel { return r.takeIf(func(*channel) bool { return true }) }

// drop forgets a channel that could not be opened.
func (r *routes) drop(c *channel) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[c.pair.HostRouteID] == c {
		delete(r.open, c.pair.HostRouteID)
	}
}

func (r *routes) isClosed(c *channel) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return c.closed
}

// duplexOpen opens a channel to a program in the sandbox of a lease. It uses
// none of the gates and only a handle that the cache has.
func (p *provider) duplexOpen(ctx context.Context, q wire.DuplexOpenParams) (wire.DuplexPair, error) {
	box := p.cache.find(ctx, q.ProviderLeaseID)
	if box == nil {
		return wire.DuplexPair{}, fault.New(msgNoDuplexSandbox)
	}
	// The documented project finds out with the terminal already open, and
	// leaves it behind.
	if len(q.Command) == 0 {
		return wire.DuplexPair{}, fault.New(msgNoCommand)
	}
	id := newID()
	c := &channel{pair: wire.DuplexPair{HostRouteID: q.HostRouteID, WorkerSessionID: "duplex-" + id}, lease: q.ProviderLeaseID}
	host := sdk.HostOf(ctx)
	deliver := func(data []byte) { _ = host.DuplexData(unbound, c.pair, data) }
	err := p.open(ctx, c, deliver, func(ctx context.Context) (*terminal, error) {
		return p.openTerminal(ctx, box, "paperclip-duplex-"+id, p.launchLine(id, q.Command), nil, p.tellFailure(host, c))
	})
	if err != nil {
		return wire.DuplexPair{}, err
	}
	return c.pair, nil
}

// unbound is the context of what a worker tells of a channel: it belongs to no
// call of the host.
var unbound = context.Background()

// open makes the terminal of a channel and connects both. From the reply on
// the host hears of output and of the exit; if it closes the channel before,
// the opening ends.
func (p *provider) open(ctx context.Context, c *channel, deliver func([]byte), start func(context.Context) (*terminal, error)) error {
	opening, cancel := context.WithCancel(ctx)
	defer cancel()
	c.cancel = cancel
	p.routes.reserve(c)
	t, err := start(opening)
	if err != nil {
		p.routes.drop(c)
		return err
	}
	if !p.routes.settle(c, t) {
		t.end(ctx)
		return fault.New(msgRouteClosed)
	}
	t.out.open(func(data []byte) {
		if !p.routes.isClosed(c) {
			deliver(data)
		}
	})
	host := sdk.HostOf(ctx)
	host.Go(func() { p.watch(host, c, t) })
	return nil
}

// tellFailure returns what puts the reason for the end of a channel into the
// host's log.
func (p *provider) tellFailure(host *sdk.Host, c *channel) func(*fault.Error) {
	return func(reason *fault.Error) {
		if p.routes.isClosed(c) {
			return // a write that its own close cut off
		}
		_ = host.Log(unbound, "warn", reason.Message, wire.Object{"hostRouteId": c.pair.HostRouteID})
	}
}

// watch tells the host once how the program of a channel ended.
func (p *provider) watch(host *sdk.Host, c *channel, t *terminal) {
	exit, err := t.term.Wait(unbound)
	switch {
	case p.routes.isClosed(c):
	case c.login:
		_ = host.LoginExit(unbound, c.pair, exit.Code)
	case err != nil:
		_ = host.DuplexExit(unbound, c.pair, nil, false)
	default:
		_ = host.DuplexExit(unbound, c.pair, exit.Code, exit.Code == nil)
	}
}

// duplexWrite sends input. An unknown pair and malformed data do nothing.
func (p *provider) duplexWrite(ctx context.Context, q wire.DuplexWriteParams) error {
	c := p.routes.find(q.DuplexPair)
	data, valid := q.Bytes()
	if c != nil && valid {
		c.terminal.write(ctx, data)
	}
	return nil
}

// duplexStop ends the program of a channel; the exit follows.
func (p *provider) duplexStop(ctx context.Context, q wire.DuplexStopParams) error {
	if c := p.routes.find(q.DuplexPair); c != nil {
		c.terminal.kill(ctx)
	}
	return nil
}

// duplexClose forgets a channel and ends what is left of it. It always
// confirms, with the session id when there was such a channel.
func (p *provider) duplexClose(ctx context.Context, q wire.DuplexCloseParams) (wire.DuplexPair, error) {
	c, t := p.routes.take(q.HostRouteID)
	if c == nil {
		return wire.DuplexPair{HostRouteID: q.HostRouteID}, nil
	}
	if t == nil {
		c.cancel()
	} else {
		t.end(ctx)
	}
	return c.pair, nil
}

// endLease ends the channels of a lease. The host hears of their exit, but a
// later close finds them forgotten.
func (p *provider) endLease(ctx context.Context, lease string) {
	finish(ctx, p.routes.takeIf(func(c *channel) bool { return c.lease == lease && !c.login }))
}

// finish ends channels, all at once, and waits for their exits.
func finish(ctx context.Context, channels []*channel) {
	var ends sync.WaitGroup
	for _, c := range channels {
		ends.Go(func() { c.terminal.finish(ctx) })
	}
	ends.Wait()
}
