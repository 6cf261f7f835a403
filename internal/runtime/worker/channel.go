package worker

import (
	"context"

	"errorkb/internal/runtime/duplex"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

// Texts of errors in opening a channel.
const (
	msgNoLogin  = `Cannot open a login pseudo-terminal — worker for "%s" is %s` // WMG-09
	msgNoDuplex = `Cannot open a duplex channel — worker for "%s" is %s`        // WMG-10
)

// OpenDuplex opens a duplex channel.
func (h *Handle) OpenDuplex(ctx context.Context, p wire.DuplexOpenParams) (*duplex.Channel, error) {
	r, status := h.live()
	if r == nil {
		return nil, fault.New(msgNoDuplex, h.id, status)
	}
	return r.routes.Open(ctx, p)
}

// OpenLogin opens a login terminal.
func (h *Handle) OpenLogin(ctx context.Context, p wire.LoginOpenParams) (*duplex.Channel, error) {
	r, status := h.live()
	if r == nil {
		return nil, fault.New(msgNoLogin, h.id, status)
	}
	return r.routes.OpenLogin(ctx, p)
}

// live returns the process when the worker is running or starting, else nil.
func (h *Handle) live() (*run, Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.status != Running && h.status != Starting {
		return nil, h.status
	}
	return h.run, h.status
}
