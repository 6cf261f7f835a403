package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/kb"
	"errorkb/internal/lint"
	"errorkb/internal/server"
	"errorkb/internal/store"
	"errorkb/records"
)

// writeCopies writes n records that can be loaded into a folder: the bundled ones, and
// copies of them in other repositories.
func writeCopies(t testing.TB, dir string, n int) {
	t.Helper()
	sources, _ := kb.ReadDir(records.FS)
	for i := range n {
		r := *sources[i%len(sources)].Record
		if k := i / len(sources); k > 0 {
			r.Repo = fmt.Sprintf("acme/copy-%d", k)
			r.ID = kb.NewID(r.Repo, r.FilePath, r.ErrorMessage)
		}
		// Of a part of the set, not all that these name are there.
		r.Related, r.ReplacedBy, r.Scenario = []string{}, nil, nil
		writeText(t, dir, r.Repo+"/"+r.Slug+".json",
			strings.ReplaceAll(string(r.Canonical()), "github.com/paperclipai/paperclip/", "github.com/"+r.Repo+"/"))
	}
}

func writeText(t testing.TB, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// newLoader makes the loader of a server with a data directory of its own.
func newLoader(t testing.TB, dir string) *loader {
	t.Helper()
	data := t.TempDir()
	lock, err := store.LockDir(data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Unlock() })
	return &loader{records: dir, checked: lint.NewLoader(), data: data, lock: lock, stderr: io.Discard, log: slog.New(slog.DiscardHandler)}
}

func newServer(t testing.TB, l *loader) *server.Server {
	t.Helper()
	s, err := server.New(t.Context(), server.Config{Load: l.Load})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestReloadIsLoad edits a folder of records at random, well and badly, again and
// again. A server that follows it must give, byte for byte, what one gives that
// has never seen another state of it.
func TestReloadIsLoad(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	dir := t.TempDir()
	writeCopies(t, dir, 8)
	names, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.json"))
	if err != nil || len(names) != 8 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	whole := map[string]string{}
	for i, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		names[i], _ = filepath.Rel(dir, name)
		whole[names[i]] = string(text)
	}
	edits := []func(text string) string{
		func(text string) string { return text },
		func(string) string { return "" }, // removed
		func(text string) string {
			return strings.Replace(text, `"documentation": "`, fmt.Sprintf(`"documentation": "Flabbergasted%d. `, random.IntN(3)), 1)
		},
		func(text string) string {
			return strings.Replace(text, `"tags": [`, fmt.Sprintf(`"tags": ["novelty-%d", `, random.IntN(3)), 1)
		},
		func(text string) string { return strings.Replace(text, `"aliases": [`, `"aliases": ["E_NOVELTY"`, 1) },
		func(text string) string { return text + "\n" },
		func(text string) string { return text[:len(text)/2] },                              // broken
		func(text string) string { return strings.Replace(text, `"id": "`, `"id": "x`, 1) }, // broken
	}
	write := func(name, text string) {
		if text == "" {
			if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			return
		}
		writeText(t, dir, filepath.ToSlash(name), text)
	}
	l := newLoader(t, dir)
	followed := newServer(t, l)
	defer followed.Close()
	before := answersOf(t, followed, names, whole)
	loaded, refused := 0, 0
	for round := range 24 {
		if round%4 == 0 {
			for name, text := range whole {
				write(name, text)
			}
		}
		for range 1 + random.IntN(2) {
			name := names[random.IntN(len(names))]
			write(name, edits[random.IntN(len(edits))](whole[name]))
		}
		got := followed.Reload(t.Context())
		first := newLoader(t, dir)
		fresh, want := server.New(t.Context(), server.Config{Load: first.Load})
		if reasonOf(got) != reasonOf(want) {
			t.Fatalf("round %d: reloading gives\n%s\nloading\n%s", round, reasonOf(got), reasonOf(want))
		}
		after := answersOf(t, followed, names, whole)
		if want != nil {
			refused++
			if diff := cmp.Diff(before, after); diff != "" {
				t.Fatalf("round %d: a refused set changes answers:\n%s", round, diff)
			}
			continue
		}
		loaded++
		if diff := cmp.Diff(answersOf(t, fresh, names, whole), after); diff != "" {
			t.Fatalf("round %d (-loaded +reloaded):\n%s", round, diff)
		}
		before = after
		if err := fresh.Close(); err != nil {
			t.Error(err)
		}
	}
	if loaded < 6 || refused < 4 {
		t.Errorf("%d loads and %d refusals in 24 rounds", loaded, refused)
	}
}

// reasonOf says why a set was refused, "" when it was not.
func reasonOf(err error) string {
	var bad *cli.FindingsError
	if errors.As(err, &bad) {
		return bad.Details()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// answersOf are pages and JSON of a server.
func answersOf(t *testing.T, s *server.Server, names []string, whole map[string]string) map[string]string {
	t.Helper()
	all := map[string]string{}
	ask := func(method, address, body string) {
		request := httptest.NewRequest(method, address, strings.NewReader(body))
		if body != "" {
			request.Header.Set("Content-Type", "text/plain; charset=utf-8")
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, request)
		all[strings.TrimSpace(address+" "+body)] = fmt.Sprint(w.Code, w.Header().Get("Location"), "\n", w.Body)
	}
	for _, address := range []string{
		"/", "/errors/", "/errors/?sort=changed", "/api/errors", "/api/errors?sort=severity", "/api/dataset", "/feed.xml", "/sitemap.xml",
		"/api/search?q=worker", "/api/search?q=flabergasted", "/api/search?q=novelty", "/search?q=flabbergas", "/errors/E_NOVELTY", "/tags/novelty-1/",
	} {
		ask("GET", address, "")
	}
	for _, name := range names {
		source, _ := kb.Decode(filepath.ToSlash(name), []byte(whole[name]))
		r := source.Record
		ask("GET", "/errors/"+r.Repo+"/"+r.Slug+"/", "")
		ask("GET", "/api/errors/"+r.ID, "")
		ask("POST", "/api/diagnose", r.Examples.Match[0])
	}
	known := 0
	for _, answer := range all {
		if strings.HasPrefix(answer, "200") {
			known++
		}
	}
	if known < 20 {
		t.Errorf("only %d of %d answers are answers", known, len(all))
	}
	return all
}
