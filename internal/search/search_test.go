package search

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"errorkb/internal/kb"

	"github.com/google/go-cmp/cmp"
)

// The query script says what a reader may expect; each line is a case.
func TestQueries(t *testing.T) {
	x := memory(t, testSet(t))
	f, err := os.Open("testdata/queries.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cases := 0
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		text, want, ok := strings.Cut(line, " => ")
		if !ok {
			t.Fatalf("line %d: no =>", n)
		}
		cases++
		result := find(t, x, kb.Query{Text: text})
		wanted := strings.Fields(want)
		got := []string{}
		if result.SomeWords {
			got = append(got, "~")
		}
		open := wanted[len(wanted)-1] == "…"
		for _, hit := range result.Hits {
			if open && len(got) == len(wanted)-1 {
				got = append(got, "…")
				break
			}
			got = append(got, hit.Slug)
		}
		if len(got) == 0 {
			got = append(got, "-")
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("line %d: %q gives %s\n%s", n, text, strings.Join(got, " "), scores(result))
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if cases < 40 {
		t.Errorf("%d cases, the script is cut short", cases)
	}
}

func scores(r kb.SearchResult) string {
	var out strings.Builder
	for _, hit := range r.Hits[:min(5, len(r.Hits))] {
		fmt.Fprintf(&out, "\t%8.3f %s\n", hit.Score, hit.Slug)
	}
	return out.String()
}

// Every printable character, alone, doubled and inside a word, is an ordinary
// text: no error, and where a word is left, its hits.
func TestNoCharacterIsSyntax(t *testing.T) {
	x := memory(t, testSet(t))
	for c := byte(0x20); c < 0x7f; c++ {
		s := string(rune(c))
		for _, text := range []string{s, s + s, "deadlock" + s, s + "deadlock", s + s + "deadlock" + s + s, "deadlock " + s + " detected"} {
			result := find(t, x, kb.Query{Text: text})
			letter := len(split(s)) > 0
			if holds := strings.Contains(text, "deadlock"); holds && !letter && (len(result.Hits) == 0 || result.Hits[0].Slug != "deadlock-detected") {
				t.Errorf("%q does not find the deadlock", text)
			}
			if !letter && !strings.Contains(text, "deadlock") && (result.Total != 0 || len(result.Hits) != 0) {
				t.Errorf("%q finds %d records", text, result.Total)
			}
		}
		find(t, x, kb.Query{Text: "dead" + s + "lock"})
		find(t, x, kb.Query{Text: "dead" + s + s + "lock"})
	}
	for _, text := range []string{
		`title:deadlock`, `+deadlock -detected`, `deadlock~2`, `dead*`, `/dead.*/`, `"deadlock detected"`, `(deadlock OR`, `deadlock^9`,
		`deadlock AND NOT detected`, `facet.repo:acme/db`, `_id:1`, `\`, `\\"`, `{"query":"deadlock"}`, "deadlock\x00detected", "\xff\xfe", "dead\xfflock",
		`>=5`, `[a TO b]`, `deadlock\`, "\u202edeadlock", "dead\u200block", strings.Repeat("(", 300), strings.Repeat("a-", 200), strings.Repeat("aA", 200), strings.Repeat("é", 300),
	} {
		find(t, x, kb.Query{Text: text})
	}
	if a, b := find(t, x, kb.Query{Text: `title:deadlock`}), find(t, x, kb.Query{Text: `title deadlock`}); a.Total != b.Total {
		t.Errorf("a colon changes the hits: %d, %d", a.Total, b.Total)
	}
	if r := find(t, x, kb.Query{Text: `-deadlock`}); r.Total == 0 {
		t.Error("a minus excludes")
	}
}

func TestLongQueryIsCut(t *testing.T) {
	x := memory(t, testSet(t))
	for _, tt := range []struct {
		name, text string
		cut        bool
		runes      int
	}{
		{"at the limit", strings.Repeat("ä", kb.MaxQuery), false, kb.MaxQuery},
		{"one more", strings.Repeat("ä", kb.MaxQuery+1), true, kb.MaxQuery},
		{"blanks do not count at the ends", "  deadlock" + strings.Repeat(" ", 1000), false, 8},
		{"a whole log", "deadlock detected " + strings.Repeat("some words of a log ", 10000), true, 0},
		{"bytes that are no text", strings.Repeat("\xff", 10000), false, 1},
	} {
		result := find(t, x, kb.Query{Text: tt.text})
		if result.Cut != tt.cut || runeCount(result.Text) > kb.MaxQuery || tt.runes > 0 && runeCount(result.Text) != tt.runes {
			t.Errorf("%s: cut %t, %d characters", tt.name, result.Cut, runeCount(result.Text))
		}
	}
	if result := find(t, x, kb.Query{Text: "deadlock detected " + strings.Repeat("x ", 300)}); len(result.Hits) == 0 || result.Hits[0].Slug != "deadlock-detected" {
		t.Error("what was cut off hides the rest")
	}
}

func TestFiltersAndFacets(t *testing.T) {
	x := memory(t, testSet(t))
	facet := func(r kb.SearchResult, kind kb.GroupKind) string {
		for _, f := range r.Facets {
			if f.Kind == kind {
				return fmt.Sprint(f.Groups)
			}
		}
		return ""
	}
	all := find(t, x, kb.Query{Text: "connection lock certificate"})
	if !all.SomeWords || all.Total < 4 {
		t.Fatalf("%+v", all)
	}
	net := find(t, x, kb.Query{Text: "ECONN"})
	for kind, want := range map[kb.GroupKind]string{
		kb.GroupRepo:     "[{acme/web 2}]",
		kb.GroupSeverity: "[{error 1} {warning 1}]",
		kb.GroupTag:      "[{network 2}]",
		kb.GroupCode:     "[{ECONNREFUSED 1} {ECONNRESET 1}]",
		kb.GroupStatus:   "[{active 2}]",
		kb.GroupClass:    "",
	} {
		if got := facet(net, kind); got != want {
			t.Errorf("facet %s: %s, want %s", kind, got, want)
		}
	}
	for _, tt := range []struct {
		q    kb.Query
		want string
	}{
		{kb.Query{Severity: "warning"}, "connection-reset"},
		{kb.Query{Severity: "error"}, "connection-refused"},
		{kb.Query{Code: "ECONNRESET"}, "connection-reset"},
		{kb.Query{Code: "econnreset"}, ""},
		{kb.Query{Repo: "acme/web", Tag: "network", Severity: "error"}, "connection-refused"},
		{kb.Query{Repo: "acme/db"}, ""},
		{kb.Query{Repo: "acme"}, ""},
		{kb.Query{Tag: "network", Status: "removed"}, ""},
		{kb.Query{Class: "x"}, ""},
		{kb.Query{Background: "lock-order"}, ""},
		{kb.Query{Repo: "*"}, ""},
	} {
		tt.q.Text = "ECONN"
		result := find(t, x, tt.q)
		var got []string
		for _, hit := range result.Hits {
			got = append(got, hit.Slug)
		}
		if strings.Join(got, " ") != tt.want || result.Total != len(got) {
			t.Errorf("%+v: %v of %d, want %s", tt.q, got, result.Total, tt.want)
		}
	}
	if r := find(t, x, kb.Query{Text: "deadlock", Background: "lock-order"}); r.Total != 1 {
		t.Errorf("background: %d hits", r.Total)
	}
}

func TestPaging(t *testing.T) {
	x := memory(t, testSet(t))
	all := find(t, x, kb.Query{Text: "duplex"})
	if all.Total < 5 || len(all.Hits) != all.Total {
		t.Fatalf("%d of %d hits", len(all.Hits), all.Total)
	}
	var paged []kb.Hit
	for offset := range all.Total {
		r := find(t, x, kb.Query{Text: "duplex", Limit: 1, Offset: offset})
		if r.Total != all.Total {
			t.Errorf("total %d at %d, want %d", r.Total, offset, all.Total)
		}
		paged = append(paged, r.Hits...)
	}
	if diff := cmp.Diff(all.Hits, paged); diff != "" {
		t.Errorf("paged (-all +paged):\n%s", diff)
	}
	if r := find(t, x, kb.Query{Text: "duplex", Offset: maxOffset}); len(r.Hits) != 0 || r.Total != all.Total {
		t.Errorf("behind the end: %d hits of %d", len(r.Hits), r.Total)
	}
	for _, q := range []kb.Query{{Limit: -1}, {Offset: -1}, {Offset: maxOffset + 1}} {
		q.Text = "duplex"
		if _, err := x.Search(t.Context(), q); !errors.Is(err, kb.ErrBadQuery) {
			t.Errorf("%+v: %v, want a bad query", q, err)
		}
	}
	if r := find(t, x, kb.Query{Text: "duplex", Limit: 1 << 30}); len(r.Hits) != all.Total {
		t.Errorf("huge limit: %d hits", len(r.Hits))
	}
}

// Records that nothing tells apart come in the order of their ids, and two
// indexes of one set answer alike.
func TestOrderIsFixed(t *testing.T) {
	var same []*kb.Record
	for _, n := range []int{5, 3, 9, 1, 7} {
		same = append(same, made(n, "acme/same", fmt.Sprintf("same-%d", n), "the same message", func(r *kb.Record) { r.FilePath, r.Slug = "x.go", fmt.Sprintf("same-%d", n) }))
	}
	x := memory(t, kb.NewSetOf(same...))
	var got []string
	for _, hit := range find(t, x, kb.Query{Text: "same message"}).Hits {
		got = append(got, hit.Slug)
	}
	if want := "same-1 same-3 same-5 same-7 same-9"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	set := testSet(t)
	a, b := memory(t, set), open(t, t.TempDir(), set)
	defer b.Close()
	for _, text := range []string{"duplex channel lease", "connection lock certificate", "capabilty", "the"} {
		ra, rb := find(t, a, kb.Query{Text: text}), find(t, b, kb.Query{Text: text})
		if len(ra.Hits) == 0 || !reflect.DeepEqual(ra, rb) {
			t.Errorf("%q: memory and disk differ:\n%s", text, cmp.Diff(ra, rb))
		}
	}
}

func TestItemOfAHit(t *testing.T) {
	x := memory(t, testSet(t))
	hit := find(t, x, kb.Query{Text: "40P01"}).Hits[0]
	want := kb.Item{
		ID: "00000000c0de0001", Repo: "acme/db", Slug: "deadlock-detected", Title: "deadlock detected",
		Severity: kb.SeverityError, Role: kb.RoleCause, Status: kb.StatusActive, Review: kb.ReviewReviewed,
		ErrorClass: "DeadlockError", ErrorCode: "40P01", Tags: []string{"locking", "transaction"}, Background: "lock-order",
		Summary: "Two transactions wait for each other's locks.", ContentChangedAt: "2026-01-01T00:00:00Z",
	}
	if diff := cmp.Diff(want, hit.Item); diff != "" {
		t.Errorf("item (-want +got):\n%s", diff)
	}
	if hit.Score <= 0 {
		t.Errorf("score %v", hit.Score)
	}
}

func TestEmptySet(t *testing.T) {
	for name, x := range map[string]*Index{"memory": memory(t, kb.NewSetOf()), "disk": open(t, t.TempDir(), kb.NewSetOf())} {
		if r := find(t, x, kb.Query{Text: "anything"}); r.Total != 0 || r.Text != "anything" {
			t.Errorf("%s: %+v", name, r)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestCancelledSearch(t *testing.T) {
	x := memory(t, testSet(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Search(ctx, kb.Query{Text: "duplex"}); !errors.Is(err, context.Canceled) {
		t.Errorf("search: %v, want cancelled", err)
	}
	if _, err := OpenMemory(ctx, testSet(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("build: %v, want cancelled", err)
	}
	if _, err := Open(ctx, t.TempDir(), testSet(t), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v, want cancelled", err)
	}
	find(t, x, kb.Query{Text: "duplex"})
}
