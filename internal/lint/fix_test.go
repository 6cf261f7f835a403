package lint

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"errorkb/internal/kb"
)

func TestFix(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o640); err != nil {
			t.Fatal(err)
		}
		return file
	}
	good := base(t)
	source, _ := kb.Decode("", good)
	messy := *source.Record
	messy.Tags = []string{"queue", "capacity", "queue"}
	messy.Solutions = []string{"Start the mail worker. \n", "Raise the limit  \nof the queue."}
	messy.ExampleFix = "\r\n" + strings.ReplaceAll(messy.ExampleFix, "\n", "\r\n") + "\r\n\r\n"
	v2, err := os.ReadFile("../kb/testdata/v2.json")
	if err != nil {
		t.Fatal(err)
	}
	broken := []byte(`{"schemaVersion": 3, "tags": 1}`)
	lossy := bytes.Replace(v2, []byte(`"schemaVersion"`), []byte(`"votes":7,"schemaVersion"`), 1)

	clean := write("acme/a/clean.json", good)
	mendable := write("acme/b/messy.json", messy.Canonical())
	marked := write("acme/c/marked.json", append([]byte("\ufeff"), bytes.ReplaceAll(good, []byte("\n"), []byte("\r\n"))...))
	old := write("acme/d/old.json", v2)
	bad := write("acme/e/broken.json", broken)
	foreign := write("acme/f/lossy.json", lossy)
	write("acme/b/.messy.json.fix", []byte("left by a killed run"))
	if err := os.Symlink(old, filepath.Join(dir, "acme/d/link.json")); err != nil {
		t.Fatal(err)
	}

	before, err := os.Stat(clean)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Fix(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{
		{File: "acme/b/messy.json", Done: []string{"trimmed white space in exampleFix", "trimmed white space in solutions[0]", "sorted tags"}},
		{File: "acme/c/marked.json", Done: []string{"wrote canonical form"}},
		{File: "acme/d/link.json", Skipped: "it cannot be read: the file cannot be read: path escapes from parent"},
		{File: "acme/d/old.json", Done: []string{"upgraded from version 2 to 3", "sorted tags"}},
		{File: "acme/e/broken.json", Skipped: "it has errors: is a number, want an array"},
		{File: "acme/f/lossy.json", Skipped: "its field votes would be lost"},
	}
	if len(got) == len(want) {
		got[2], want[2] = Change{}, Change{} // the wording of the system
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}

	after, err := os.Stat(clean)
	if err != nil || !os.SameFile(before, after) {
		t.Error("a file in canonical form was written again")
	}
	for file, data := range map[string][]byte{clean: good, bad: broken, foreign: lossy, marked: good} {
		if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, data) {
			t.Errorf("%s: %v\n%s", file, err, now)
		}
	}
	// Nothing but the tags and the white space may differ.
	fixed, err := os.ReadFile(mendable)
	if err != nil {
		t.Fatal(err)
	}
	wantRecord := *source.Record
	wantRecord.Solutions = []string{"Start the mail worker.", "Raise the limit  \nof the queue."}
	if !bytes.Equal(fixed, wantRecord.Canonical()) {
		t.Errorf("mended file is\n%s", fixed)
	}
	if info, err := os.Stat(mendable); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*/*/.*.fix")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}

	// A second run has nothing left to do.
	again, err := Fix(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range again {
		if len(c.Done) > 0 {
			t.Errorf("second run did %v", c)
		}
	}
}

func TestFixMissingFolder(t *testing.T) {
	if _, err := Fix(context.Background(), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no error")
	}
}

func TestTrimMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"":                     "",
		"a":                    "a",
		"\n\na\n\n":            "a",
		"a \nb":                "a\nb",
		"a  \nb":               "a  \nb",
		"a     \nb":            "a  \nb",
		"a\t\nb":               "a\nb",
		"a\r\nb\r\n":           "a\nb",
		"    code\n\ntext   ":  "    code\n\ntext",
		"- a\n  - b\n\n    c ": "- a\n  - b\n\n    c",
	} {
		if got := trimMarkdown(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
