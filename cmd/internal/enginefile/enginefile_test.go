package enginefile

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"errorkb/internal/diagnose"
	"errorkb/internal/pattern/corpus"
)

func entriesOf(n int) []diagnose.Entry {
	var out []diagnose.Entry
	for i, m := range corpus.Messages(n) {
		out = append(out, diagnose.Entry{Ref: diagnose.Ref{ID: strconv.Itoa(i)}, Pattern: corpus.Expression(m)})
	}
	return out
}

func check(t *testing.T, engine *diagnose.Engine, message string) {
	t.Helper()
	a := engine.Diagnose(context.Background(), []byte(message), diagnose.Options{})
	if a.Verdict != diagnose.VerdictKnown {
		t.Errorf("verdict %q of %q", a.Verdict, message)
	}
}

func TestMake(t *testing.T) {
	name := filepath.Join(t.TempDir(), "diagnosis")
	entries := entriesOf(100)
	message := ""
	for _, m := range corpus.Messages(100) {
		if len(m) > len(message) {
			message = m
		}
	}
	var warnings []error
	open := func(version string) {
		t.Helper()
		engine, close, err := Make(name, version, entries, func(err error) { warnings = append(warnings, err) })
		if err != nil {
			t.Fatal(err)
		}
		check(t, engine, message)
		if err := close(); err != nil {
			t.Error(err)
		}
	}
	stat := func() fs.FileInfo {
		t.Helper()
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	open("1")
	first := stat()
	open("1")
	if !os.SameFile(first, stat()) {
		t.Error("a file that fits is written again")
	}
	open("2")
	second := stat()
	if os.SameFile(first, second) {
		t.Error("the file of another data set is used, or written over")
	}
	if len(warnings) > 0 {
		t.Errorf("warnings %q", warnings)
	}

	// Damage is said once, and mended.
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range [][]byte{data[:len(data)/2], bytes.Replace(data, data[len(data)/2:len(data)/2+16], bytes.Repeat([]byte{0xa5}, 16), 1)} {
		warnings = nil
		if err := os.WriteFile(name, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		open("2")
		if len(warnings) != 1 || !errors.Is(warnings[0], diagnose.ErrDamaged) {
			t.Errorf("warnings of a damaged file: %q", warnings)
		}
		warnings = nil
		open("2")
		if len(warnings) > 0 {
			t.Errorf("a damaged file is not mended: %q", warnings)
		}
	}
	// What a killed process leaves is taken away.
	if err := os.WriteFile(name+asideSuffix, data[:100], 0o600); err != nil {
		t.Fatal(err)
	}
	// An empty file, as a full disk leaves it, is one of another form.
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open("2")
	if left, err := os.ReadDir(filepath.Dir(name)); err != nil || len(left) != 1 {
		t.Errorf("files left: %v, %v", left, err)
	}

	// Where nothing can be written, there is a diagnosis all the same.
	warnings = nil
	name = filepath.Join(name, "below", "a file")
	open("2")
	if len(warnings) == 0 {
		t.Error("nothing is said of a file that cannot be written")
	}
}

func TestOpenWithoutAFile(t *testing.T) {
	if _, _, err := Open(filepath.Join(t.TempDir(), "none"), "1", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
