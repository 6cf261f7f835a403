package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"errorkb/internal/kb"
)

var update = flag.Bool("update", false, "write the expected findings into the case files")

// A case file is named after its check and holds record files, then the
// findings that are expected, each with the line of the file it points at.
//
// A file that ends in .patch holds only the members in which it differs from
// testdata/base.json, a record without findings; "-name" takes a member away,
// and what follows from the file's name (repository, slug, id) is set first. A
// file that ends in .raw is taken as it is but for its last line end, with
// \xff, \ufeff and \0 meaning these bytes and "fill 9" nine kilobytes; one that
// ends in .pipe is no regular file.
const findingsFile = "findings"

func base(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/base.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// patched applies a patch to the base record and gives its canonical form, or
// plain JSON when that would hide what the case is about.
func patched(t testing.TB, name string, patch []byte) []byte {
	t.Helper()
	var record, changes map[string]any
	if err := json.Unmarshal(base(t), &record); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(patch, &changes); err != nil {
		t.Fatalf("patch: %v", err)
	}
	if name != record["repo"].(string)+"/"+record["slug"].(string)+".json" {
		repo := path.Dir(name)
		record["githubUrl"] = strings.Replace(record["githubUrl"].(string), record["repo"].(string), repo, 1)
		record["repo"], record["slug"] = repo, strings.TrimSuffix(path.Base(name), ".json")
		record["id"] = kb.NewID(repo, name, "")
	}
	plain := false
	for member, v := range changes {
		if bare, ok := strings.CutPrefix(member, "-"); ok {
			delete(record, bare)
			plain = true
			continue
		}
		record[member] = v
	}
	data, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	source, findings := kb.Decode(name, data)
	if plain || len(findings) > 0 || source == nil || source.Version != kb.SchemaVersion {
		return append(data, '\n')
	}
	return source.Record.Canonical()
}

// caseFS makes the records folder of a case.
func caseFS(t testing.TB, archive *txtar.Archive) (fsys fstest.MapFS, want string) {
	t.Helper()
	fsys = fstest.MapFS{}
	for _, f := range archive.Files {
		name, ext := strings.TrimSuffix(f.Name, path.Ext(f.Name)), path.Ext(f.Name)
		file := &fstest.MapFile{Data: f.Data}
		text := strings.TrimSuffix(string(f.Data), "\n")
		switch ext {
		case "":
			if f.Name != findingsFile {
				t.Fatalf("file %s has no ending", f.Name)
			}
			want = string(f.Data)
			continue
		case ".patch":
			file.Data = patched(t, name, f.Data)
		case ".raw":
			file.Data = []byte(strings.NewReplacer(`\xff`, "\xff", `\ufeff`, "\ufeff", `\0`, "\x00").Replace(text))
			if n, ok := strings.CutPrefix(text, "fill "); ok {
				file.Data = bytes.Repeat([]byte(" "), atoi(t, n)<<10)
			}
		case ".pipe":
			file.Mode = fs.ModeNamedPipe
		default:
			t.Fatalf("file %s has the ending %s", f.Name, ext)
		}
		fsys[name] = file
	}
	return fsys, want
}

func atoi(t testing.TB, s string) int {
	t.Helper()
	var n int
	if _, err := fmt.Sscan(s, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// show writes findings as case files hold them.
func show(fsys fstest.MapFS, findings []kb.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%s: %s\n", f.Severity, f)
		if file := fsys[f.File]; file != nil && f.Line > 0 {
			lines := strings.Split(string(file.Data), "\n")
			line := strings.ToValidUTF8(strings.ReplaceAll(lines[f.Line-1], "\x00", "?"), "?")
			fmt.Fprintf(&b, "    > %s\n", shorten(strings.TrimPrefix(line, "\ufeff"), 100))
		}
	}
	return b.String()
}

func onlyErrors(findings []kb.Finding) []kb.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f kb.Finding) bool { return f.Severity != kb.FindingError })
}

func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < len(checks) {
		t.Errorf("%d case files for %d checks", len(files), len(checks))
	}
	fired := map[string]bool{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fsys, want := caseFS(t, archive)
			set, findings := Load(context.Background(), fsys)
			if quick, found := NewLoader().Load(context.Background(), fsys); show(fsys, onlyErrors(found)) != show(fsys, onlyErrors(findings)) || (quick == nil) != (set == nil) {
				t.Errorf("a loader finds\n%s", show(fsys, onlyErrors(found)))
			}
			if set != nil {
				_, more := Evidence(fsys, set)
				findings = append(findings, more...)
			}
			got := show(fsys, findings)
			if *update {
				archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == findingsFile })
				archive.Files = append(archive.Files, txtar.File{Name: findingsFile, Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				want = got
			}
			if got != want {
				t.Errorf("findings are\n%s\nwant\n%s", got, want)
			}
			checkOf, _, _ := strings.Cut(name, "_")
			if (set == nil) != kb.HasErrors(findings) && checkOf != codeEvidence { // the records are there without it
				t.Errorf("set is %v with errors %v", set != nil, kb.HasErrors(findings))
			}
			own := slices.ContainsFunc(findings, func(f kb.Finding) bool { return f.Code == checkOf })
			if !own && checkOf != "clean" {
				t.Errorf("check %s finds nothing in its own case", checkOf)
			}
			for _, f := range findings {
				if byCode[f.Code] == nil {
					t.Errorf("finding with the unknown code %s", f.Code)
				}
				fired[f.Code] = true
			}
		})
	}
	for _, c := range checks {
		if !fired[c.Code] {
			t.Errorf("no case makes check %s fire", c.Code)
		}
	}
}

// TestChecksExplained wants every check to say what it is about.
func TestChecksExplained(t *testing.T) {
	list := Checks()
	if len(list) < 40 {
		t.Fatalf("only %d checks", len(list))
	}
	for _, c := range list {
		if c.Code == "" || c.Name == "" || c.Description == "" {
			t.Errorf("check %q is not explained", c.Code)
		}
		if c.Advice == "" && c.Code != codeType && c.Code != codeValue {
			t.Errorf("check %s has no advice", c.Code)
		}
		if c.Strict && c.Severity != kb.FindingWarning {
			t.Errorf("check %s is strict and an error anyway", c.Code)
		}
	}
}
