package eval

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// pasteSeed makes the pastes that the engine is measured with. They are others than
// those it is calibrated with.
const pasteSeed = 41

// TestPastes tries messages of every catalogue in the places where people meet
// them, against their own catalogue and against all at once.
func TestPastes(t *testing.T) {
	dir := Shared(t)
	catalogues, err := LoadCatalogues(filepath.Join(dir, "eval", "catalogues"))
	if err != nil {
		t.Fatal(err)
	}
	pool := NewPool(catalogues)
	n, seed := 40, uint64(pasteSeed)
	if s := os.Getenv("KB_PASTES"); s != "" { // how many of each class, for a closer look
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	if s := os.Getenv("KB_PASTE_SEED"); s != "" {
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	pastes := pool.Pastes(n, seed)
	all, err := EngineFinder(entries(catalogues, names(catalogues)))
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]Finder{}
	for _, name := range names(catalogues) {
		if own[name], err = EngineFinder(entries(catalogues, []string{name})); err != nil {
			t.Fatal(err)
		}
	}
	for _, mode := range []string{modeOwn, modeAll} {
		report := PasteReport{}
		if path := os.Getenv("KB_PASTE_DETAILS"); path != "" {
			f, err := os.Create(path + "." + mode)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			report.Details = f
		}
		pool.Score(context.Background(), &report, pastes, func(p Paste) Finder {
			if mode == modeAll || p.Negative || len(p.Planted) != 1 {
				return all
			}
			name, _, _ := strings.Cut(p.Planted[0].ID, separator)
			return own[name]
		})
		var text strings.Builder
		report.WriteText(&text)
		t.Logf("%s\n%s", mode, text.String())
		if os.Getenv("KB_PASTES") != "" || os.Getenv("KB_PASTE_SEED") != "" {
			continue
		}
		for _, floor := range []struct {
			what        string
			have, total int
			permille    int
		}{
			{"pastes with a message", report.Positive.Right, report.Positive.Total, 987},
			{"pastes without", report.Negative.Right, report.Negative.Total, 997},
			{"values", report.Positive.Equal, report.Positive.Values, 980},
			{"stated 0.9 and more", report.Stated[9].Right, report.Stated[9].Total, 950},
		} {
			if floor.total < 1000 || floor.have*1000 < floor.permille*floor.total {
				t.Errorf("%s, %s: %d of %d, want %.1f %%", mode, floor.what, floor.have, floor.total, float64(floor.permille)/10)
			}
		}
	}
}
