package search

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"errorkb/internal/kb"
)

func open(t testing.TB, dir string, set *kb.Set) *Index {
	t.Helper()
	x, err := Open(t.Context(), dir, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func close(t testing.TB, x *Index) {
	t.Helper()
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}

// checkWorks searches for something that the set of the index has.
func checkWorks(t *testing.T, x *Index, set *kb.Set) {
	t.Helper()
	if x.Version() != set.Version {
		t.Errorf("version %q, want %q", x.Version(), set.Version)
	}
	if r := find(t, x, kb.Query{Text: "deadlock"}); r.Total == 0 || r.Hits[0].Slug != "deadlock-detected" {
		t.Errorf("the deadlock is not found: %+v", r)
	}
}

func files(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			out = append(out, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}

func TestOpenBuildsOnce(t *testing.T) {
	dir := t.TempDir()
	set := testSet(t)
	var calls [][2]int
	first, err := Open(t.Context(), dir, set, func(done, total int) { calls = append(calls, [2]int{done, total}) })
	if err != nil {
		t.Fatal(err)
	}
	defer close(t, first)
	if n := len(set.Records); !first.Rebuilt() || len(calls) == 0 || calls[len(calls)-1] != [2]int{n, n} {
		t.Errorf("rebuilt %t, progress %v", first.Rebuilt(), calls)
	}
	before := files(t, dir)
	// While the first is open: nothing locks the index for readers.
	second := open(t, dir, set)
	defer close(t, second)
	if second.Rebuilt() {
		t.Error("the second open built again")
	}
	checkWorks(t, first, set)
	checkWorks(t, second, set)
	if after := files(t, dir); after != before || strings.Contains(after, "work") {
		t.Errorf("files %s, before %s", after, before)
	}
}

func TestOpenRebuildsWhatItCannotTrust(t *testing.T) {
	set := testSet(t)
	segment := func(t *testing.T, dir string) string {
		matches, err := filepath.Glob(filepath.Join(dir, dirName, "store", "*.zap"))
		if err != nil || len(matches) != 1 {
			t.Fatalf("segments %v, %v", matches, err)
		}
		return matches[0]
	}
	edit := func(t *testing.T, path string, change func([]byte) []byte) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, change(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	inStamp := func(change func(*stamp)) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, dirName, stampName), func(b []byte) []byte {
				var s stamp
				if err := json.Unmarshal(b, &s); err != nil {
					t.Fatal(err)
				}
				change(&s)
				b, err := json.Marshal(s)
				if err != nil {
					t.Fatal(err)
				}
				return b
			})
		}
	}
	remove := func(names ...string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(append([]string{dir, dirName}, names...)...)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, damage := range map[string]func(t *testing.T, dir string){
		"segment cut": func(t *testing.T, dir string) {
			edit(t, segment(t, dir), func(b []byte) []byte { return b[:len(b)/2] })
		},
		"segment empty": func(t *testing.T, dir string) { edit(t, segment(t, dir), func(b []byte) []byte { return nil }) },
		"one bit": func(t *testing.T, dir string) {
			edit(t, segment(t, dir), func(b []byte) []byte { b[len(b)/3] ^= 4; return b })
		},
		"segment gone": func(t *testing.T, dir string) { os.Remove(segment(t, dir)) },
		"root cut": func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, dirName, "store", "root.bolt"), func(b []byte) []byte { return b[:100] })
		},
		"root gone": remove("store", "root.bolt"),
		"meta gone": remove("index_meta.json"),
		"foreign file": func(t *testing.T, dir string) {
			os.WriteFile(filepath.Join(dir, dirName, "store", "x"), []byte("x"), 0o600)
		},
		"stamp gone": remove(stampName),
		"stamp cut": func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, dirName, stampName), func(b []byte) []byte { return b[:9] })
		},
		"other data set": inStamp(func(s *stamp) { s.Dataset = "x" }),
		"other mapping":  inStamp(func(s *stamp) { s.Mapping++ }),
		"index gone":     remove(),
		"file in its way": func(t *testing.T, dir string) {
			remove()(t, dir)
			os.WriteFile(filepath.Join(dir, dirName), nil, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			close(t, open(t, dir, set))
			before := files(t, dir)
			damage(t, dir)
			x := open(t, dir, set)
			defer close(t, x)
			if !x.Rebuilt() {
				t.Error("trusted what it should not")
			}
			checkWorks(t, x, set)
			if after := files(t, dir); after != before {
				t.Errorf("files %s, before %s", after, before)
			}
		})
	}
}

// The index may vanish or be replaced under a program that has it open.
func TestIndexRemovedWhileOpen(t *testing.T) {
	dir := t.TempDir()
	set := testSet(t)
	x := open(t, dir, set)
	defer close(t, x)
	if err := os.RemoveAll(filepath.Join(dir, dirName)); err != nil {
		t.Fatal(err)
	}
	checkWorks(t, x, set)
	again := open(t, dir, set)
	defer close(t, again)
	if !again.Rebuilt() {
		t.Error("nothing was built")
	}
	checkWorks(t, again, set)
	checkWorks(t, x, set)
}

func TestSearchesAreNotDisturbedByASwap(t *testing.T) {
	dir := t.TempDir()
	set := testSet(t)
	smaller := kb.NewSetOf(set.Records[:4]...)
	x := open(t, dir, set)
	defer close(t, x)
	ctx, stop := context.WithCancel(t.Context())
	var searches sync.WaitGroup
	defer searches.Wait()
	defer stop()
	for range 4 {
		searches.Go(func() {
			for ctx.Err() == nil {
				r, err := x.Search(t.Context(), kb.Query{Text: "duplex channel"})
				if err != nil || r.Total < 5 {
					t.Errorf("during the swap: %d hits, %v", r.Total, err)
					return
				}
			}
		})
	}
	next := open(t, dir, smaller)
	defer close(t, next)
	back := open(t, dir, set)
	defer close(t, back)
	checkWorks(t, next, smaller)
	checkWorks(t, back, set)
	checkWorks(t, x, set)
}

func TestOpenSaysWhatIsWrongWithTheDirectory(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"a file": file, "missing": filepath.Join(dir, "none")} {
		_, err := Open(t.Context(), dir, testSet(t), nil)
		if err == nil || !strings.Contains(err.Error(), "data directory "+dir) || !strings.Contains(err.Error(), "choose another data directory") {
			t.Errorf("%s: %v, want the directory and what to do", name, err)
		}
	}
	for err, want := range map[error]string{syscall.ENOSPC: "the disk is full", syscall.EROFS: "it cannot be written", fs.ErrPermission: "it cannot be written"} {
		if got := explain("/d", fmt.Errorf("write: %w", err)).Error(); !strings.Contains(got, want) {
			t.Errorf("%v: %s, want %q", err, got, want)
		}
	}
	if got := explain("/d", fmt.Errorf("as Bleve wraps: %v", syscall.ENOSPC)).Error(); !strings.Contains(got, "the disk is full") {
		t.Errorf("only the text: %s", got)
	}
}

func TestStamp(t *testing.T) {
	dir := t.TempDir()
	set := testSet(t)
	close(t, open(t, dir, set))
	text, err := os.ReadFile(filepath.Join(dir, dirName, stampName))
	if err != nil || !bytes.Contains(text, []byte(set.Version)) || !bytes.Contains(text, []byte(".zap")) {
		t.Errorf("stamp %s, %v", text, err)
	}
}

// A server that reloads for months must not keep what it closed.
func TestCloseLeavesNothingRunning(t *testing.T) {
	dir := t.TempDir()
	set := testSet(t)
	close(t, open(t, dir, set))
	before := runtime.NumGoroutine()
	for range 5 {
		inMemory, err := OpenMemory(t.Context(), set)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []*Index{inMemory, open(t, dir, set)} {
			checkWorks(t, x, set)
			close(t, x)
		}
	}
	// Goroutines that were told to end may take a moment.
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}
