package render

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestProblemTypes(t *testing.T) {
	types := ProblemTypes()
	if len(types) < 10 {
		t.Fatalf("only %d types", len(types))
	}
	form := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := map[string]bool{}
	status := 0
	for _, p := range types {
		if seen[p.Slug] || !form.MatchString(p.Slug) {
			t.Errorf("slug %q", p.Slug)
		}
		seen[p.Slug] = true
		if p.Status < 400 || p.Status > 599 || http.StatusText(p.Status) == "" || p.Status < status {
			t.Errorf("%s: status %d", p.Slug, p.Status)
		}
		status = p.Status
		if p.Title == "" || strings.HasSuffix(p.Title, ".") || !strings.HasSuffix(p.Explanation, ".") || p.Advice == "" {
			t.Errorf("%s: title, explanation or advice", p.Slug)
		}
	}
}

func TestProblemJSON(t *testing.T) {
	p := NewProblem("/kb", ProblemBadCursor, `The cursor "x<y" is of no use.`, "x<y")
	want := `{"type":"/kb/problems/bad-cursor/","title":"The cursor is not valid","status":400,"detail":"The cursor \"x<y\" is of no use.","input":"x<y"}` + "\n"
	if got := string(p.JSON()); got != want {
		t.Errorf("got %s", got)
	}
	if got := string(NewProblem("", ProblemBusy, "Wait.", "").JSON()); strings.Contains(got, "input") {
		t.Errorf("a problem without input has one: %s", got)
	}
	if p := NewProblem("", ProblemNotFound, "No.", "\xff\x00"+strings.Repeat("ä", 500)); !utf8.Valid(p.JSON()) || len(p.JSON()) > 500 {
		t.Errorf("got %s", p.JSON())
	}
}

func TestShorten(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"short":                     "short",
		strings.Repeat("a", 80):     strings.Repeat("a", 80),
		strings.Repeat("a", 81):     strings.Repeat("a", 80) + "…",
		strings.Repeat("€", 27):     strings.Repeat("€", 26) + "…",
		strings.Repeat("\xbf", 100): "…", // no character begins anywhere
	} {
		if got := Shorten(in); got != want {
			t.Errorf("Shorten(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Quote("a\x00\xff\n"); got != `"a\x00\xff\n"` {
		t.Errorf("Quote gives %s", got)
	}
}
