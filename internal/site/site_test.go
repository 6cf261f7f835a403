package site

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"errorkb/internal/kb"
	"errorkb/internal/render"
	"errorkb/web"
)

// pages is a Source whose documents are given.
type pages map[string]render.Document

func (p pages) Addresses(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(p)), nil
}

func (p pages) Document(_ context.Context, address string) (render.Document, error) {
	document, ok := p[address]
	if !ok {
		return document, kb.ErrNotFound
	}
	return document, nil
}

func html(body string) render.Document {
	return render.Document{Status: http.StatusOK, Body: []byte(body)}
}

const (
	idA = "aaaaaaaaaaaaaaaa"
	idB = "bbbbbbbbbbbbbbbb"
)

func setOf(version string, records ...*kb.Record) *kb.Set {
	return &kb.Set{Version: version, Records: records}
}

func record(id, published, changed string) *kb.Record {
	return &kb.Record{ID: id, FirstPublishedAt: published, ContentChangedAt: changed}
}

// small is a site with one of everything.
func small() (pages, Options) {
	source := pages{
		"/":                  html("home"),
		"/404.html":          html("nothing here"),
		"/diagnose":          html("paste"),
		"/errors/":           html("all"),
		"/errors/o/r/a/":     html("error a"),
		"/errors/" + idA:     {Status: http.StatusMovedPermanently, Body: []byte("moved"), Location: "/errors/o/r/a/"},
		"/api/errors":        html(`{"items":[]}`),
		"/api/errors/" + idA: html(`{"record":{}}`),
		"/feed.xml":          html("<feed/>"),
	}
	options := Options{
		Set:    setOf("v1", record(idA, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z")),
		Assets: []web.File{{Path: "kb.abc.css", Data: []byte("css")}, {Path: "x.svg", Data: []byte("svg")}},
	}
	return source, options
}

// tree reads every file below a folder.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func build(t *testing.T, source Source, out string, options Options) Report {
	t.Helper()
	report, err := Build(t.Context(), source, out, options)
	if err != nil {
		t.Fatalf("Build: %v", err)
	}
	return report
}

func TestBuildWritesEveryAddress(t *testing.T) {
	source, options := small()
	out := filepath.Join(t.TempDir(), "not", "there")
	report := build(t, source, out, options)
	got := tree(t, out)
	want := map[string]string{
		"index.html":                    "home",
		"404.html":                      "nothing here",
		"diagnose/index.html":           "paste",
		"errors/index.html":             "all",
		"errors/o/r/a/index.html":       "error a",
		"errors/" + idA + "/index.html": "moved",
		"api/errors/index.json":         `{"items":[]}`,
		"api/errors/" + idA:             `{"record":{}}`,
		"feed.xml":                      "<feed/>",
		"assets/kb.abc.css":             "css",
		"assets/x.svg":                  "svg",
		"_redirects":                    "/errors/" + idA + " /errors/o/r/a/ 301\n/api/errors /api/errors/index.json 200\n",
		"_headers":                      got["_headers"],
		ManifestName:                    got[ManifestName],
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if !strings.Contains(got["_headers"], "/api/errors/*\n  Content-Type: application/json\n") {
		t.Errorf("_headers does not name the type of records:\n%s", got["_headers"])
	}
	var size int64
	for _, content := range got {
		size += int64(len(content))
	}
	if want := (Report{Files: len(got), Bytes: size, Written: len(got)}); report != want {
		t.Errorf("report %+v, want %+v", report, want)
	}
	manifest, err := ReadManifest(strings.NewReader(got[ManifestName]))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(manifest.Files, func(x, y File) int { return strings.Compare(x.Path, y.Path) }) {
		t.Errorf("files of the manifest are not sorted: %v", manifest.Files)
	}
	if len(manifest.Files) != len(got)-1 || len(manifest.Records) != 1 || manifest.DatasetVersion != "v1" {
		t.Errorf("manifest %+v", manifest)
	}
}

func TestBuildTwiceGivesTheSameTree(t *testing.T) {
	source, options := small()
	one, two := t.TempDir(), t.TempDir()
	build(t, source, one, options)
	build(t, source, two, options)
	if diff := cmp.Diff(tree(t, one), tree(t, two)); diff != "" {
		t.Errorf("trees differ:\n%s", diff)
	}
}

func TestBuildWritesOnlyWhatChanged(t *testing.T) {
	source, options := small()
	out := t.TempDir()
	build(t, source, out, options)
	old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for name := range tree(t, out) {
		if err := os.Chtimes(filepath.Join(out, filepath.FromSlash(name)), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if report := build(t, source, out, options); report.Written != 0 || report.Deleted != 0 || report.Unchanged != report.Files {
		t.Errorf("same input: %+v", report)
	}

	source["/errors/"] = html("all of them")
	delete(source, "/errors/o/r/a/")
	source["/errors/o/r/b/"] = html("error b")
	report := build(t, source, out, options)
	if report.Written != 3 || report.Deleted != 1 { // list, error b, manifest; error a
		t.Errorf("after a change: %+v", report)
	}
	files := tree(t, out)
	for name := range files {
		info, err := os.Stat(filepath.Join(out, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		written := info.ModTime().After(old)
		want := name == "errors/index.html" || name == "errors/o/r/b/index.html" || name == ManifestName
		if written != want {
			t.Errorf("%s written: %v, want %v", name, written, want)
		}
	}
	if _, err := os.Stat(filepath.Join(out, "errors", "o", "r", "a")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the empty folder of the deleted page is still there: %v", err)
	}
}

func TestBuildMendsWhatWasDamaged(t *testing.T) {
	source, options := small()
	out := t.TempDir()
	build(t, source, out, options)
	want := tree(t, out)
	if err := os.WriteFile(filepath.Join(out, "index.html"), []byte("edited by hand"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(out, "feed.xml")); err != nil {
		t.Fatal(err)
	}
	if report := build(t, source, out, options); report.Written != 2 {
		t.Errorf("report %+v, want 2 written", report)
	}
	if diff := cmp.Diff(want, tree(t, out)); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}

func TestBuildLeavesForeignFilesAlone(t *testing.T) {
	source, options := small()
	out := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		path := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(".gitignore", "*")
	write("errors/o/r/a/notes.txt", "mine")
	write("feed.xml", "<feed/>") // the same bytes: adopted
	build(t, source, out, options)

	delete(source, "/errors/o/r/a/")
	build(t, source, out, options)
	got := tree(t, out)
	if got[".gitignore"] != "*" || got["errors/o/r/a/notes.txt"] != "mine" {
		t.Errorf("foreign files: %q", got)
	}
	if _, ok := got["errors/o/r/a/index.html"]; ok {
		t.Error("the page that is no longer part of the site is still there")
	}

	before := tree(t, out)
	write("tags/x/index.html", "mine")
	write("robots.txt/x", "mine")
	before["tags/x/index.html"], before["robots.txt/x"] = "mine", "mine"
	source["/tags/x/"], source["/robots.txt"], source["/"] = html("tag"), html("robots"), html("new home")
	_, err := Build(t.Context(), source, out, options)
	var foreign *ForeignError
	if !errors.As(err, &foreign) || !slices.Equal(foreign.Paths, []string{"robots.txt", "tags/x/index.html"}) {
		t.Fatalf("error %v, want the two foreign files", err)
	}
	if diff := cmp.Diff(before, tree(t, out)); diff != "" {
		t.Errorf("the refused build changed files:\n%s", diff)
	}
}

// What somebody else put in the way is seen before anything is moved, in
// whatever form, and the folder can be built again once it is gone.
func TestBuildSeesWhatIsInTheWay(t *testing.T) {
	for _, c := range []struct {
		name, foreign string // a folder ends in a slash
		replaces      bool   // a file of the earlier build
		want          string
	}{
		{"folder for a file of ours", "feed.xml/mine.txt", true, "feed.xml"},
		{"empty folder for a file of ours", "feed.xml/", true, "feed.xml"},
		{"empty folder for a new file", "robots.txt/", false, "robots.txt"},
		{"file where a folder goes", "tags", false, "tags/x/index.html"},
	} {
		t.Run(c.name, func(t *testing.T) {
			source, options := small()
			out := t.TempDir()
			build(t, source, out, options)
			top, _, _ := strings.Cut(c.foreign, "/")
			if c.replaces {
				if err := os.Remove(filepath.Join(out, top)); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(out, filepath.FromSlash(c.foreign))
			if folder := strings.LastIndexByte(c.foreign, '/'); folder >= 0 {
				if err := os.MkdirAll(filepath.Join(out, filepath.FromSlash(c.foreign[:folder])), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if !strings.HasSuffix(c.foreign, "/") {
				if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			before := tree(t, out)
			source["/tags/x/"], source["/robots.txt"], source["/"] = html("tag"), html("robots"), html("new home")
			_, err := Build(t.Context(), source, out, options)
			var foreign *ForeignError
			if !errors.As(err, &foreign) || !slices.Equal(foreign.Paths, []string{c.want}) {
				t.Fatalf("error %v, want %s in the way", err, c.want)
			}
			if diff := cmp.Diff(before, tree(t, out)); diff != "" {
				t.Errorf("the refused build changed files:\n%s", diff)
			}

			if err := os.RemoveAll(filepath.Join(out, top)); err != nil {
				t.Fatal(err)
			}
			build(t, source, out, options)
			fresh := t.TempDir()
			build(t, source, fresh, options)
			if diff := cmp.Diff(tree(t, fresh), tree(t, out)); diff != "" {
				t.Errorf("tree (-fresh +rebuilt):\n%s", diff)
			}
		})
	}
}

func TestBuildTurnsFilesIntoFolders(t *testing.T) {
	source, options := small()
	out := t.TempDir()
	source["/api/x"] = html("a file")
	source["/api/y/z"] = html("in a folder")
	build(t, source, out, options)
	delete(source, "/api/x")
	delete(source, "/api/y/z")
	source["/api/x/deep"] = html("in a folder now")
	source["/api/y"] = html("a file now")
	build(t, source, out, options)
	fresh := t.TempDir()
	build(t, source, fresh, options)
	if diff := cmp.Diff(tree(t, fresh), tree(t, out)); diff != "" {
		t.Errorf("tree (-fresh +rebuilt):\n%s", diff)
	}
}

func TestBuildRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(pages, *Options)
		want   string
	}{
		"no address":          {func(p pages, _ *Options) { clear(p) }, "no address"},
		"no assets":           {func(_ pages, o *Options) { o.Assets = nil }, "no assets"},
		"empty document":      {func(p pages, _ *Options) { p["/x/"] = html("") }, "render /x/: the document is empty"},
		"one file for two":    {func(p pages, _ *Options) { p["/diagnose/"] = html("again") }, `share the file "diagnose/index.html"`},
		"file and folder":     {func(p pages, _ *Options) { p["/feed.xml/x/"] = html("x") }, `"feed.xml" both as a file`},
		"address outside":     {func(p pages, _ *Options) { p["/x/%2e%2e/"] = html("x") }, `".." cannot be the name of a file`},
		"other base":          {func(_ pages, o *Options) { o.Base = "/kb" }, `base path "/kb/"`},
		"failing of a source": {func(p pages, _ *Options) { p["/x/"] = html("x") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			source, options := small()
			c.change(source, &options)
			var src Source = source
			if c.want == "" {
				c.want = "render /x/: record not found"
				src = failing{source}
			}
			out := t.TempDir()
			_, err := Build(t.Context(), src, out, options)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			if left := tree(t, out); len(left) != 0 {
				t.Errorf("the failed build left files: %v", left)
			}
		})
	}
}

// failing cannot make one of its documents.
type failing struct{ pages }

func (f failing) Document(ctx context.Context, address string) (render.Document, error) {
	if address == "/x/" {
		return render.Document{}, kb.ErrNotFound
	}
	return f.pages.Document(ctx, address)
}

func TestBuildStopsWhenCancelled(t *testing.T) {
	source, options := small()
	out := t.TempDir()
	build(t, source, out, options)
	before := tree(t, out)
	ctx, cancel := context.WithCancel(t.Context())
	options.Progress = func(int, int) { cancel() }
	source["/"] = html("new")
	if _, err := Build(ctx, source, out, options); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if diff := cmp.Diff(before, tree(t, out)); diff != "" {
		t.Errorf("the cancelled build changed files:\n%s", diff)
	}
}

func TestOneBuildAtATime(t *testing.T) {
	source, options := small()
	out := t.TempDir()
	var inner error
	options.Progress = func(done, _ int) {
		if done == 1 {
			_, inner = Build(t.Context(), source, out, options)
		}
	}
	build(t, source, out, options)
	if inner == nil || !strings.Contains(inner.Error(), "another build is writing") {
		t.Errorf("second build: %v", inner)
	}
}
