package store

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"errorkb/internal/kb"

	"github.com/google/go-cmp/cmp"
)

func TestRecordsComeBackWhole(t *testing.T) {
	set := smallSet()
	s := memory(t, set)
	for _, want := range set.Records {
		for name, get := range map[string]func() (*kb.Record, error){
			"Record": func() (*kb.Record, error) { return s.Record(t.Context(), want.ID) },
			"BySlug": func() (*kb.Record, error) { return s.BySlug(t.Context(), want.Repo, want.Slug) },
		} {
			got, err := get()
			if err != nil {
				t.Fatalf("%s of %s: %v", name, want.Slug, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s of %s (-want +got):\n%s", name, want.Slug, diff)
			}
			if !bytes.Equal(got.Canonical(), want.Canonical()) {
				t.Errorf("%s of %s: canonical form differs", name, want.Slug)
			}
		}
	}
	if s.Version() != set.Version {
		t.Errorf("version %q, want %q", s.Version(), set.Version)
	}
}

func TestNotFound(t *testing.T) {
	s := memory(t, smallSet())
	for _, key := range []string{"", "nothing", "a00000000000000", "%", "_", "*", "a' OR 1=1 --", "\x00", "\xff\xfe", strings.Repeat("x", 1<<16)} {
		_, errRecord := s.Record(t.Context(), key)
		_, errSlug := s.BySlug(t.Context(), "acme/tool", key)
		_, errRepo := s.BySlug(t.Context(), key, "lease-lost")
		_, errResolve := s.Resolve(t.Context(), key)
		for _, err := range []error{errRecord, errSlug, errRepo, errResolve} {
			if !errors.Is(err, kb.ErrNotFound) {
				t.Errorf("key %.20q: %v, want not found", key, err)
			}
			if err != nil && len(err.Error()) > 400 {
				t.Errorf("key %.20q: message of %d bytes", key, len(err.Error()))
			}
		}
	}
}

func TestResolve(t *testing.T) {
	s := memory(t, smallSet())
	tests := []struct{ name, key, want string }{
		{"id", "a000000000000001", "a000000000000001"},
		{"id in capitals", "A000000000000001", "a000000000000001"},
		{"slug", "disk-full", "a000000000000001"},
		{"path", "beta/app/lease-lost", "b000000000000001"},
		{"path in capitals", "Beta/App/Lease-Lost", "b000000000000001"},
		{"alias", "device-full", "a000000000000001"},
		{"alias that differs in case only", "ENOSPC", "a000000000000001"},
		{"the other one", "enospc", "b000000000000002"},
		{"code", "E_DISK", "a000000000000001"},
		{"code in small letters", "e_disk", "a000000000000001"},
		{"retired record keeps its own", "a000000000000003", "a000000000000003"},
		{"retired slug too", "old-thing", "a000000000000003"},
		{"slug in two repositories", "lease-lost", ""},
		{"alias in a case that fits two", "Enospc", ""},
		{"code of two records", "E_QUOTA", ""},
	}
	for _, tt := range tests {
		got, err := s.Resolve(t.Context(), tt.key)
		if tt.want != "" {
			if err != nil || got != tt.want {
				t.Errorf("%s: Resolve(%q) = %q, %v, want %q", tt.name, tt.key, got, err, tt.want)
			}
			continue
		}
		if !errors.Is(err, kb.ErrNotFound) || !strings.Contains(err.Error(), "fits 2 records (") {
			t.Errorf("%s: Resolve(%q) = %q, %v, want an error that names both", tt.name, tt.key, got, err)
		}
	}
}

func TestRelated(t *testing.T) {
	set := smallSet()
	s := memory(t, set)
	want := kb.Related(set.Records, maxRelated)
	compared := 0
	for _, r := range set.Records {
		items, err := s.Related(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		var got []kb.Relation
		for _, item := range items {
			got = append(got, kb.Relation{ID: item.ID, Why: item.Why})
			if item.Title == "" || item.Slug == "" {
				t.Errorf("related of %s: %+v lacks its title", r.Slug, item)
			}
		}
		if diff := cmp.Diff(want[r.ID], got); diff != "" {
			t.Errorf("related of %s (-want +got):\n%s", r.Slug, diff)
		}
		compared += len(got)
	}
	if compared == 0 {
		t.Error("no record is related to another")
	}
	first, err := s.Related(t.Context(), "a000000000000002")
	if err != nil || len(first) == 0 || first[0].ID != "b000000000000001" {
		t.Errorf("related = %v, %v, want the author's choice first", first, err)
	}
	none, err := s.Related(t.Context(), "nothing")
	if err != nil || len(none) != 0 {
		t.Errorf("related of nothing = %v, %v", none, err)
	}
}

func TestAll(t *testing.T) {
	set := smallSet()
	s := memory(t, set)
	var got []string
	if err := s.All(t.Context(), func(r *kb.Record) error { got = append(got, r.ID); return nil }); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, r := range set.Records {
		want = append(want, r.ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
	stop := errors.New("stop")
	calls := 0
	err := s.All(t.Context(), func(*kb.Record) error { calls++; return stop })
	if err != stop || calls != 1 {
		t.Errorf("after the first: %v, %d calls", err, calls)
	}
}

func TestCancelledContext(t *testing.T) {
	s := memory(t, smallSet())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Record(ctx, "a000000000000001")
	_, errList := s.List(ctx, kb.Filter{})
	_, errGroups := s.Groups(ctx, kb.GroupTag, kb.Filter{})
	_, errOpen := OpenMemory(ctx, smallSet())
	_, errFile := Open(ctx, t.TempDir(), smallSet())
	for _, err := range []error{err, errList, errGroups, errOpen, errFile, s.All(ctx, nil)} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want cancelled", err)
		}
	}
	if _, err := s.Record(t.Context(), "a000000000000001"); err != nil {
		t.Errorf("after a cancelled call: %v", err)
	}
}
