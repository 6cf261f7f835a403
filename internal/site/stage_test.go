package site

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// interrupted does a build up to the given step of its journal, as a crash
// would: -1 stops before the journal is written.
func interrupted(t *testing.T, source Source, out string, options Options, step int) {
	t.Helper()
	root, err := os.OpenRoot(out)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	previous, err := readManifest(root)
	if err != nil {
		t.Fatal(err)
	}
	b := &builder{root: root, previous: previous.paths()}
	if err := b.plan(t.Context(), source, options); err != nil {
		t.Fatal(err)
	}
	if err := b.stageAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	manifest := &Manifest{Version: manifestVersion, DatasetVersion: options.Set.Version, Files: b.files, Records: publications(options.Set)}
	now := manifest.paths()
	var gone []string
	for name := range b.previous {
		if !now[name] {
			gone = append(gone, name)
		}
	}
	if err := writeStaged(root, ManifestName, manifest.encode()); err != nil {
		t.Fatal(err)
	}
	if step < 0 {
		return
	}
	steps := b.steps(now, gone)
	steps.Install = append(steps.Install, ManifestName)
	if err := writeJournal(root, steps); err != nil {
		t.Fatal(err)
	}
	for _, name := range steps.Install[:min(step, len(steps.Install))] {
		name = filepath.FromSlash(name)
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := root.Rename(filepath.Join(filepath.FromSlash(stagedFolder), name), name); err != nil {
			t.Fatal(err)
		}
	}
	if step >= len(steps.Install) {
		if err := remove(root, steps.Delete); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBuildSurvivesACrash(t *testing.T) {
	for step := -1; step <= 5; step++ {
		source, options := small()
		out := t.TempDir()
		build(t, source, out, options)
		old := tree(t, out)

		delete(source, "/feed.xml")
		source["/errors/"] = html("all of them")
		source["/errors/o/r/b/"] = html("error b")
		options.Set = setOf("v2", options.Set.Records...)
		interrupted(t, source, out, options, step)
		if step < 0 {
			for name, content := range old {
				if got, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(name))); err != nil || string(got) != content {
					t.Errorf("before the journal the old site is not whole: %s is %q, %v", name, got, err)
				}
			}
		}

		report := build(t, source, out, options)
		if report.Recovered != (step >= 0) {
			t.Errorf("step %d: recovered %v", step, report.Recovered)
		}
		if step >= 0 && report.Written != 0 {
			t.Errorf("step %d: %d files written after recovery, want none", step, report.Written)
		}
		fresh := t.TempDir()
		build(t, source, fresh, options)
		if diff := cmp.Diff(tree(t, fresh), tree(t, out)); diff != "" {
			t.Errorf("step %d: tree (-fresh +recovered):\n%s", step, diff)
		}
	}
}

func TestAssetsGoBeforePages(t *testing.T) {
	b := &builder{changed: []string{"a.html", "assets/x.css", "z.html"}}
	now := map[string]bool{"a.html": true, "assets/x.css": true, "z.html": true}
	got := b.steps(now, []string{"a.html/old", "b", "z.html"}[:2])
	want := journal{Clear: []string{"a.html/old"}, Install: []string{"assets/x.css", "a.html", "z.html"}, Delete: []string{"b"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

func TestDamagedJournal(t *testing.T) {
	source, options := small()
	out := t.TempDir()
	if err := os.MkdirAll(filepath.Join(out, stageFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, filepath.FromSlash(journalName)), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Build(t.Context(), source, out, options); err == nil {
		t.Error("a damaged journal was taken")
	}
}
