package worker

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"errorkb/internal/runtime/fault"
)

// Manager keeps the workers of a host, one per plugin. The zero value is
// ready for use.
type Manager struct {
	mu       sync.Mutex
	handles  map[string]*Handle
	starting map[string]*starting
}

// starting is a start in flight, which later callers share.
type starting struct {
	done   chan struct{}
	handle *Handle
	err    error
}

// Texts of errors in the registry.
const (
	msgNoWorker   = `No worker registered for plugin "%s"`                   // WMG-14
	msgRegistered = `Worker already registered for plugin "%s" (status: %s)` // WMG-15
)

// Start registers a worker and starts it. A start of the same plugin that is in
// flight is shared. The worker stays registered when its start fails.
func (m *Manager) Start(ctx context.Context, id string, opts Options) (*Handle, error) {
	m.mu.Lock()
	if s := m.starting[id]; s != nil {
		m.mu.Unlock()
		<-s.done
		return s.handle, s.err
	}
	if existing := m.handles[id]; existing != nil {
		if status := existing.Status(); status != Stopped {
			m.mu.Unlock()
			return nil, fault.New(msgRegistered, id, status)
		}
	}
	if m.handles == nil {
		m.handles, m.starting = map[string]*Handle{}, map[string]*starting{}
	}
	s := &starting{done: make(chan struct{}), handle: NewHandle(id, opts)}
	m.handles[id] = s.handle
	m.starting[id] = s
	m.mu.Unlock()

	s.err = s.handle.Start(ctx)
	m.mu.Lock()
	delete(m.starting, id)
	m.mu.Unlock()
	close(s.done)
	return s.handle, s.err
}

// Get returns a worker in any state, nil when none is registered.
func (m *Manager) Get(id string) *Handle {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.handles[id]
}

// IsRunning reports whether the worker is registered and running.
func (m *Manager) IsRunning(id string) bool {
	h := m.Get(id)
	return h != nil && h.Status() == Running
}

// Call calls a worker.
func (m *Manager) Call(ctx context.Context, id string, req Request) (json.RawMessage, error) {
	h := m.Get(id)
	if h == nil {
		return nil, fault.New(msgNoWorker, id)
	}
	return h.Call(ctx, req)
}

// Stop stops a worker and forgets it.
func (m *Manager) Stop(id string) {
	h := m.Get(id)
	if h == nil {
		return
	}
	h.Stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.handles[id] == h {
		delete(m.handles, id)
	}
}

// StopAll stops all workers at once and forgets them.
func (m *Manager) StopAll() {
	m.mu.Lock()
	ids := slices.Collect(maps.Keys(m.handles))
	m.mu.Unlock()
	var stopping sync.WaitGroup
	for _, id := range ids {
		stopping.Go(func() { m.Stop(id) })
	}
	stopping.Wait()
}
