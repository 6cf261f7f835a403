package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"errorkb/cmd/internal/cli"
	"errorkb/cmd/internal/clitest"
	"errorkb/internal/diagnose"
	"errorkb/internal/kb"
	"errorkb/internal/render"
	"errorkb/internal/search"
	"errorkb/internal/server"
	"errorkb/internal/site"
	"errorkb/internal/store"
	"errorkb/schema"
	"errorkb/web"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"build-site": main})
}

func TestScripts(t *testing.T) { clitest.Scripts(t, "../kb/testdata/records") }

// manyRecords is the bundled set, and so many more records that lists have a
// second page.
func manyRecords(t *testing.T) *kb.Set {
	t.Helper()
	bundled, err := cli.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	samples, err := cli.Records(t.Context(), "../kb/testdata/records", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	records := slices.Concat(bundled.Records, samples.Records)
	for i := range kb.DefaultLimit {
		r := *samples.Records[0]
		r.ID = fmt.Sprintf("%016x", i+1)
		r.Slug = fmt.Sprintf("%s-%d", r.Slug, i)
		r.Aliases, r.Related = nil, nil
		r.ErrorMessage = fmt.Sprintf("%s (case %d)", r.ErrorMessage, i)
		records = append(records, &r)
	}
	return kb.NewSetOf(records...)
}

// built is a site and the server of the same records.
type built struct {
	base      render.Base
	out       string
	addresses []string
	server    *httptest.Server
}

func buildBoth(t *testing.T, base render.Base) built {
	t.Helper()
	ctx := t.Context()
	set := manyRecords(t)
	source, err := store.OpenMemory(ctx, set)
	if err != nil {
		t.Fatal(err)
	}
	index, err := search.OpenMemory(ctx, set)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { index.Close() })
	renderer := render.New(source, render.Options{Base: base, Assets: web.Names(), Schema: schema.Record})
	srv, err := server.New(ctx, server.Config{Base: base, Load: func(context.Context) (*server.Snapshot, error) {
		return &server.Snapshot{
			Source: source, Pages: renderer, Search: index, Close: source.Close,
			Diagnose: func(context.Context, []byte) diagnose.Answer { return diagnose.Answer{} },
		}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	web := httptest.NewServer(srv.Handler())
	t.Cleanup(web.Close)

	b := built{base: base, out: t.TempDir(), server: web}
	if b.addresses, err = renderer.Addresses(ctx); err != nil {
		t.Fatal(err)
	}
	buildInto(t, renderer, base, set, b.out)
	return b
}

func buildInto(t *testing.T, renderer *render.Renderer, base render.Base, set *kb.Set, out string) {
	t.Helper()
	if _, err := site.Build(t.Context(), renderer, out, site.Options{Base: base, Set: set, Assets: assets()}); err != nil {
		t.Fatal(err)
	}
}

func assets() []web.File { return web.Files() }

// client takes answers as they are: no redirect followed, no encoding asked for.
var client = http.Client{
	Transport:     &http.Transport{DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// get fetches an address.
func get(t *testing.T, host, address string) (int, string, http.Header) {
	t.Helper()
	response, err := client.Get(host + address)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("read %s: %v", address, err)
	}
	return response.StatusCode, string(body), response.Header
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		all[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The site and the server of one set of records, at the root of a host and below a
// path.
func TestSite(t *testing.T) {
	for _, base := range []render.Base{"", "/deep/kb"} {
		b := buildBoth(t, base)
		t.Run("files are the server's answers, base "+string(base), b.filesAreAnswers)
		t.Run("a bare file server shows it, base "+string(base), b.fileServerShowsIt)
		if base != "" {
			t.Run("two builds are identical", b.builtAgain)
		}
	}
}

// filesAreAnswers makes sure that every file of the site holds what the server answers
// at its address, and that there is no other file.
func (b built) filesAreAnswers(t *testing.T) {
	left := files(t, b.out)
	addresses := slices.Clone(b.addresses)
	for _, asset := range assets() {
		addresses = append(addresses, b.base.Address(render.PlaceAsset, asset.Path))
	}
	if len(addresses) < 150 {
		t.Fatalf("only %d addresses", len(addresses))
	}
	for _, address := range addresses {
		name, err := site.FileName(b.base, address)
		if err != nil {
			t.Fatal(err)
		}
		file, ok := left[name]
		if !ok {
			t.Errorf("%s: no file %s", address, name)
			continue
		}
		delete(left, name)
		status, body, header := get(t, b.server.URL, address)
		notFound := address == b.base.Address(render.PlaceNotFound)
		if status != http.StatusOK && status != http.StatusMovedPermanently && !(notFound && status == http.StatusNotFound) {
			t.Errorf("%s: the server answers %d", address, status)
		}
		if body != file {
			t.Errorf("%s: the server's %d bytes (%s) differ from the %d of %s", address, len(body), header.Get("Content-Type"), len(file), name)
		}
	}
	want := []string{"_headers", "_redirects", site.ManifestName}
	if got := slices.Sorted(maps.Keys(left)); !slices.Equal(got, want) {
		t.Errorf("files without an address: %q, want %q", got, want)
	}
}

// builtAgain makes sure that two builds, whatever the order of their workers, give the
// same tree.
func (b built) builtAgain(t *testing.T) {
	one, two := files(t, b.out), files(t, buildBoth(t, b.base).out)
	if !maps.Equal(one, two) {
		for name := range one {
			if one[name] != two[name] {
				t.Errorf("%s differs", name)
			}
		}
		t.Errorf("%d and %d files", len(one), len(two))
	}
}
