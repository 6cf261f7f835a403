package daytona

import (
	"context"
	"testing"

	"errorkb/internal/runtime/fault"
)

func TestGates(t *testing.T) {
	g, s := newGates(), scope{leaseID: "sandbox-1"}
	leave, err := g.enter(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	done, err := g.teardown(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.enter(late, s); err != context.Canceled {
		t.Errorf("an operation did not wait for the teardown: %v", err)
	}
	if _, err := g.teardown(late, s); err != context.Canceled {
		t.Errorf("a teardown did not wait for another: %v", err)
	}
	if err := g.idle(late, s); err != context.Canceled {
		t.Errorf("the teardown did not wait for the operation: %v", err)
	}
	waited := make(chan error, 1)
	go func() { _, err := g.enter(t.Context(), s); waited <- err }()
	leave()
	if err := g.idle(t.Context(), s); err != nil {
		t.Error(err)
	}
	done()
	if err := <-waited; !fault.Is(err, msgInactive) {
		t.Errorf("admitted after a teardown: %v", err)
	}
	if err := g.settled(t.Context(), s); err != nil {
		t.Error(err)
	}
	g.open(s)
	leave, err = g.enter(t.Context(), s)
	if err != nil {
		t.Errorf("not admitted: %v", err)
	}
	leave()
	// Another lease has gates of its own.
	if _, err := g.enter(t.Context(), scope{leaseID: "sandbox-1", companyID: "c2"}); err != nil {
		t.Error(err)
	}
}
