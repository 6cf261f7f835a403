package lint

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"errorkb/internal/kb"
	"errorkb/records"
)

// TestLoaderIsLoad edits a folder at random, well and badly, again and again. A loader
// that follows it must give what one gives that sees it for the first time, and must
// not look again at files that have stayed as they were.
func TestLoaderIsLoad(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	sources, _ := kb.ReadDir(records.FS)
	good := fstest.MapFS{}
	for i, s := range sources[:6] {
		r := *s.Record
		r.Related, r.Scenario = []string{}, nil
		if i > 0 {
			r.Related = []string{sources[0].Record.ID}
		}
		good[s.Path] = &fstest.MapFile{Data: r.Canonical()}
	}
	good["broken.json"] = nil
	names := sortedNames(good)
	folder := fstest.MapFS{}
	mend := func() {
		maps.Copy(folder, good)
		delete(folder, "broken.json")
	}
	mend()
	record := func(name string) string { return string(good[name].Data) }
	edits := map[string]func(name string) string{
		"whole":  record,
		"remove": func(string) string { return "" },
		"text": func(name string) string {
			return strings.Replace(record(name), `"documentation": "`, fmt.Sprintf(`"documentation": "Edit %d. `, random.IntN(5)), 1)
		},
		"spaces":    func(name string) string { return record(name) + "\n \n" },
		"review":    func(name string) string { return strings.Replace(record(name), `"review": "`, `"review": "re`, 1) },
		"syntax":    func(name string) string { return strings.Replace(record(name), ",", ",,", 1+random.IntN(3)) },
		"no record": func(string) string { return "[]" },
		"unknown":   func(name string) string { return strings.Replace(record(name), "{", `{"colour": "red",`, 1) },
		"pattern": func(name string) string {
			return strings.Replace(record(name), `"messagePattern": "`, `"messagePattern": "(`, 1)
		},
		"same id": func(string) string { return record(names[1+random.IntN(len(names)-1)]) },
		"dangling": func(name string) string {
			return strings.Replace(record(name), sources[0].Record.ID, "0123456789abcdef", 1+random.IntN(2))
		},
	}
	kinds := make([]string, 0, len(edits))
	for kind := range edits {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)

	if set, findings := NewLoader().Load(t.Context(), folder); set == nil {
		t.Fatal(findings)
	}
	for _, followed := range []*Loader{NewLoader(), {checks: checks}} {
		loaded, refused := 0, 0
		for round := range 60 {
			if random.IntN(3) == 0 {
				mend() // else it would hardly ever be whole
			}
			for range random.IntN(3) {
				name := names[random.IntN(len(names))]
				kind := kinds[random.IntN(len(kinds))]
				if good[name] == nil {
					kind = []string{"remove", "remove", "no record", "same id"}[random.IntN(4)]
				}
				if text := edits[kind](name); text != "" {
					folder[name] = &fstest.MapFile{Data: []byte(text)}
				} else {
					delete(folder, name)
				}
			}
			before := followed.files
			set, findings := followed.Load(t.Context(), folder)
			fresh, want := (&Loader{checks: followed.checks}).Load(t.Context(), folder)
			if diff := cmp.Diff(want, findings); diff != "" {
				t.Fatalf("round %d, findings (-first +followed):\n%s", round, diff)
			}
			if diff := cmp.Diff(fresh, set); diff != "" {
				t.Fatalf("round %d, set (-first +followed):\n%s", round, diff)
			}
			for name, f := range followed.files {
				old := before[name]
				if same := old != nil && old.content == f.content; same != (old == f) {
					t.Fatalf("round %d: %s has the same content %v, was kept %v", round, name, same, old == f)
				}
				if f.source != nil && f.subject == nil {
					t.Fatalf("round %d: nothing is kept of the checks of %s", round, name)
				}
			}
			if set != nil {
				loaded++
			} else {
				refused++
			}
		}
		if loaded < 10 || refused < 10 {
			t.Errorf("%d loaded and %d refused of 60", loaded, refused)
		}
	}
}

func sortedNames(folder fstest.MapFS) []string {
	names := make([]string, 0, len(folder))
	for name := range folder {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// A load that was broken off keeps nothing that it did not check.
func TestLoaderAfterAnEnd(t *testing.T) {
	l := NewLoader()
	ended, end := context.WithCancel(t.Context())
	end()
	if set, findings := l.Load(ended, records.FS); set != nil || !kb.HasErrors(findings) {
		t.Fatalf("an ended load gives %v and %v", set, findings)
	}
	set, findings := l.Load(t.Context(), records.FS)
	if set == nil {
		t.Fatal(findings)
	}
	for i, source := range set.Sources {
		if !bytes.Equal(source.Data, mustRead(t, source.Path)) || source.Record != set.Records[i] || source.Record.Sum() != set.Sums[i] {
			t.Errorf("%s is not as in its file", source.Path)
		}
	}
}

func mustRead(t *testing.T, name string) []byte {
	t.Helper()
	data, err := records.FS.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
