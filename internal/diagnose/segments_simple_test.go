package diagnose

import (
	"slices"
	"testing"

	"errorkb/internal/pattern/corpus"
)

// checkSimple compares the quick reading of an expression with the thorough one,
// and reports whether there is a quick one.
func checkSimple(t *testing.T, expr string) bool {
	t.Helper()
	quick := simpleSegments(expr)
	if quick == nil {
		return false
	}
	if thorough := parsedSegments(expr); !slices.Equal(quick, thorough) {
		t.Errorf("%q: %q, want %q", expr, quick, thorough)
	}
	return true
}

func TestSimpleSegments(t *testing.T) {
	for _, g := range simpleGaps {
		if !checkSimple(t, `a\s+"(?P<x>`+g.written+`)" \(b\)\. (?P<y_1>`+g.written+`)`) {
			t.Errorf("%s is not read", g.written)
		}
	}
	for _, m := range corpus.Messages(2000) {
		if !checkSimple(t, corpus.Expression(m)) {
			t.Errorf("%q is not read", m)
		}
	}
	for _, expr := range []string{"", "a+", `a\d`, `\s+?`, `\s+{2}`, "(?P<x>.+?)?", "(?P<x>.+?)(?P<x>.+?)", "(?P<é>.+?)", "(?P<>.+?)", "(?i)a", "a|b", "[a]", "\\", "a\xff", "(?P<x>.+?", "^a$"} {
		if checkSimple(t, expr) {
			t.Errorf("%q is read", expr)
		}
	}
}

func FuzzSimpleSegments(f *testing.F) {
	f.Add(`cannot open \(file\) '(?P<x>.+?)':\s+(?P<n>[-+]?\d+)`)
	f.Add(`(?P<x>.+?)*`)
	f.Add(`{2} }`)
	f.Fuzz(func(t *testing.T, expr string) { checkSimple(t, expr) })
}
