package store

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// smallDisk is a folder on a disk of its own.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("mount a small disk: %v", err) // takes a privilege
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// However little room there is, the message says that it is that, where, and what to do.
func TestFullDisk(t *testing.T) {
	set := largeSet(200)
	path := filepath.Join(t.TempDir(), "whole.sqlite")
	if err := buildFile(t.Context(), path, set); err != nil {
		t.Fatal(err)
	}
	whole, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, size := range []string{"8k", "20k", "60k", "300k", "half", "more"} {
		room := map[string]int64{"half": whole.Size() / 2, "more": whole.Size() + whole.Size()/4}[size]
		if room > 0 {
			size = strconv.FormatInt(room, 10)
		}
		dir := smallDisk(t, size)
		s, err := Open(t.Context(), dir, set)
		if err == nil {
			s.Close()
			continue
		}
		refused++
		if want := "data directory " + dir + ": the disk is full: free some space or choose another data directory: "; !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", size, err)
		}
	}
	if refused < 4 {
		t.Errorf("%d of the disks were too small", refused)
	}
}

// A set for which there is no room leaves the old one as it is.
func TestFullDiskKeepsTheOldSet(t *testing.T) {
	dir := smallDisk(t, "16m")
	old := smallSet()
	open(t, dir, old).Close()
	file := filepath.Join(dir, fileName)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fill, err := os.Create(filepath.Join(dir, "fill"))
	if err != nil {
		t.Fatal(err)
	}
	defer fill.Close()
	if _, err := io.Copy(fill, zeros{}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk takes everything: %v", err)
	}
	for _, room := range []int64{0, 20 << 10, 100 << 10} {
		if room > 0 {
			end, err := fill.Seek(0, io.SeekEnd)
			if err == nil {
				err = fill.Truncate(end - room)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if s, err := Open(t.Context(), dir, largeSet(200)); err == nil || !strings.Contains(err.Error(), "the disk is full") {
			t.Errorf("%d bytes left: %v, %v", room, s, err)
		}
		after, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(before, after) {
			t.Errorf("%d bytes left: the old database is another one (%v)", room, err)
		}
		s, err := Open(t.Context(), dir, old)
		if err != nil {
			t.Fatalf("%d bytes left: %v", room, err)
		}
		if s.Rebuilt() {
			t.Error("the old database was built again")
		}
		s.Close()
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
