package kb

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

// sample gives a record that differs from others by its number only.
func sample(n string) *Record {
	message := "Door " + n + " is shut."
	r := &Record{
		SchemaVersion: SchemaVersion, ID: NewID("acme/app", "src/app.ts", message),
		Repo: "acme/app", Slug: "door-" + n, ErrorMessage: message,
		ContentChangedAt: "2026-08-21T17:58:32.592Z",
	}
	r.noNull()
	return r
}

func ids(relations []Relation) []string {
	var all []string
	for _, r := range relations {
		all = append(all, r.ID)
	}
	return all
}

func TestReadDir(t *testing.T) {
	good := sample("a").Canonical()
	fsys := fstest.MapFS{
		"acme/app/door-a.json":             {Data: good},
		"acme/app/door-b.json":             {Data: sample("b").Canonical()},
		"acme/app/broken.json":             {Data: []byte("{")},
		"acme/app/large.json":              {Data: make([]byte, MaxFileSize+5)},
		"acme/app/notes.md":                {Data: []byte("no record")},
		"acme/app/.door-a.json.fix":        {Data: []byte("left by a killed run")},
		"acme/app/scenarios/steps.json":    {Data: []byte("[]")},
		"scenarios/acme/app/door-a.json":   {Data: []byte("[]")},
		"evidence.json":                    {Data: []byte("[]")},
		"records.go":                       {Data: []byte("package records")},
		"deep/er/than/expected/door.json":  {Data: sample("c").Canonical()},
		".git/objects/acme/app/thing.json": {Data: []byte("{")},
	}
	sources, findings := ReadDir(fsys)
	var paths []string
	for _, s := range sources {
		paths = append(paths, s.Path)
	}
	want := []string{"acme/app/door-a.json", "acme/app/door-b.json", "deep/er/than/expected/door.json"}
	if !reflect.DeepEqual(paths, want) {
		t.Errorf("read %q, want %q", paths, want)
	}
	var codes []string
	for _, f := range findings {
		codes = append(codes, f.File+" "+f.Code)
	}
	want = []string{"acme/app/broken.json syntax", "acme/app/large.json too-large"}
	if !reflect.DeepEqual(codes, want) {
		t.Errorf("findings %q, want %q", codes, want)
	}
}

func TestReadDirMissing(t *testing.T) {
	sources, findings := ReadDir(os.DirFS(filepath.Join(t.TempDir(), "none")))
	if len(sources) != 0 || len(findings) != 1 || findings[0].Code != "unreadable" || findings[0].Severity != FindingError {
		t.Errorf("sources %v, findings %v", sources, findings)
	}
}

// A linked folder is not followed, as it may lead back to itself; what lies in it
// must not be missed in silence.
func TestReadDirLinks(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	for name, data := range map[string][]byte{
		filepath.Join(dir, "acme", "app", "door-a.json"):    sample("a").Canonical(),
		filepath.Join(elsewhere, "app", "door-b.json"):      sample("b").Canonical(),
		filepath.Join(dir, "acme", "app", "target", "c.md"): []byte("no record"),
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"other":                elsewhere,
		"acme/loop":            ".",
		"acme/.hidden":         elsewhere,
		"acme/app/gone":        "nowhere",
		"acme/app/door-b.json": filepath.Join(elsewhere, "app", "door-b.json"),
	} {
		if err := os.Symlink(target, filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	sources, findings := ReadDir(os.DirFS(dir))
	if len(sources) != 2 {
		t.Errorf("%d records, want the one of the folder and the linked one", len(sources))
	}
	var files []string
	for _, f := range findings {
		files = append(files, f.File+" "+f.Code)
	}
	if want := []string{"acme/loop unreadable", "other unreadable"}; !reflect.DeepEqual(files, want) {
		t.Errorf("findings %q, want %q", files, want)
	}
}

func TestSetVersion(t *testing.T) {
	a, b := sample("a"), sample("b")
	b.ContentChangedAt = "2026-09-23T10:17:48.524+02:00" // newer, in another zone
	version := NewSetOf(a, b).Version
	if !strings.HasPrefix(version, "2026-09-23T08:17:48.524Z+") || len(version) != len("2026-09-23T08:17:48.524Z+1f3a9c2e") {
		t.Errorf("version %s", version)
	}
	if got := NewSetOf(b, a).Version; got != version {
		t.Errorf("another order gives version %s, want %s", got, version)
	}
	a.Documentation = "changed"
	if got := NewSetOf(a, b).Version; got == version {
		t.Error("a changed record gives the same version")
	}
	if got := NewSetOf().Version; got != "0001-01-01T00:00:00.000Z+e3b0c442" {
		t.Errorf("version of no records: %s", got)
	}
}

func TestSetOrder(t *testing.T) {
	a, b, c := sample("a"), sample("b"), sample("c")
	b.Repo = "aaaa/first"
	set := NewSet([]*Source{{Path: "c", Record: c}, {Path: "a", Record: a}, {Path: "b", Record: b}})
	for i, want := range []*Record{b, a, c} {
		if set.Records[i] != want || set.Sources[i].Record != want {
			t.Errorf("record %d is %s", i, set.Records[i].Slug)
		}
	}
}

func TestNewID(t *testing.T) {
	// printf 'acme/app\0src/app.ts\0Door ${n} is shut.' | sha256sum
	if got := NewID("acme/app", "src/app.ts", "Door ${n} is shut."); got != "8d3dea03f2ee2e23" {
		t.Errorf("got %s", got)
	}
}

func TestPath(t *testing.T) {
	r := sample("a")
	if p, err := Path(r); err != nil || p != "acme/app/door-a.json" {
		t.Errorf("got %q, %v", p, err)
	}
	for _, bad := range []struct{ repo, slug string }{
		{"", "a"}, {"acme", "a"}, {"acme/app/x", "a"}, {"../app", "a"}, {"acme/..", "a"}, {"acme/.", "a"},
		{"/app", "a"}, {"acme/", "a"}, {"acme/a b", "a"}, {"acme\\x/app", "a"}, {"acme/app\n", "a"},
		{"acme/scenarios", "a"}, {"scenarios/app", "a"}, {".git/app", "a"},
		{"acme/app", ""}, {"acme/app", "../a"}, {"acme/app", "A"}, {"acme/app", "a--b"}, {"acme/app", "a.json"},
		{"acme/app", "a/b"}, {"acme/app", "a\x00"}, {"acme/app", strings.Repeat("a", 81)},
	} {
		r.Repo, r.Slug = bad.repo, bad.slug
		if p, err := Path(r); err == nil {
			t.Errorf("%q, %q gives %q", bad.repo, bad.slug, p)
		}
	}
}

func TestRelated(t *testing.T) {
	text := func(s string) *string { return &s }
	a, b, c, d, e := sample("a"), sample("b"), sample("c"), sample("d"), sample("e")
	lonely := sample("f")
	a.Related = []string{e.ID, a.ID, "unknown"}
	b.ReplacedBy = &a.ID
	a.FilePath, c.FilePath = "src/app.ts", "src/app.ts"
	a.Tags, d.Tags = []string{"door", "lock"}, []string{"lock"}
	a.BackgroundTag, d.BackgroundTag = text("access"), text("access")

	want := []Relation{
		{e.ID, "named by the author"},
		{b.ID, "replaced by this error"},
		{d.ID, "same concept: access"},
		{c.ID, "raised in the same file"},
	}
	records := []*Record{a, b, c, d, e, lonely}
	got := Related(records, 10)
	if !reflect.DeepEqual(got[a.ID], want) {
		t.Errorf("got  %v\nwant %v", got[a.ID], want)
	}
	if want := []Relation{{a.ID, "replaces this error"}}; !reflect.DeepEqual(got[b.ID], want) {
		t.Errorf("replaced record: got %v, want %v", got[b.ID], want)
	}
	if want := []Relation{{a.ID, "names this error as related"}}; !reflect.DeepEqual(got[e.ID], want) {
		t.Errorf("named record: got %v, want %v", got[e.ID], want)
	}
	if got[lonely.ID] != nil {
		t.Errorf("a record that shares nothing has %v", got[lonely.ID])
	}
	if other := Related([]*Record{lonely, e, d, c, b, a}, 10); !reflect.DeepEqual(other, got) {
		t.Error("another order gives other relations")
	}
	if few := Related(records, 2)[a.ID]; !reflect.DeepEqual(few, want[:2]) {
		t.Errorf("at most two: %v", few)
	}
	if shared := Related([]*Record{a, {ID: "x", Tags: []string{"door", "lock"}}}, 1)[a.ID]; shared[0].Why != "shares the tags door, lock" {
		t.Errorf("tags: %v", shared)
	}
}

// TestRelatedMany gives every record the same tag and file; a square of that
// would take minutes.
func TestRelatedMany(t *testing.T) {
	records := make([]*Record, 4_000)
	for i := range records {
		records[i] = &Record{ID: NewID("", "", string(rune('a'+i%26))+strings.Repeat("x", i%997)+string(rune(i))), Repo: "acme/app", FilePath: "f", Tags: []string{"all"}}
	}
	if got := Related(records, 5); len(got) == 0 || len(ids(got[records[0].ID])) != 5 {
		t.Errorf("%d related", len(got))
	}
}
