package kb

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// Set is a set of records that belong together, and its version.
type Set struct {
	Records []*Record // sorted by repository and slug
	Sources []*Source // of the records, in the same order; nil when there are no files
	Sums    []Sum     // of the records, in the same order
	Version string    // of the data set
}

// NewSet makes a set of what was read.
func NewSet(sources []*Source) *Set {
	sources = slices.Clone(sources)
	slices.SortStableFunc(sources, func(a, b *Source) int {
		return cmp.Or(compareRecords(a.Record, b.Record), cmp.Compare(a.Path, b.Path))
	})
	s := &Set{Sources: sources}
	for _, source := range sources {
		sum := source.Sum
		if sum == (Sum{}) {
			sum = source.Record.Sum()
		}
		s.Records, s.Sums = append(s.Records, source.Record), append(s.Sums, sum)
	}
	s.Version = version(s.Records, s.Sums)
	return s
}

// NewSetOf makes a set of records that have no files.
func NewSetOf(records ...*Record) *Set {
	records = slices.Clone(records)
	slices.SortStableFunc(records, compareRecords)
	s := &Set{Records: records}
	for _, r := range records {
		s.Sums = append(s.Sums, r.Sum())
	}
	s.Version = version(s.Records, s.Sums)
	return s
}

func compareRecords(a, b *Record) int {
	return cmp.Or(cmp.Compare(a.Repo, b.Repo), cmp.Compare(a.Slug, b.Slug), cmp.Compare(a.ID, b.ID))
}

// versionTime is how a data-set version writes its time: UTC, milliseconds.
const versionTime = "2006-01-02T15:04:05.000Z"

// version names the content of records in their order: the newest change and a
// short hash of their sums, like 2026-09-23T08:17:48.524Z+1f3a9c2e.
func version(records []*Record, sums []Sum) string {
	var newest time.Time
	h := sha256.New()
	for i, r := range records {
		// A time that does not parse is a finding of the schema; here it counts
		// as old.
		if t, err := time.Parse(time.RFC3339Nano, r.ContentChangedAt); err == nil && t.After(newest) {
			newest = t
		}
		h.Write(sums[i][:])
	}
	return newest.UTC().Format(versionTime) + "+" + hex.EncodeToString(h.Sum(nil)[:4])
}
