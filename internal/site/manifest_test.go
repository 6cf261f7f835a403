package site

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReleaseIsRefused(t *testing.T) {
	const (
		early = "2026-01-01T00:00:00Z"
		later = "2026-01-02T00:00:00.5Z"
	)
	for name, c := range map[string]struct {
		was, is Publication
		want    string // "" when the release is fine
	}{
		"same":              {Publication{idA, early, later}, Publication{idA, early, later}, ""},
		"changed":           {Publication{idA, early, early}, Publication{idA, early, later}, ""},
		"same in a zone":    {Publication{idA, early, later}, Publication{idA, early, "2026-01-02T01:00:00.5+01:00"}, ""},
		"vanished":          {Publication{idA, early, later}, Publication{idB, early, later}, "record " + idA + " vanished"},
		"other publication": {Publication{idA, early, later}, Publication{idA, later, later}, "firstPublishedAt changed"},
		"went back":         {Publication{idA, early, later}, Publication{idA, early, "2026-01-02T00:00:00.25Z"}, "contentChangedAt went back"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkRelease(&Manifest{Records: []Publication{c.was}}, []Publication{c.is})
			var refused *ReleaseError
			switch {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	if err := checkRelease(nil, []Publication{{idA, early, later}}); err != nil {
		t.Errorf("the first release: %v", err)
	}
}

func TestRefusedReleaseChangesNothing(t *testing.T) {
	source, options := small()
	out := t.TempDir()
	build(t, source, out, options)
	before := tree(t, out)
	source["/"] = html("new home")
	options.Set = setOf("v2", record(idB, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"))
	var refused *ReleaseError
	if _, err := Build(t.Context(), source, out, options); !errors.As(err, &refused) || len(refused.Problems) != 1 {
		t.Fatalf("error %v", err)
	}
	if diff := cmp.Diff(before, tree(t, out)); diff != "" {
		t.Errorf("the refused release changed files:\n%s", diff)
	}

	// The manifest of the release that is on line decides over the folder's own.
	options.Previous = &Manifest{}
	build(t, source, out, options)
	options.Previous = &Manifest{Records: []Publication{{ID: idA}}}
	if _, err := Build(t.Context(), source, out, options); !errors.As(err, &refused) {
		t.Errorf("the given manifest was not compared: %v", err)
	}
}

func TestManifestReadsWhatItWrites(t *testing.T) {
	for _, want := range []*Manifest{
		{Version: manifestVersion, Files: []File{}, Records: []Publication{}},
		{
			Version: manifestVersion, DatasetVersion: "2026-01-01T00:00:00.000Z+12345678",
			Files:   []File{{"a <b> \"c\".html", 3, "00"}, {"ä", 0, "11"}},
			Records: []Publication{{idA, "x", "y"}, {idB, "", ""}},
		},
	} {
		got, err := ReadManifest(strings.NewReader(string(want.encode())))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("manifest (-want +got):\n%s", diff)
		}
	}
}

func TestDamagedManifest(t *testing.T) {
	for name, content := range map[string]string{
		"empty": "", "cut": `{"version": 1, "files": [`, "other version": `{"version": 9}`, "web app": `{"name": "kb"}`,
	} {
		t.Run(name, func(t *testing.T) {
			source, options := small()
			out := t.TempDir()
			if err := os.WriteFile(filepath.Join(out, ManifestName), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := Build(t.Context(), source, out, options)
			if err == nil || !strings.Contains(err.Error(), ManifestName) {
				t.Errorf("error %v, want one that names the file", err)
			}
		})
	}
}
