// Package clock gives the runtime its time. Production code takes Real; a test
// takes a Fake, moves it with Advance, and never sleeps.
package clock

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Clock tells the time and calls back later.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f in its own goroutine once d has passed.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is a callback that has not happened yet.
type Timer interface {
	// Stop cancels the callback. It reports false when it is too late.
	Stop() bool
}

// Real is the clock of the machine.
func Real() Clock { return machine{} }

type machine struct{}

func (machine) Now() time.Time                            { return time.Now() }
func (machine) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

// Sleep waits for d or until ctx ends, and then returns the error of ctx.
func Sleep(ctx context.Context, c Clock, d time.Duration) error {
	done := make(chan struct{})
	timer := c.AfterFunc(d, func() { close(done) })
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Fake is a clock that stands still until Advance moves it.
type Fake struct {
	mu      sync.Mutex
	now     time.Time
	timers  []*fakeTimer
	changed chan struct{} // closed and replaced whenever timers changes
}

type fakeTimer struct {
	fake *Fake
	at   time.Time
	wait time.Duration
	f    func()
}

// NewFake returns a clock that shows now.
func NewFake(now time.Time) *Fake { return &Fake{now: now, changed: make(chan struct{})} }

func (c *Fake) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *Fake) AfterFunc(d time.Duration, f func()) Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &fakeTimer{fake: c, at: c.now.Add(d), wait: d, f: f}
	c.timers = append(c.timers, t)
	c.notify()
	return t
}

func (t *fakeTimer) Stop() bool {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	i := slices.Index(t.fake.timers, t)
	if i < 0 {
		return false
	}
	t.fake.timers = slices.Delete(t.fake.timers, i, i+1)
	t.fake.notify()
	return true
}

func (c *Fake) notify() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// Advance moves the clock and calls back what became due, in order of time,
// one after the other in the calling goroutine.
func (c *Fake) Advance(d time.Duration) {
	c.mu.Lock()
	end := c.now.Add(d)
	for {
		due := -1
		for i, t := range c.timers {
			if !t.at.After(end) && (due < 0 || t.at.Before(c.timers[due].at)) {
				due = i
			}
		}
		if due < 0 {
			break
		}
		t := c.timers[due]
		c.timers = slices.Delete(c.timers, due, due+1)
		if t.at.After(c.now) {
			c.now = t.at
		}
		c.notify()
		c.mu.Unlock()
		t.f()
		c.mu.Lock()
	}
	c.now = end
	c.mu.Unlock()
}

// Pending lists the delays of the callbacks that have not happened, as they
// were asked for.
func (c *Fake) Pending() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	waits := make([]time.Duration, len(c.timers))
	for i, t := range c.timers {
		waits[i] = t.wait
	}
	return waits
}

// WaitFor returns once a callback was asked for whose delay lies between low
// and high, and gives that delay. It returns the error of ctx when ctx ends
// before.
func (c *Fake) WaitFor(ctx context.Context, low, high time.Duration) (time.Duration, error) {
	for {
		c.mu.Lock()
		changed := c.changed
		for _, t := range c.timers {
			if low <= t.wait && t.wait <= high {
				c.mu.Unlock()
				return t.wait, nil
			}
		}
		c.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}
