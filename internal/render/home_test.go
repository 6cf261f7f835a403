package render

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"errorkb/internal/kb"
)

// The messages to try show different things: one of each common concept, with
// values where it has such a message, and not the first three of a list.
func TestHomeSamples(t *testing.T) {
	record := func(id, concept, message string, captures ...kb.Capture) *kb.Record {
		r := plainRecord()
		r.ID, r.Slug, r.ErrorMessage, r.Captures, r.Examples.Match = id, "slug-"+id, message, captures, []string{message}
		if r.BackgroundTag = nil; concept != "" {
			r.BackgroundTag = &concept
		}
		return r
	}
	value := kb.Capture{Name: "name", Description: "a name", Example: "x"}
	for name, c := range map[string]struct {
		records shelf
		want    []string
	}{
		"concepts": {shelf{
			record("00000000000000b1", "config", "a bare message"), record("00000000000000b2", "config", "a second one"),
			record("00000000000000b3", "config", "the value x is bad", value), record("00000000000000b4", "network", "no route to x", value),
			record("00000000000000b5", "network", "no network"),
		}, []string{"the value x is bad", "no route to x", "a bare message"}},
		"none": {shelf{record("00000000000000b1", "", "a bare message"), record("00000000000000b2", "", "a second one")},
			[]string{"a bare message", "a second one"}},
	} {
		r := testRenderer(c.records)
		var d HomeData
		var err error
		if d.Newest, err = r.src.List(t.Context(), kb.Filter{Sort: "changed", Limit: homeNew}); err != nil {
			t.Fatal(err)
		}
		if d.Concepts, err = r.src.Groups(t.Context(), kb.GroupBackground, kb.Filter{}); err != nil {
			t.Fatal(err)
		}
		got, err := r.samples(t.Context(), d)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}

// A set that was written in one go has no newest records, and the page says so.
func TestHomeNew(t *testing.T) {
	for n, want := range map[int]bool{homeNew: false, homeNew + 1: true, 3 * homeNew: true} {
		for _, alike := range []bool{true, false} {
			var records shelf
			for i := range n {
				r := plainRecord()
				r.ID, r.Slug = fmt.Sprintf("%016x", 0xb0+i), fmt.Sprintf("queue-%d", i)
				r.ContentChangedAt = "2026-08-21T10:00:00Z"
				if i == 0 {
					r.ContentChangedAt = "2026-08-21T10:00:00.000Z"
				}
				if !alike && i >= homeNew {
					r.ContentChangedAt = "2026-08-20T10:00:00Z"
				}
				records = append(records, r)
			}
			doc, err := testRenderer(records).Document(t.Context(), "/")
			mustDocument(t, doc, err)
			root := parse(t, doc.Body)
			if rows := find(root, classed("row")); len(rows) != homeNew {
				t.Errorf("%d records: %d rows", n, len(rows))
			}
			const note = "More than these changed on 21 August 2026, all at once; they stand by title."
			if got := strings.Contains(text(root), note); got != (want && alike) {
				t.Errorf("%d records, alike %v: the note is there: %v", n, alike, got)
			}
		}
	}
}
