package store

import (
	"fmt"
	"testing"

	"errorkb/internal/kb"
)

// sample makes a record for tests; change adds what the test is about.
func sample(id, repo, slug, message string, change func(*kb.Record)) *kb.Record {
	r := &kb.Record{
		SchemaVersion: kb.SchemaVersion, ID: id, Repo: repo, Slug: slug,
		Aliases: []string{}, Status: kb.StatusActive, Review: kb.ReviewReviewed,
		ErrorMessage: message, MessagePattern: message, ErrorType: "exception",
		Captures: []kb.Capture{}, MessageHistory: []kb.HistoricMessage{},
		Severity: kb.SeverityError, Role: kb.RoleCause, Retry: kb.RetryAfterFix,
		FilePath: "src/" + slug + ".ts", Documentation: "About `" + slug + "`. More.",
		Solutions: []string{"Mend it."}, PreventionTips: []string{},
		Tags: []string{}, Related: []string{},
		Examples:   kb.Examples{Match: []string{message}, NoMatch: []string{"fine"}},
		AnalyzedAt: "2026-01-01T00:00:00Z", FirstPublishedAt: "2026-01-01T00:00:00Z", ContentChangedAt: "2026-01-01T00:00:00Z",
	}
	if change != nil {
		change(r)
	}
	return r
}

func ptr(s string) *string { return &s }

// smallSet is seven records of two repositories that differ in whatever lists
// filter and sort by.
func smallSet() *kb.Set {
	return kb.NewSetOf(
		sample("a000000000000001", "acme/tool", "disk-full", "no space left on ${device}", func(r *kb.Record) {
			r.ErrorCode, r.ErrorClass, r.BackgroundTag = ptr("E_DISK"), ptr("DiskError"), ptr("resource-exhausted")
			r.Severity, r.Tags = kb.SeverityFatal, []string{"disk", "storage"}
			r.Aliases = []string{"device-full", "ENOSPC"}
			r.ContentChangedAt = "2026-03-01T00:00:00Z"
		}),
		sample("a000000000000002", "acme/tool", "lease-lost", "Lease lost.", func(r *kb.Record) {
			r.ErrorClass, r.Tags = ptr("LeaseError"), []string{"lease"}
			r.Related = []string{"b000000000000001"}
			r.ContentChangedAt = "2026-02-01T00:00:00.5Z"
		}),
		sample("a000000000000003", "acme/tool", "old-thing", "'Old' thing broke", func(r *kb.Record) {
			r.Status, r.StatusReason, r.ReplacedBy = kb.StatusRemoved, ptr("gone since 2"), ptr("a000000000000002")
			r.Severity = kb.SeverityInfo
		}),
		sample("b000000000000001", "beta/app", "lease-lost", "lease was lost", func(r *kb.Record) {
			r.ErrorClass, r.Tags = ptr("LeaseError"), []string{"lease", "storage"}
			r.Severity, r.ContentChangedAt = kb.SeverityWarning, "2026-02-01T01:00:00.5+01:00"
		}),
		sample("b000000000000002", "beta/app", "quota", "quota exceeded", func(r *kb.Record) {
			r.ErrorCode, r.BackgroundTag = ptr("E_QUOTA"), ptr("resource-exhausted")
			r.Aliases = []string{"enospc"}
		}),
		sample("b000000000000003", "beta/app", "quota-two", "quota exceeded", func(r *kb.Record) {
			r.ErrorCode = ptr("E_QUOTA")
		}),
		sample("b000000000000004", "beta/app", "unicode", "Überlauf <b>&\"x\"</b>\x00 % _", nil),
	)
}

// largeSet is n records.
func largeSet(n int) *kb.Set {
	records := make([]*kb.Record, n)
	for i := range records {
		records[i] = sample(fmt.Sprintf("%016x", i+1), "acme/tool", fmt.Sprintf("error-%d", i), fmt.Sprintf("error number %d", i), func(r *kb.Record) {
			r.Tags = []string{fmt.Sprintf("tag-%d", i%7)}
			r.Severity = []kb.Severity{kb.SeverityFatal, kb.SeverityError, kb.SeverityWarning, kb.SeverityInfo}[i%4]
			r.ContentChangedAt = fmt.Sprintf("2026-01-%02dT00:00:00Z", 1+i%28)
		})
	}
	return kb.NewSetOf(records...)
}

func memory(t testing.TB, set *kb.Set) *Store {
	t.Helper()
	s, err := OpenMemory(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { close(t, s) })
	return s
}

func open(t testing.TB, dir string, set *kb.Set) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir, set)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func close(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
