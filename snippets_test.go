package errorkb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"errorkb/internal/kb"
	"errorkb/records"
)

// declarations is the folder with the TypeScript declarations and the
// configuration under which the snippets are checked.
const declarations = "testdata/typescript"

// snippet is one piece of TypeScript of a record.
type snippet struct {
	record, field string // path of the record; name of the field, with the half of a fix
	code          string
}

// snippetsOf returns the pieces of a record. The halves of exampleFix are
// checked apart, for they declare the same names.
func snippetsOf(path string, r *kb.Record) []snippet {
	var all []snippet
	add := func(field, code string) {
		if strings.TrimSpace(code) != "" {
			all = append(all, snippet{path, field, code})
		}
	}
	fix, _ := kb.SplitFix(r.ExampleFix)
	add("exampleFix (before)", fix.Before)
	add("exampleFix (after)", fix.After)
	for _, f := range []struct {
		name string
		code *string
	}{{"validationCode", r.ValidationCode}, {"typeGuard", r.TypeGuard}, {"tryCatchPattern", r.TryCatchPattern}} {
		if f.code != nil {
			add(f.name, *f.code)
		}
	}
	return all
}

// TestSnippets checks the TypeScript of every record with the compiler.
func TestSnippets(t *testing.T) {
	t.Parallel()
	compiler := nodeProgram(t, "tsc")
	sources, findings := kb.ReadDir(records.FS)
	for _, f := range findings {
		t.Errorf("%v", f)
	}
	var all []snippet
	for _, s := range sources {
		of := snippetsOf(s.Path, s.Record)
		if len(of) < 2 {
			t.Errorf("%s: holds %d snippets, want both halves of the fix at least", s.Path, len(of))
		}
		all = append(all, of...)
	}
	if len(all) == 0 {
		t.Fatal("the records hold no TypeScript")
	}
	for _, complaint := range compile(t, compiler, all) {
		t.Error(complaint)
	}
	t.Logf("%d snippets of %d records", len(all), len(sources))
}

// TestSnippetsComplaints shows that mistakes are found and named, among good
// code and each in its own module.
func TestSnippetsComplaints(t *testing.T) {
	t.Parallel()
	compiler := nodeProgram(t, "tsc")
	for _, test := range []struct {
		snippets []snippet
		want     []string
	}{
		{[]snippet{
			{"a.json", "validationCode", "const name: string = lease.id;\nconst other = lease.idd;"},
			{"b.json", "typeGuard", "const name = 1;"},
			{"c.json", "tryCatchPattern", "function f(x) { return x; }"},
		}, []string{"a.json: validationCode, line 2: error TS2339", "c.json: tryCatchPattern, line 1: error TS7006"}},
		// What does not parse keeps the compiler from looking at types.
		{[]snippet{
			{"b.json", "typeGuard", "const name = 1;"},
			{"d.json", "exampleFix (after)", "const x = 1;\nif (lease x {}"},
		}, []string{"d.json: exampleFix (after), line 2: error TS1005"}},
	} {
		got := strings.Join(compile(t, compiler, test.snippets), "\n")
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("no complaint %q in\n%s", want, got)
			}
		}
		if strings.Contains(got, "b.json") {
			t.Errorf("complaint about good code:\n%s", got)
		}
	}
}

// TestDeclarations keeps the declarations from saying yes to everything.
func TestDeclarations(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(declarations, "*.d.ts"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d declarations, %v", len(files), err)
	}
	loose := regexp.MustCompile(`\bany\b|\bFunction\b|@ts-`)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if found := loose.FindString(line); found != "" && !strings.HasPrefix(strings.TrimSpace(line), "//") {
				t.Errorf("%s:%d: %s lets everything pass", file, i+1, found)
			}
		}
	}
}

// nodeProgram returns a program of KB_NODE_MODULES. It skips the test when
// there is none, unless KB_REQUIRE_NODE asks for one.
func nodeProgram(t *testing.T, name string) string {
	t.Helper()
	modules := os.Getenv("KB_NODE_MODULES")
	program := filepath.Join(modules, "node_modules", ".bin", name)
	if _, err := os.Stat(program); modules != "" && err == nil {
		return program
	}
	if os.Getenv("KB_REQUIRE_NODE") == "1" {
		t.Fatalf("KB_REQUIRE_NODE is 1 and KB_NODE_MODULES names no folder with %s", name)
	}
	t.Skipf("KB_NODE_MODULES names no folder with %s; set KB_REQUIRE_NODE=1 to make this a failure", name)
	return ""
}

var complaintForm = regexp.MustCompile(`^(?:snippets/(\d+)\.ts)?(.*?)(?:\((\d+),(\d+)\))?: (error TS\d+: .*)$`)

// compile writes each snippet as a module, runs the compiler once over all of
// them, and returns what it says with the place in the record.
func compile(t *testing.T, compiler string, all []snippet) []string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(declarations)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "snippets"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, s := range all {
		// The export makes it a module, whose names are its own.
		file := filepath.Join(dir, "snippets", strconv.Itoa(i)+".ts")
		if err := os.WriteFile(file, []byte(s.code+"\nexport {};\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*patience)
	defer cancel()
	var output bytes.Buffer
	run := exec.CommandContext(ctx, compiler, "--project", ".", "--pretty", "false")
	run.Dir, run.Stdout, run.Stderr = dir, &output, &output
	err := run.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatalf("running %s: %v", compiler, err)
	}
	var complaints []string
	for line := range strings.Lines(output.String()) {
		m := complaintForm.FindStringSubmatch(strings.TrimRight(line, "\n"))
		switch {
		case m == nil: // goes on with the complaint before
		case m[1] == "":
			complaints = append(complaints, strings.TrimSpace(line))
		default:
			i, _ := strconv.Atoi(m[1])
			complaints = append(complaints, fmt.Sprintf("%s: %s, line %s: %s", all[i].record, all[i].field, m[3], m[5]))
		}
	}
	if err != nil && len(complaints) == 0 {
		t.Fatalf("%s: %v\n%s", compiler, err, output.String())
	}
	return complaints
}
