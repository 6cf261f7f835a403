package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"errorkb/internal/diagnose"
	"errorkb/internal/diagnose/entry"
	"errorkb/internal/kb"
	"errorkb/internal/render"
	"errorkb/web"
)

// fakeSource keeps records in memory. Like the store, it answers nothing after
// it was closed.
type fakeSource struct {
	set    *kb.Set
	closed atomic.Bool
}

var errClosed = errors.New("used after close")

func (f *fakeSource) Version() string { return f.set.Version }

func (f *fakeSource) find(match func(*kb.Record) bool) (*kb.Record, error) {
	if f.closed.Load() {
		return nil, errClosed
	}
	if i := slices.IndexFunc(f.set.Records, match); i >= 0 {
		return f.set.Records[i], nil
	}
	return nil, kb.ErrNotFound
}

func (f *fakeSource) Record(_ context.Context, id string) (*kb.Record, error) {
	return f.find(func(r *kb.Record) bool { return r.ID == id })
}

func (f *fakeSource) BySlug(_ context.Context, repo, slug string) (*kb.Record, error) {
	return f.find(func(r *kb.Record) bool { return r.Repo == repo && r.Slug == slug })
}

func (f *fakeSource) Resolve(_ context.Context, key string) (string, error) {
	r, err := f.find(func(r *kb.Record) bool {
		same := func(name string) bool { return strings.EqualFold(name, key) }
		return same(r.ID) || same(r.Slug) || slices.ContainsFunc(r.Aliases, same)
	})
	if err != nil {
		return "", err
	}
	return r.ID, nil
}

func itemOf(r *kb.Record) kb.Item {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	return kb.Item{
		ID: r.ID, Repo: r.Repo, Slug: r.Slug, Title: r.Title(), Severity: r.Severity, Role: r.Role, Status: r.Status,
		Review: r.Review, ErrorClass: text(r.ErrorClass), ErrorCode: text(r.ErrorCode), Tags: r.Tags,
		Background: text(r.BackgroundTag), Summary: kb.Summary(r.Documentation),
		ContentChangedAt: r.ContentChangedAt, FirstPublishedAt: r.FirstPublishedAt,
	}
}

func (f *fakeSource) items(filter kb.Filter) []kb.Item {
	var items []kb.Item
	for _, r := range f.set.Records {
		i := itemOf(r)
		wanted := func(want, have string) bool { return want == "" || want == have }
		if wanted(filter.Repo, i.Repo) && wanted(filter.Severity, string(i.Severity)) && wanted(filter.Status, string(i.Status)) &&
			wanted(filter.Class, i.ErrorClass) && wanted(filter.Code, i.ErrorCode) && wanted(filter.Background, i.Background) &&
			(filter.Tag == "" || slices.Contains(i.Tags, filter.Tag)) {
			items = append(items, i)
		}
	}
	slices.SortFunc(items, func(a, b kb.Item) int {
		if filter.Sort == "changed" {
			return cmp.Or(cmp.Compare(b.ContentChangedAt, a.ContentChangedAt), cmp.Compare(a.ID, b.ID))
		}
		return cmp.Or(cmp.Compare(a.Title, b.Title), cmp.Compare(a.ID, b.ID))
	})
	return items
}

func (f *fakeSource) List(_ context.Context, filter kb.Filter) (kb.Page, error) {
	if f.closed.Load() {
		return kb.Page{}, errClosed
	}
	items := f.items(filter)
	page := kb.Page{Total: len(items)}
	from := filter.Offset
	if filter.Cursor != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(filter.Cursor, "after-"))
		if err != nil || !strings.HasPrefix(filter.Cursor, "after-") || n < 0 {
			return kb.Page{}, fmt.Errorf("cursor: %w", kb.ErrBadCursor)
		}
		from = n
	}
	limit := cmp.Or(filter.Limit, kb.DefaultLimit)
	from = min(from, len(items))
	to := min(from+limit, len(items))
	page.Items = items[from:to]
	if to < len(items) {
		page.Next = "after-" + strconv.Itoa(to)
	}
	return page, nil
}

func (f *fakeSource) Groups(_ context.Context, kind kb.GroupKind, filter kb.Filter) ([]kb.Group, error) {
	counts := map[string]int{}
	for _, i := range f.items(filter) {
		values := map[kb.GroupKind][]string{
			kb.GroupRepo: {i.Repo}, kb.GroupTag: i.Tags, kb.GroupBackground: {i.Background}, kb.GroupSeverity: {string(i.Severity)},
			kb.GroupClass: {i.ErrorClass}, kb.GroupCode: {i.ErrorCode}, kb.GroupStatus: {string(i.Status)},
		}[kind]
		for _, value := range values {
			if value != "" {
				counts[value]++
			}
		}
	}
	var groups []kb.Group
	for name, count := range counts {
		groups = append(groups, kb.Group{Name: name, Count: count})
	}
	slices.SortFunc(groups, func(a, b kb.Group) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return groups, nil
}

func (f *fakeSource) Related(_ context.Context, id string) ([]kb.RelatedItem, error) {
	var related []kb.RelatedItem
	for _, relation := range kb.Related(f.set.Records, 4)[id] {
		r, err := f.find(func(r *kb.Record) bool { return r.ID == relation.ID })
		if err != nil {
			return nil, err
		}
		related = append(related, kb.RelatedItem{Item: itemOf(r), Why: relation.Why})
	}
	return related, nil
}

// fakeSearch finds records whose title holds the text.
type fakeSearch struct{ source *fakeSource }

func (f fakeSearch) Search(_ context.Context, query kb.Query) (kb.SearchResult, error) {
	if f.source.closed.Load() {
		return kb.SearchResult{}, errClosed
	}
	if query.Text == "break the index" {
		return kb.SearchResult{}, errors.New("index is gone")
	}
	result := kb.SearchResult{Text: strings.TrimSpace(query.Text)}
	for _, item := range f.source.items(kb.Filter{Repo: query.Repo, Tag: query.Tag, Severity: query.Severity}) {
		before, after, found := strings.Cut(item.Title, result.Text)
		if result.Text == "" || !found {
			continue
		}
		result.Hits = append(result.Hits, kb.Hit{Item: item, Score: 1.5, Fragments: []kb.Fragment{
			{Field: kb.FieldTitle, Parts: []kb.Part{{Text: before}, {Text: result.Text, Marked: true}, {Text: after}}},
		}})
	}
	result.Total = len(result.Hits)
	from := min(query.Offset, result.Total)
	result.Hits = result.Hits[from:min(from+cmp.Or(query.Limit, kb.DefaultHits), result.Total)]
	if result.Total > 0 {
		result.Facets = []kb.Facet{{Kind: kb.GroupRepo, Groups: []kb.Group{{Name: "paperclipai/paperclip", Count: result.Total}}}}
	}
	return result, nil
}

// bundledIDs are the records of the repository that the tests ask for: few
// enough to be counted, and the count stays when records are added.
var bundledIDs = []string{"aac633ea169db74f", "ec727a874bad4398", "fbc48e17530ae3db", "76cd561cc94f654d", "2cc91d4b712d79f6"}

// bundled reads records of the repository, so that the tests ask about the
// pages that visitors see.
func bundled(t testing.TB) *kb.Set {
	t.Helper()
	sources, findings := kb.ReadDir(os.DirFS("../../records"))
	if kb.HasErrors(findings) || len(sources) == 0 {
		t.Fatalf("read the bundled records: %d records, findings %v", len(sources), findings)
	}
	sources = slices.DeleteFunc(sources, func(s *kb.Source) bool { return !slices.Contains(bundledIDs, s.Record.ID) })
	if len(sources) != len(bundledIDs) {
		t.Fatalf("%d of the records %q are there", len(sources), bundledIDs)
	}
	return kb.NewSet(sources)
}

func recordSchema(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("../../schema/record.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// testCode is the source that testProof points to.
var testCode = fstest.MapFS{"duplex/route.go": {Data: []byte("package duplex\n\nvar errBusy = fault.New(msgBusy)\n")}}

// testProof proves one of the bundled records.
func testProof() *kb.Proof {
	id, place := "fbc48e17530ae3db", kb.Place{File: "duplex/route.go", Line: 3, Symbol: "errBusy"}
	code := "A_CODE"
	steps := []kb.ProofStep{{Text: "Open it", Result: ""}}
	return &kb.Proof{
		SchemaVersion: kb.EvidenceVersion,
		Records: []kb.Evidence{{
			Record: id, Scenario: "one", Title: "It is opened", Proven: true, Problems: []string{}, Steps: steps,
			Emitted: kb.Emitted{
				Channel: kb.ChannelError, Text: "a text", Message: "text", Code: &code,
				Chain: []kb.ChainLink{{Message: "a text"}, {Message: "text", Code: &code, Place: &place}},
				Place: kb.ProofPlace{Place: place, Start: 3, Lines: []string{"var errBusy = fault.New(msgBusy)"}},
			},
			Diagnosis: kb.PasteResult{Verdict: "known", Kind: "exact", Confidence: 1, Cause: &id, Captures: []kb.CaptureValue{{Name: "a", Value: "b"}}},
			Remedies:  []kb.Remedy{{Solution: 1, Steps: steps, Again: true, Works: true}},
			Captures:  []kb.CaptureValue{{Name: "a", Value: "b"}},
			Also:      []kb.Variant{{Title: "Another", Steps: steps, Emitted: "text", Place: place, Then: []kb.Then{{Record: id, Message: "text", Steps: steps}}}},
		}},
		Places:     []kb.RaisePlace{{Place: place, Message: "text", Record: &id}},
		Operations: []kb.Operation{{Name: "open", Title: "Open", Guards: []kb.Guard{{Place: place, Message: "text", Record: &id}}}},
		Siblings:   []kb.Sibling{{Record: id, Text: "text", Found: []string{id}}},
	}
}

// newSnapshot makes a snapshot of real pages and a real diagnosis over a fake
// source.
func newSnapshot(t testing.TB, set *kb.Set, base render.Base) (*Snapshot, *fakeSource) {
	t.Helper()
	source := &fakeSource{set: set}
	var entries []diagnose.Entry
	for _, r := range set.Records {
		entries = append(entries, entry.Of(r, base.Address(render.PlaceError, r.Repo, r.Slug)))
	}
	engine, err := diagnose.New(set.Version, entries)
	if err != nil {
		t.Fatal(err)
	}
	return &Snapshot{
		Source: source,
		Pages:  render.New(source, render.Options{Base: base, Assets: web.Names(), Schema: recordSchema(t), Proof: testProof(), Code: testCode}),
		Search: fakeSearch{source},
		Diagnose: func(ctx context.Context, text []byte) diagnose.Answer {
			return engine.Diagnose(ctx, text, diagnose.Options{})
		},
		Close: func() error {
			if source.closed.Swap(true) {
				t.Error("a snapshot was closed twice")
			}
			return nil
		},
	}, source
}

// testConfig serves the bundled records.
func testConfig(t testing.TB) Config {
	set := bundled(t)
	return Config{
		Load: func(context.Context) (*Snapshot, error) {
			snapshot, _ := newSnapshot(t, set, "")
			return snapshot, nil
		},
		Version: "test",
		Limits:  Limits{MaxBody: 64 << 10, DiagnoseTimeout: 10 * time.Second},
		Logger:  slog.New(slog.DiscardHandler),
	}
}

func newTestServer(t testing.TB, config Config) *Server {
	t.Helper()
	s, err := New(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
