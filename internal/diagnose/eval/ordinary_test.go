package eval

import (
	"context"
	"path/filepath"
	"testing"
)

// ordinaryLines is how many lines are tried, and maxReported how many of them may
// be taken for a message.
const (
	ordinaryLines = 30_000
	maxReported   = ordinaryLines / 1000
)

// TestOrdinaryLines tries lines of programs that work, each alone, with all
// catalogues loaded.
func TestOrdinaryLines(t *testing.T) {
	dir := Shared(t)
	catalogues, err := LoadCatalogues(filepath.Join(dir, "eval", "catalogues"))
	if err != nil {
		t.Fatal(err)
	}
	find, err := EngineFinder(entries(catalogues, names(catalogues)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(ordinaryShapes); n < 250 {
		t.Fatalf("%d shapes of lines, want 250", n)
	}
	reported := 0
	for _, line := range OrdinaryLines(ordinaryLines) {
		got := find(context.Background(), []byte(line))
		if len(got) == 0 {
			continue
		}
		reported++
		t.Logf("%s\n\t%s %q %s %.2f", line, got[0].ID, got[0].Variables, got[0].Kind, got[0].Confidence)
	}
	t.Logf("%d of %d lines reported, %d shapes", reported, ordinaryLines, len(ordinaryShapes))
	if reported > maxReported {
		t.Errorf("%d of %d lines reported, at most %d may be", reported, ordinaryLines, maxReported)
	}
}
