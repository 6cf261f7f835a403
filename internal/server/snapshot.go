package server

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"errorkb/internal/diagnose"
	"errorkb/internal/kb"
	"errorkb/internal/render"
)

// Pages makes the documents of a data set. *render.Renderer does.
type Pages interface {
	// Document makes the document at an address that needs no query. It wraps
	// kb.ErrNotFound for other addresses.
	Document(ctx context.Context, address string) (render.Document, error)
	ErrorsPage(ctx context.Context, filter kb.Filter) (render.Document, error)
	SearchPage(ctx context.Context, query kb.Query, result kb.SearchResult) (render.Document, error)
	DiagnosePage(ctx context.Context, text []byte, answer *diagnose.Answer) (render.Document, error)
	// LivePage makes the page of a live proof that has ended.
	LivePage(ctx context.Context, record *kb.Record, events []kb.LiveEvent, result kb.LiveResult) (render.Document, error)
	FailurePage(ctx context.Context, problem render.Problem) render.Document
}

// Searcher answers full-text queries.
type Searcher interface {
	Search(ctx context.Context, query kb.Query) (kb.SearchResult, error)
}

// Diagnoser answers a pasted text. A context that ends makes the answer
// partial.
type Diagnoser func(ctx context.Context, text []byte) diagnose.Answer

// Snapshot is one data set and everything that answers from it. It does not
// change; a new data set is a new Snapshot.
type Snapshot struct {
	Source   render.Source
	Pages    Pages
	Search   Searcher
	Diagnose Diagnoser
	Prove    Prover       // nil when live proofs are off
	Close    func() error // called once, after the last request that uses it; may be nil
}

func (s *Snapshot) check() error {
	if s == nil || s.Source == nil || s.Pages == nil || s.Search == nil || s.Diagnose == nil {
		return errors.New("the snapshot lacks a part")
	}
	return nil
}

// Loader makes a Snapshot of the data set as it is now.
type Loader func(ctx context.Context) (*Snapshot, error)

// held is a snapshot in use: it counts who uses it and is closed when nobody
// does, so that a reload drops no request.
type held struct {
	*Snapshot
	version string
	records int
	cache   *cache // documents of this data set; gone with it
	users   atomic.Int64
	closed  func(error)
}

// hold takes a snapshot into use, with its maker as the first user.
func hold(ctx context.Context, snapshot *Snapshot, cacheBytes int, closed func(error)) (*held, error) {
	if err := snapshot.check(); err != nil {
		return nil, err
	}
	page, err := snapshot.Source.List(ctx, kb.Filter{Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("count records: %w", err)
	}
	h := &held{
		Snapshot: snapshot, version: snapshot.Source.Version(), records: page.Total,
		cache: newCache(cacheBytes), closed: closed,
	}
	h.users.Store(1)
	return h, nil
}

// acquire adds a user, unless the last one has left already.
func (h *held) acquire() bool {
	for {
		n := h.users.Load()
		if n == 0 {
			return false
		}
		if h.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// release takes a user away; the last one closes the snapshot.
func (h *held) release() {
	if h.users.Add(-1) == 0 && h.Close != nil {
		h.closed(h.Close())
	}
}

// acquire finds the snapshot of now for one request. The caller releases it.
// It is nil when the server was closed.
func (s *Server) acquire() *held {
	for {
		// The one that was just replaced may be on its way out: look again.
		if h := s.current.Load(); h == nil || h.acquire() {
			return h
		}
	}
}
