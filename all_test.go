// Package errorkb holds the checks over the whole repository: who imports
// whom, that the bundled records load without a finding, and that committed
// derived files are fresh.
package errorkb

import (
	"bytes"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/a-h/templ/generator"
	templparser "github.com/a-h/templ/parser/v2"

	"errorkb/internal/lint"
	"errorkb/records"
)

const module = "errorkb/"

// arrows lists, for each folder, the folders of ours that it may import. A
// folder below another one follows the rule of its nearest listed parent, and
// may import that parent. cmd may import everything.
var arrows = map[string][]string{
	"internal/kb":             {},
	"internal/pattern":        {},
	"internal/runtime":        {},
	"records":                 {},
	"schema":                  {},
	"web":                     {},
	"internal/lint":           {"internal/kb", "internal/pattern", "schema"},
	"internal/store":          {"internal/kb"},
	"internal/search":         {"internal/kb"},
	"internal/diagnose":       {"internal/pattern"},
	"internal/diagnose/entry": {"internal/kb", "internal/diagnose"},
	"internal/conformance":    {"internal/kb", "internal/pattern", "internal/runtime", "internal/diagnose"},
	"internal/render":         {"internal/kb", "internal/diagnose"},
	"internal/site":           {"internal/kb", "internal/render", "web"},
	"internal/server":         {"internal/kb", "internal/diagnose", "internal/render", "web"},
}

// standardOnly lists the folders that import nothing but the standard library
// and what arrows grants, so that anyone can lift them out and the diagnosis
// compiles for the browser.
var standardOnly = []string{"internal/kb", "internal/pattern", "internal/diagnose", "records", "schema", "web"}

// owners names the one folder that knows each technology.
var owners = map[string]string{
	"modernc.org/sqlite":          "internal/store",
	"github.com/blevesearch/":     "internal/search",
	"github.com/labstack/echo":    "internal/server",
	"github.com/a-h/templ":        "internal/render",
	"github.com/yuin/goldmark":    "internal/render",
	"github.com/spf13/cobra":      "cmd",
	"github.com/santhosh-tekuri/": "internal/lint",
}

// goFile is one Go source file that is built into something we ship.
type goFile struct {
	path    string // slash-separated, from the top
	imports []string
}

func goFiles(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			base := entry.Name()
			if name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		file := goFile{path: filepath.ToSlash(name)}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			file.imports = append(file.imports, imported)
		}
		files = append(files, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("found %d Go files; is this the top of the repository?", len(files))
	}
	return files
}

// folder returns the listed folder that governs dir, "" when there is none.
func folder(dir string) string {
	for d := dir; d != "."; d = path.Dir(d) {
		if _, listed := arrows[d]; listed {
			return d
		}
	}
	return ""
}

func within(dir, parent string) bool { return dir == parent || strings.HasPrefix(dir, parent+"/") }

// forbidden says why a file in dir may not import what it imports, "" when it may.
func forbidden(dir, imported string) string {
	if within(dir, "cmd") {
		if !strings.HasPrefix(imported, module) {
			return foreignOwner(dir, imported)
		}
		return ""
	}
	governing := folder(dir)
	if governing == "" {
		return "the folder is not in the table of arrows"
	}
	if target, ours := strings.CutPrefix(imported, module); ours {
		if within(target, governing) || within(dir, target) && folder(target) == governing {
			return ""
		}
		for _, allowed := range arrows[governing] {
			if within(target, allowed) {
				return ""
			}
		}
		return "only " + strings.Join(arrows[governing], ", ") + " are allowed"
	}
	if slices.Contains(standardOnly, governing) && strings.Contains(strings.SplitN(imported, "/", 2)[0], ".") {
		return "only the standard library is allowed"
	}
	return foreignOwner(dir, imported)
}

func foreignOwner(dir, imported string) string {
	for prefix, owner := range owners {
		if strings.HasPrefix(imported, prefix) && !within(dir, owner) {
			return "only " + owner + " knows " + prefix
		}
	}
	return ""
}

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for _, file := range goFiles(t) {
		dir := path.Dir(file.path)
		seen[folder(dir)] = true
		for _, imported := range file.imports {
			if imported == "C" {
				t.Errorf("%s imports C; what we ship is free of cgo", file.path)
			}
			if why := forbidden(dir, imported); why != "" {
				t.Errorf("%s imports %s; %s", file.path, imported, why)
			}
		}
	}
	for listed := range arrows {
		if _, err := os.Stat(listed); err == nil && !seen[listed] {
			t.Errorf("no Go file was read in %s", listed)
		}
	}
}

func TestForbidden(t *testing.T) {
	cases := []struct {
		dir, imported string
		allowed       bool
	}{
		{"internal/kb", "strings", true},
		{"internal/kb", "errorkb/internal/pattern", false},
		{"internal/kb", "golang.org/x/text", false},
		{"internal/diagnose/eval", "errorkb/internal/diagnose", true},
		{"internal/diagnose", "errorkb/internal/store", false},
		{"internal/diagnose", "errorkb/internal/kb", false},
		{"internal/diagnose/entry", "errorkb/internal/kb", true},
		{"internal/runtime/daytona", "errorkb/internal/runtime/rpc", true},
		{"internal/runtime/daytona", "errorkb/internal/kb", false},
		{"internal/render", "modernc.org/sqlite", false},
		{"internal/store", "modernc.org/sqlite", true},
		{"cmd/kb", "errorkb/internal/store", true},
		{"cmd/kb", "github.com/blevesearch/bleve/v2", false},
		{"internal/util", "strings", false},
	}
	for _, c := range cases {
		if why := forbidden(c.dir, c.imported); (why == "") != c.allowed {
			t.Errorf("forbidden(%q, %q) = %q, want allowed %v", c.dir, c.imported, why, c.allowed)
		}
	}
}

func TestRecords(t *testing.T) {
	set, findings := lint.Load(t.Context(), records.FS)
	for _, finding := range findings {
		t.Error(finding)
	}
	if set == nil || len(set.Records) == 0 {
		t.Fatal("no record was loaded")
	}
	for _, source := range set.Sources {
		if !bytes.Equal(source.Data, source.Record.Canonical()) {
			t.Errorf("%s is not in canonical form; run: go run ./cmd/kb lint --fix --records records", source.Path)
		}
	}
}

func TestGeneratedFresh(t *testing.T) {
	templates, err := filepath.Glob("internal/*/*.templ")
	if err != nil {
		t.Fatal(err)
	}
	if len(templates) == 0 {
		t.Fatal("no templ file found")
	}
	for _, name := range templates {
		parsed, err := templparser.Parse(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var fresh bytes.Buffer
		if _, err := generator.Generate(parsed, &fresh, generator.WithVersion(templ.Version()), generator.WithFileName(filepath.ToSlash(name))); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		committed, err := os.ReadFile(strings.TrimSuffix(name, ".templ") + "_templ.go")
		if err != nil {
			t.Errorf("%s: %v; run: go tool templ generate", name, err)
			continue
		}
		formatted, err := format.Source(fresh.Bytes())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(committed, formatted) {
			t.Errorf("%s: the generated file is stale; run: go tool templ generate", name)
		}
	}
}

func TestPublicHoldsNothing(t *testing.T) {
	data, err := os.ReadFile("public/.gitignore")
	if err != nil {
		t.Fatal(err)
	}
	rules := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(data)), "\n"), func(line string) bool {
		return strings.HasPrefix(line, "#")
	})
	if !slices.Equal(rules, []string{"*", "!.gitignore"}) {
		t.Errorf("public/.gitignore ignores %q; all but itself is ignored", rules)
	}
}
