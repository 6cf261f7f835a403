package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"errorkb/internal/kb"

	"github.com/google/go-cmp/cmp"
)

// ids lists the ids of a page, shortened to what differs.
func ids(items []kb.Item) string {
	var out []string
	for _, item := range items {
		out = append(out, item.ID[:1]+item.ID[15:])
	}
	return strings.Join(out, " ")
}

func TestListFiltersAndSorts(t *testing.T) {
	s := memory(t, smallSet())
	tests := []struct {
		filter kb.Filter
		want   string
	}{
		{kb.Filter{}, "a2 b1 a1 a3 b2 b3 b4"},
		{kb.Filter{Sort: "title"}, "a2 b1 a1 a3 b2 b3 b4"},
		{kb.Filter{Sort: "changed"}, "a1 a2 b1 a3 b2 b3 b4"},
		{kb.Filter{Sort: "severity"}, "a1 a2 b2 b3 b4 b1 a3"},
		{kb.Filter{Repo: "acme/tool"}, "a2 a1 a3"},
		{kb.Filter{Repo: "acme/tool", Sort: "changed"}, "a1 a2 a3"},
		{kb.Filter{Tag: "storage"}, "b1 a1"},
		{kb.Filter{Tag: "storage", Repo: "beta/app"}, "b1"},
		{kb.Filter{Background: "resource-exhausted"}, "a1 b2"},
		{kb.Filter{Severity: "info"}, "a3"},
		{kb.Filter{Class: "LeaseError"}, "a2 b1"},
		{kb.Filter{Code: "E_QUOTA"}, "b2 b3"},
		{kb.Filter{Status: "removed"}, "a3"},
		{kb.Filter{Repo: "nobody/nothing"}, ""},
		{kb.Filter{Tag: "' OR 1=1 --"}, ""},
		{kb.Filter{Tag: "%"}, ""},
		{kb.Filter{Limit: 2, Offset: 3}, "a3 b2"},
		{kb.Filter{Offset: 100}, ""},
	}
	for _, tt := range tests {
		page, err := s.List(t.Context(), tt.filter)
		if err != nil {
			t.Errorf("%+v: %v", tt.filter, err)
			continue
		}
		if got := ids(page.Items); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.filter, got, tt.want)
		}
		if tt.filter.Limit == 0 && tt.filter.Offset == 0 && page.Total != len(page.Items) {
			t.Errorf("%+v: total %d of %d", tt.filter, page.Total, len(page.Items))
		}
	}
}

func TestListItem(t *testing.T) {
	s := memory(t, smallSet())
	page, err := s.List(t.Context(), kb.Filter{Code: "E_DISK"})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	want := kb.Item{
		ID: "a000000000000001", Repo: "acme/tool", Slug: "disk-full", Title: "no space left on ${device}",
		Severity: kb.SeverityFatal, Role: kb.RoleCause, Status: kb.StatusActive, Review: kb.ReviewReviewed,
		ErrorClass: "DiskError", ErrorCode: "E_DISK", Tags: []string{"disk", "storage"}, Background: "resource-exhausted",
		Summary: "About disk-full.", ContentChangedAt: "2026-03-01T00:00:00Z", FirstPublishedAt: "2026-01-01T00:00:00Z",
	}
	if diff := cmp.Diff(want, page.Items[0]); diff != "" {
		t.Errorf("item (-want +got):\n%s", diff)
	}
}

func TestListPagesByCursor(t *testing.T) {
	s := memory(t, largeSet(457))
	for _, filter := range []kb.Filter{
		{Limit: 50}, {Sort: "changed", Limit: 7}, {Sort: "severity", Limit: 200}, {Tag: "tag-3", Limit: 1},
		{Severity: "fatal"}, {Limit: 100000},
	} {
		whole := filter
		whole.Limit = kb.MaxLimit
		var want []string
		for {
			page, err := s.List(t.Context(), whole)
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Items) == 0 {
				break
			}
			for _, item := range page.Items {
				want = append(want, item.ID)
			}
			whole.Offset += len(page.Items)
		}
		var got []string
		for {
			page, err := s.List(t.Context(), filter)
			if err != nil {
				t.Fatalf("%+v: %v", filter, err)
			}
			if page.Total != len(want) {
				t.Errorf("%+v: total %d, want %d", filter, page.Total, len(want))
			}
			for _, item := range page.Items {
				got = append(got, item.ID)
			}
			if page.Next == "" || len(got) > len(want) {
				break
			}
			filter.Cursor = page.Next
		}
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%+v: %d by cursor, %d by offset, or another order", filter, len(got), len(want))
		}
		if unique := slices.Compact(slices.Sorted(slices.Values(got))); len(unique) != len(got) {
			t.Errorf("%+v: %d records twice", filter, len(got)-len(unique))
		}
	}
}

func TestCursorOutlivesItsDataSet(t *testing.T) {
	first, err := memory(t, largeSet(10)).List(t.Context(), kb.Filter{Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	filter := kb.Filter{Limit: 3, Cursor: first.Next}
	if page, err := memory(t, largeSet(20)).List(t.Context(), filter); err != nil || len(page.Items) != 3 {
		t.Errorf("in a larger set: %+v, %v", page, err)
	}
	if _, err := memory(t, smallSet()).List(t.Context(), filter); !errors.Is(err, kb.ErrBadCursor) {
		t.Errorf("in a set without its record: %v, want a bad cursor", err)
	}
}

func TestBadCursor(t *testing.T) {
	s := memory(t, largeSet(10))
	page, err := s.List(t.Context(), kb.Filter{Limit: 2, Sort: "changed"})
	if err != nil || page.Next == "" {
		t.Fatalf("%+v, %v", page, err)
	}
	for name, filter := range map[string]kb.Filter{
		"other sort":     {Cursor: page.Next, Sort: "title"},
		"other filter":   {Cursor: page.Next, Sort: "changed", Tag: "tag-1"},
		"with offset":    {Cursor: page.Next, Sort: "changed", Offset: 1},
		"nonsense":       {Cursor: "x"},
		"not base64":     {Cursor: "!!!"},
		"short":          {Cursor: "AAAA"},
		"tag without":    {Cursor: "AAAAAAAAAAA"},
		"padding":        {Cursor: page.Next + "=", Sort: "changed"},
		"long":           {Cursor: strings.Repeat("A", 1<<16)},
		"changed":        {Cursor: page.Next[:len(page.Next)-2] + "AA", Sort: "changed"},
		"NUL":            {Cursor: "\x00"},
		"not UTF-8":      {Cursor: "\xff"},
		"line feed":      {Cursor: page.Next + "\n", Sort: "changed"},
		"cut":            {Cursor: page.Next[:len(page.Next)-1], Sort: "changed"},
		"other alphabet": {Cursor: strings.Repeat("+/", 20)},
	} {
		_, err := s.List(t.Context(), filter)
		if !errors.Is(err, kb.ErrBadCursor) {
			t.Errorf("%s: %v, want a bad cursor", name, err)
		} else if len(err.Error()) > 300 {
			t.Errorf("%s: message of %d bytes", name, len(err.Error()))
		}
	}
	if _, err := s.List(t.Context(), kb.Filter{Cursor: page.Next, Sort: "changed", Limit: 5}); err != nil {
		t.Errorf("another page size: %v", err)
	}
}

func TestBadQuery(t *testing.T) {
	s := memory(t, smallSet())
	for _, filter := range []kb.Filter{{Sort: "id; DROP TABLE record"}, {Sort: "Title"}, {Limit: -1}, {Offset: -1}} {
		if _, err := s.List(t.Context(), filter); !errors.Is(err, kb.ErrBadQuery) {
			t.Errorf("%+v: %v, want a bad query", filter, err)
		}
	}
	if _, err := s.Groups(t.Context(), "json", kb.Filter{}); !errors.Is(err, kb.ErrBadQuery) {
		t.Errorf("unknown kind: %v, want a bad query", err)
	}
}

func TestGroups(t *testing.T) {
	s := memory(t, smallSet())
	tests := []struct {
		kind   kb.GroupKind
		filter kb.Filter
		want   string
	}{
		{kb.GroupRepo, kb.Filter{}, "beta/app:4 acme/tool:3"},
		{kb.GroupTag, kb.Filter{}, "lease:2 storage:2 disk:1"},
		{kb.GroupTag, kb.Filter{Repo: "acme/tool"}, "disk:1 lease:1 storage:1"},
		{kb.GroupTag, kb.Filter{Tag: "storage"}, "storage:2 disk:1 lease:1"},
		{kb.GroupBackground, kb.Filter{}, "resource-exhausted:2"},
		{kb.GroupSeverity, kb.Filter{}, "error:4 fatal:1 info:1 warning:1"},
		{kb.GroupClass, kb.Filter{}, "LeaseError:2 DiskError:1"},
		{kb.GroupCode, kb.Filter{}, "E_QUOTA:2 E_DISK:1"},
		{kb.GroupStatus, kb.Filter{}, "active:6 removed:1"},
		{kb.GroupStatus, kb.Filter{Tag: "lease", Limit: 1, Offset: 1, Sort: "changed"}, "active:2"},
		{kb.GroupRepo, kb.Filter{Repo: "nobody/nothing"}, ""},
	}
	for _, tt := range tests {
		groups, err := s.Groups(t.Context(), tt.kind, tt.filter)
		if err != nil {
			t.Errorf("%s %+v: %v", tt.kind, tt.filter, err)
			continue
		}
		var got []string
		for _, g := range groups {
			got = append(got, fmt.Sprintf("%s:%d", g.Name, g.Count))
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s %+v: %q, want %q", tt.kind, tt.filter, got, tt.want)
		}
	}
}

// Lists are read row by row; none may scan or sort the whole table for a page
// that an index gives.
func TestListsUseTheirIndex(t *testing.T) {
	s := memory(t, largeSet(500))
	for sort, by := range orders {
		rows, err := s.db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN SELECT item FROM record ORDER BY "+by+", id LIMIT 50")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var plan []string
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, detail)
		}
		if text := strings.Join(plan, "; "); !strings.Contains(text, "USING INDEX record_") || strings.Contains(text, "TEMP B-TREE") {
			t.Errorf("sort %s: plan %q", sort, text)
		}
	}
}
