package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"errorkb/internal/kb"
)

func TestOpenBuildsOnce(t *testing.T) {
	dir := t.TempDir()
	set := smallSet()
	first := open(t, dir, set)
	defer close(t, first)
	if !first.Rebuilt() {
		t.Error("the first open did not build")
	}
	before := snapshot(t, dir)
	second := open(t, dir, set)
	defer close(t, second)
	if second.Rebuilt() {
		t.Error("the second open built again")
	}
	if after := snapshot(t, dir); after != before {
		t.Errorf("the second open changed the directory:\n%s\nbefore\n%s", after, before)
	}
	if r, err := second.Record(t.Context(), "a000000000000001"); err != nil || r.Slug != "disk-full" {
		t.Errorf("after reopening: %+v, %v", r, err)
	}
	for line := range strings.Lines(before) {
		if !strings.HasPrefix(line, "-rw-------") {
			t.Errorf("not private: %s", line)
		}
	}
	if files := strings.Count(before, "\n"); files != 2 {
		t.Errorf("%d files, want the database and its checksum:\n%s", files, before)
	}
}

// snapshot lists the files of dir with mode, size and time.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&out, info.Mode(), info.Name(), info.Size(), info.ModTime())
	}
	return out.String()
}

func TestSchemaIsAsPromised(t *testing.T) {
	dir := t.TempDir()
	close(t, open(t, dir, smallSet()))
	path := filepath.Join(dir, fileName)
	head, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if head[18] != 2 || head[19] != 2 { // file format versions: 2 is WAL
		t.Errorf("journal format %d %d, want write-ahead log", head[18], head[19])
	}
	db, err := sql.Open("sqlite", dsn(path)+"?mode=ro&immutable=1")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var tables, loose int
	if err := db.QueryRow("SELECT count(*), count(*) FILTER (WHERE strict = 0) FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%'").Scan(&tables, &loose); err != nil {
		t.Fatal(err)
	}
	if tables == 0 || loose != 0 {
		t.Errorf("%d tables, %d of them not STRICT", tables, loose)
	}
	var result string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&result); err != nil || result != "ok" {
		t.Errorf("integrity check: %q, %v", result, err)
	}
}

func TestStoreCannotBeWritten(t *testing.T) {
	onDisk := open(t, t.TempDir(), smallSet())
	defer close(t, onDisk)
	for name, s := range map[string]*Store{"disk": onDisk, "memory": memory(t, smallSet())} {
		if _, err := s.db.Exec("DELETE FROM related"); err == nil {
			t.Errorf("%s: written to", name)
		}
	}
}

// Whatever has become of the files in the directory, Open gives a whole store.
func TestOpenRebuildsWhatItCannotTrust(t *testing.T) {
	set := smallSet()
	edit := func(name string, change func([]byte) []byte) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, name)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, change(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	// alter runs SQL on the database and makes its checksum fit.
	alter := func(query string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, fileName)
			db, err := sql.Open("sqlite", dsn(path))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(query); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			sum, err := fileSum(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path+sumSuffix, fmt.Appendf(nil, "%s  %s\n", sum, fileName), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(name string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := map[string]func(t *testing.T, dir string){
		"empty file":        edit(fileName, func([]byte) []byte { return nil }),
		"cut in half":       edit(fileName, func(b []byte) []byte { return b[:len(b)/2] }),
		"one bit of a text": edit(fileName, func(b []byte) []byte { i := bytes.Index(b, []byte("no space left")); b[i] ^= 1; return b }),
		"header gone":       edit(fileName, func(b []byte) []byte { copy(b, make([]byte, 100)); return b }),
		"another file":      edit(fileName, func([]byte) []byte { return []byte("hello\n") }),
		"appended to":       edit(fileName, func(b []byte) []byte { return append(b, 0) }),
		"checksum cut":      edit(fileName+sumSuffix, func(b []byte) []byte { return b[:10] }),
		"checksum gone":     remove(fileName + sumSuffix),
		"database gone":     remove(fileName),
		"other application": alter("PRAGMA application_id = 1"),
		"newer schema":      alter(fmt.Sprintf("PRAGMA user_version = %d", schemaVersion+1)),
		"other data set":    alter("UPDATE dataset SET version = 'x'"),
		"no data set":       alter("DELETE FROM dataset"),
		"table gone":        alter("DROP TABLE dataset"),
		"left from a crash": func(t *testing.T, dir string) { remove(fileName)(t, dir); leave(t, dir, fileName+".new") },
		"half a swap": func(t *testing.T, dir string) {
			leave(t, dir, fileName+".new"+sumSuffix)
			remove(fileName+sumSuffix)(t, dir)
		},
		"stale log":           func(t *testing.T, dir string) { leave(t, dir, fileName+"-wal"); remove(fileName+sumSuffix)(t, dir) },
		"stale log of a load": func(t *testing.T, dir string) { leave(t, dir, fileName+".new-wal"); remove(fileName)(t, dir) },
		"stale journal of a load": func(t *testing.T, dir string) {
			leave(t, dir, fileName+".new-journal")
			remove(fileName)(t, dir)
		},
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			close(t, open(t, dir, set))
			damage(t, dir)
			s := open(t, dir, set)
			defer close(t, s)
			if !s.Rebuilt() {
				t.Error("trusted what it should not")
			}
			checkWhole(t, s, set)
			if files := strings.Count(snapshot(t, dir), "\n"); files != 2 {
				t.Errorf("files left over:\n%s", snapshot(t, dir))
			}
		})
	}
}

func leave(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("left over"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// checkWhole compares the store with its set, record by record.
func checkWhole(t *testing.T, s *Store, set *kb.Set) {
	t.Helper()
	if s.Version() != set.Version {
		t.Errorf("version %q, want %q", s.Version(), set.Version)
	}
	i := 0
	if err := s.All(t.Context(), func(r *kb.Record) error {
		if i < len(set.Records) && !bytes.Equal(r.Canonical(), set.Records[i].Canonical()) {
			return fmt.Errorf("record %s differs", r.ID)
		}
		i++
		return nil
	}); err != nil {
		t.Error(err)
	}
	if i != len(set.Records) || i == 0 {
		t.Errorf("%d records, want %d", i, len(set.Records))
	}
}

// A reload builds the new set beside the running store, which goes on
// answering from the old one until it is closed.
func TestReadersAreNotDisturbedByASwap(t *testing.T) {
	dir := t.TempDir()
	oldSet, newSet := largeSet(50), largeSet(60)
	old := open(t, dir, oldSet)
	defer close(t, old)
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	defer readers.Wait()
	defer stop()
	for range 8 {
		readers.Go(func() {
			for ctx.Err() == nil {
				page, err := old.List(t.Context(), kb.Filter{})
				if err != nil || page.Total != 50 {
					t.Errorf("during the swap: %d records, %v", page.Total, err)
					return
				}
			}
		})
	}
	next := open(t, dir, newSet)
	defer close(t, next)
	back := open(t, dir, oldSet)
	defer close(t, back)
	for s, set := range map[*Store]*kb.Set{old: oldSet, next: newSet, back: oldSet} {
		checkWhole(t, s, set)
	}
}

func TestEmptySet(t *testing.T) {
	s := open(t, t.TempDir(), kb.NewSetOf())
	defer close(t, s)
	page, err := s.List(t.Context(), kb.Filter{})
	if err != nil || page.Total != 0 || page.Next != "" {
		t.Errorf("%+v, %v", page, err)
	}
	if groups, err := s.Groups(t.Context(), kb.GroupTag, kb.Filter{}); err != nil || len(groups) != 0 {
		t.Errorf("%v, %v", groups, err)
	}
}

// A set that cannot be loaded leaves what is there as it is.
func TestFailedLoadLeavesTheOldSet(t *testing.T) {
	dir := t.TempDir()
	set := smallSet()
	close(t, open(t, dir, set))
	before := snapshot(t, dir)
	r := sample("a000000000000001", "acme/tool", "twice", "x", nil)
	if _, err := Open(t.Context(), dir, kb.NewSetOf(append(set.Records, r)...)); err == nil || !strings.Contains(err.Error(), "a000000000000001 acme/tool/twice") {
		t.Errorf("two records of one id: %v, want an error that names the second", err)
	}
	if after := snapshot(t, dir); after != before {
		t.Errorf("directory after the failure:\n%s\nbefore\n%s", after, before)
	}
}

func TestOpenSaysWhatIsWrongWithTheDirectory(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"a file": file, "below a file": filepath.Join(file, "x"), "missing": filepath.Join(dir, "none")} {
		_, err := Open(t.Context(), dir, smallSet())
		if err == nil || !strings.Contains(err.Error(), "data directory "+dir) || !strings.Contains(err.Error(), "choose another data directory") {
			t.Errorf("%s: %v, want the directory and what to do", name, err)
		}
	}
	if _, err := LockDir(filepath.Join(file, "x")); err == nil || !strings.Contains(err.Error(), "choose another data directory") {
		t.Errorf("lock below a file: %v", err)
	}
}

func TestExplain(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&os.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, "cannot be written"},
		{&os.PathError{Op: "open", Path: "x", Err: syscall.EROFS}, "cannot be written"},
		{&os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, "disk is full"},
		{fs.ErrNotExist, "not a directory that can be used"},
		{errors.New("other"), "data directory /d: other"},
	} {
		err := explain("/d", tt.err)
		if !strings.Contains(err.Error(), tt.want) || !errors.Is(err, tt.err) {
			t.Errorf("%v: %v, want %q", tt.err, err, tt.want)
		}
	}
}

// SQLite reports a full disk by its own code; a limit of pages gives the same.
func TestExplainFullDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "full.sqlite")
	db, err := sql.Open("sqlite", dsn(path)+"?_pragma=max_page_count(20)&"+writerOptions)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = load(t.Context(), db, largeSet(200))
	if err == nil {
		t.Fatal("loaded into too few pages")
	}
	if got := explain("/d", err).Error(); !strings.Contains(got, "the disk is full: free some space") {
		t.Errorf("%s", got)
	}
}

func TestExplainLockedDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "busy.sqlite")
	holder, err := sql.Open("sqlite", dsn(path)+"?"+writerOptions)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	tx, err := holder.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	db, err := sql.Open("sqlite", dsn(path)+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := load(t.Context(), db, smallSet()); err == nil || !strings.Contains(explain("/d", err).Error(), "locked by another program") {
		t.Errorf("%v", explain("/d", err))
	}
}

// Damage under the running program gives an error that says so, never a wrong
// record or a crash.
func TestFileOverwrittenUnderTheStore(t *testing.T) {
	dir := t.TempDir()
	set := largeSet(500)
	s := open(t, dir, set)
	defer close(t, s)
	path := filepath.Join(dir, fileName)
	if err := os.Truncate(path, 8192); err != nil {
		t.Fatal(err)
	}
	err := s.All(t.Context(), func(*kb.Record) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "was changed or removed while it was open; reload or start again") {
		t.Errorf("%v", err)
	}
	again := open(t, dir, set)
	defer close(t, again)
	checkWhole(t, again, set)
}

func TestDirectoryRemovedUnderTheStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	set := smallSet()
	s := open(t, dir, set)
	defer close(t, s)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	checkWhole(t, s, set)
}

// Paths may hold what has a meaning in an URI.
func TestOpenInOddDirectories(t *testing.T) {
	for _, name := range []string{"with space", "100%", "a?b", "a#b", "ümlaut", "%41", "a&b=c;d", "'\""} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		close(t, open(t, dir, smallSet()))
		if s := open(t, dir, smallSet()); s.Rebuilt() {
			t.Errorf("%q: built in another place", name)
		} else {
			close(t, s)
		}
	}
}

func TestConcurrentOpens(t *testing.T) {
	dir := t.TempDir()
	var opens sync.WaitGroup
	for i := range 6 {
		set := largeSet(20 + i%2)
		opens.Go(func() {
			s, err := Open(t.Context(), dir, set)
			if err != nil {
				t.Error(err)
				return
			}
			checkWhole(t, s, set)
			close(t, s)
		})
	}
	opens.Wait()
}

func BenchmarkOpenMatching(b *testing.B) {
	dir := b.TempDir()
	set := largeSet(10000)
	close(b, open(b, dir, set))
	for b.Loop() {
		close(b, open(b, dir, set))
	}
}

func BenchmarkBuild(b *testing.B) {
	set := largeSet(10000)
	for b.Loop() {
		close(b, open(b, b.TempDir(), set))
	}
}

func BenchmarkRecord(b *testing.B) {
	s := memory(b, largeSet(10000))
	for b.Loop() {
		if _, err := s.Record(b.Context(), "0000000000000100"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkList(b *testing.B) {
	s := memory(b, largeSet(10000))
	for b.Loop() {
		if _, err := s.List(b.Context(), kb.Filter{Sort: "changed"}); err != nil {
			b.Fatal(err)
		}
	}
}
