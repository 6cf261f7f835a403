package lint

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"errorkb/internal/kb"
)

// matrixSet is records that find each other's texts in all the ways there are.
func matrixSet() *kb.Set {
	record := func(slug string, role kb.Role, message, expr string, examples ...string) *kb.Record {
		r := &kb.Record{ID: strings.Repeat(slug[:1], 16), Repo: "a/b", Slug: slug, Role: role, Status: kb.StatusActive,
			ErrorMessage: message, MessagePattern: expr}
		r.Examples.Match = examples
		return r
	}
	short := record("cannot-open", kb.RoleCause, "cannot open ${file}", `cannot open (?P<file>.+?)`, "cannot open a.txt")
	short.Captures = []kb.Capture{{Name: "file", Example: "b.txt"}}
	old := record("door-shut", kb.RoleCause, "the door is shut", `the door is shut`, "the door is shut")
	old.MessageHistory = []kb.HistoricMessage{{ErrorMessage: "cannot open the old door", MessagePattern: "cannot open the old door", Until: "1.0"}}
	return kb.NewSetOf(short, old,
		record("locked", kb.RoleCause, "cannot open x: the file is locked", `cannot open x: the file is locked`, "cannot open x: the file is locked"),
		record("start", kb.RoleWrapper, "start failed: ${why}", `start failed: (?P<why>.+?)`, "start failed: cannot open a.txt"),
		record("twin", kb.RoleCause, "the door is shut", `the door is sh(ut|am)`, "the door is shut"),
	)
}

// byText diagnoses as the first of the records, in a fixed order, that finds
// the text; a text with the word lost is not diagnosed.
func byText(set *kb.Set, order ...string) func([]byte) []string {
	return func(text []byte) []string {
		var ids []string
		for _, slug := range order {
			for _, r := range set.Records {
				if r.Slug == slug && regexp.MustCompile(r.MessagePattern).Match(text) && !strings.Contains(string(text), "lost") {
					ids = append(ids, r.ID)
				}
			}
		}
		return ids
	}
}

func TestMatrix(t *testing.T) {
	set := matrixSet()
	m, err := NewMatrix(t.Context(), set, byText(set, "locked", "cannot-open", "door-shut", "twin", "start"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range m.Cells {
		got = append(got, c.Record.Slug+" by "+c.Other.Slug+" "+strings.Repeat("I", c.Count)+": "+c.First.Slug+", "+c.Why)
	}
	want := []string{
		"door-shut by twin II: door-shut, both have 16 bytes of their own text in it; the patterns do not tell them apart",
		"locked by cannot-open II: locked, it has more text of its own in it, 33 to 12 bytes",
		"start by cannot-open I: cannot-open, a cause comes before a wrapper",
		"twin by door-shut II: door-shut, both have 16 bytes of their own text in it; the patterns do not tell them apart",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
	if m.Records != 5 || m.Instances != 10 {
		t.Errorf("%d records, %d instances", m.Records, m.Instances)
	}
	var wrong []string
	for _, w := range m.Wrong {
		wrong = append(wrong, w.Record.Slug+" "+w.Field+" "+w.Got.Slug)
	}
	if diff := cmp.Diff([]string{"twin examples.match[0] door-shut", "twin errorMessage door-shut"}, wrong); diff != "" {
		t.Errorf("wrong (-want +got):\n%s", diff)
	}
}

// The more general record before the special one is a mistake, and so is a
// cause that is found where the wrapper itself is not.
func TestMatrixSeesWrongOrder(t *testing.T) {
	set := matrixSet()
	m, err := NewMatrix(t.Context(), set, byText(set, "cannot-open", "locked", "door-shut"))
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, w := range m.Wrong {
		got := "unknown"
		if w.Got != nil {
			got = w.Got.Slug
		}
		count[w.Record.Slug+" as "+got]++
	}
	want := map[string]int{"locked as cannot-open": 2, "start as cannot-open": 1, "start as unknown": 1, "twin as door-shut": 2}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Errorf("wrong (-want +got):\n%s", diff)
	}
}

func TestMatrixEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewMatrix(ctx, matrixSet(), func([]byte) []string { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	broken := kb.NewSetOf(&kb.Record{ID: "b", MessagePattern: "("})
	if _, err := NewMatrix(t.Context(), broken, nil); err == nil || !strings.Contains(err.Error(), `record "b"`) {
		t.Errorf("error %v", err)
	}
}

func TestUnreduced(t *testing.T) {
	set := kb.NewSet([]*kb.Source{
		{Path: "a/b/plain.json", Record: &kb.Record{ID: "1", Repo: "a/b", Slug: "plain", MessagePattern: "no (?P<x>.+?) here"}},
		{Path: "a/b/slow.json", Record: &kb.Record{ID: "2", Repo: "a/b", Slug: "slow", MessagePattern: `no(\s\w+\d)+ here`}},
		{Path: "a/b/was-slow.json", Record: &kb.Record{ID: "3", Repo: "a/b", Slug: "was-slow", MessagePattern: "no here",
			MessageHistory: []kb.HistoricMessage{{MessagePattern: `no(\s\w+\d)+ there`}}}},
	})
	if diff := cmp.Diff([]string{"a/b/slow.json", "a/b/was-slow.json"}, Unreduced(set)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
