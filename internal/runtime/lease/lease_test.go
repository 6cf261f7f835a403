package lease

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"errorkb/internal/runtime/clock"
	"errorkb/internal/runtime/fault"
)

func sample() Lease {
	expires := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	return Lease{CompanyID: "c1", EnvironmentID: "e1", ExecutionWorkspaceID: "w1", HeartbeatRunID: "r1", Status: Active, Policy: Ephemeral,
		Provider: "daytona", ProviderLeaseID: "sb-1", ExpiresAt: &expires, Metadata: map[string]any{"driver": "sandbox", "timeoutMs": 5.0}}
}

func TestRestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "leases")
	c := clock.NewFake(time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC))
	s, err := Open(dir, c)
	if err != nil {
		t.Fatal(err)
	}
	one, err := s.Insert(sample(), "")
	if err != nil {
		t.Fatal(err)
	}
	c.Advance(time.Hour)
	if one, err = s.Update(one.ID, func(l *Lease) { l.Status = Released; l.LastUsedAt = c.Now(); l.Metadata["remoteCwd"] = "/w" }); err != nil {
		t.Fatal(err)
	}
	again, err := Open(dir, c)
	if err != nil {
		t.Fatal(err)
	}
	got, err := again.Get(one.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(one, got); diff != "" {
		t.Error(diff)
	}
	two, err := again.Insert(sample(), "c1")
	if err != nil || two.ID != "lease-2" {
		t.Errorf("the next id is %s, %v", two.ID, err)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, ".*")); len(names) != 0 {
		t.Errorf("left behind: %v", names)
	}
	if err := os.WriteFile(filepath.Join(dir, "lease-3.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, c); err == nil {
		t.Error("a damaged file was accepted")
	}
}

func TestGuards(t *testing.T) {
	s, _ := Open("", nil)
	if _, err := s.Insert(sample(), "c1"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Insert(sample(), "c2")
	if e := fault.As(err); e == nil || e.Message != "The selected environment belongs to another company." || e.Code != 403 || e.Key != "environment_company_mismatch" {
		t.Errorf("LST-06: %+v", e)
	}
	second := sample()
	second.HeartbeatRunID = "r2"
	_, err = s.Insert(second, "c1")
	want := "Execution workspace w1 is already leased by an active run (run r1); refusing to acquire a concurrent single-flight lease."
	if e := fault.As(err); e == nil || e.Message != want || e.Class != "EnvironmentLeaseConflictError" || e.Key != "environment_lease_conflict" {
		t.Errorf("LST-05: %+v", e)
	}
	if _, err := s.Update("lease-1", func(l *Lease) { l.HeartbeatRunID = "" }); err != nil {
		t.Fatal(err)
	}
	_, err = s.Insert(second, "c1")
	if err == nil || err.Error() != "Execution workspace w1 is already leased by an active run; refusing to acquire a concurrent single-flight lease." {
		t.Errorf("LST-05 without a run: %v", err)
	}
	for field, change := range map[string]func(*Lease){
		"status": func(l *Lease) { l.Status = "odd" }, "leasePolicy": func(l *Lease) { l.Status, l.Policy = Active, "odd" },
	} {
		if _, err := s.Update("lease-1", change); err != nil {
			t.Fatal(err)
		}
		want := "Unexpected " + field + " value: odd"
		if _, err := s.Get("lease-1"); err == nil || err.Error() != want {
			t.Errorf("LST-01: %v", err)
		}
		if _, err := s.List(func(Lease) bool { return true }); err == nil || err.Error() != want {
			t.Errorf("LST-01 in a list: %v", err)
		}
	}
	broken := errors.New("disk full")
	s.BeforeWrite = func(Lease) error { return broken }
	if _, err := s.Insert(sample(), ""); !errors.Is(err, broken) {
		t.Errorf("a broken store: %v", err)
	}
	if _, err := s.Get("nosuch"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a missing lease: %v", err)
	}
}

func TestCopies(t *testing.T) {
	s, _ := Open("", nil)
	l, _ := s.Insert(sample(), "")
	l.Metadata["driver"] = "changed"
	got, _ := s.Get(l.ID)
	got.Metadata["provider"] = "changed"
	if again, _ := s.Get(l.ID); again.Text("driver") != "sandbox" || again.Text("provider") != "" {
		t.Error("a caller changed a stored lease")
	}
}

func TestDriverKey(t *testing.T) {
	for _, c := range []struct {
		recorded    any
		environment string
		want        string
	}{{"docker", "local", "docker"}, {nil, "local", "local"}, {3, "local", "local"}, {nil, "", "sandbox"}} {
		if got := (Lease{Metadata: map[string]any{"driver": c.recorded}}).DriverKey(c.environment); got != c.want {
			t.Errorf("%v, %q: %q", c.recorded, c.environment, got)
		}
	}
	for value, want := range map[any]bool{nil: false, false: false, true: true, "": false, "yes": true, 0.0: false, 1.0: true} {
		if got := (Lease{Metadata: map[string]any{"sandboxProviderPlugin": value}}).PluginBacked(); got != want {
			t.Errorf("%v: %v", value, got)
		}
	}
}
