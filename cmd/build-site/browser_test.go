package main

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"errorkb/cmd/internal/cli"
	"errorkb/cmd/internal/entries"
)

// run executes build-site and returns what it says.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var said strings.Builder
	cmd := newRoot()
	cmd.SetArgs(args)
	cmd.SetOut(io.Discard)
	cmd.SetErr(&said)
	err := cmd.ExecuteContext(t.Context())
	return said.String(), err
}

// The program and its runtime are taken from files, and leave the site again.
func TestProgramFromFile(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{
		"prog/kb.wasm": "\x00asm and more", "prog/wasm_exec.js": "// licence", "alone/kb.wasm": "\x00asm", "empty.wasm": "",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{
		"missing.wasm":      "read the program for the browser",
		"prog/wasm_exec.js": "prog/wasm_exec.js is not WebAssembly",
		"empty.wasm":        "is not WebAssembly",
		"alone/kb.wasm":     "no wasm_exec.js beside alone/kb.wasm",
	} {
		if _, err := run(t, "--wasm", file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--wasm %s: error %v, want %q", file, err, want)
		}
	}
	if _, err := os.Stat("public"); err == nil {
		t.Error("a refused program left a site")
	}

	if said, err := run(t); err != nil || !strings.Contains(said, "cannot diagnose by itself") {
		t.Fatalf("without a program: %v, said %q", err, said)
	}
	without := files(t, "public")
	if said, err := run(t, "--wasm", "prog/kb.wasm"); err != nil || strings.Contains(said, "cannot diagnose") {
		t.Fatalf("with a program: %v, said %q", err, said)
	}
	with := files(t, "public")
	var more []string
	for name := range with {
		if _, ok := without[name]; !ok {
			more = append(more, filepath.Ext(name))
		}
	}
	slices.Sort(more)
	if want := []string{".js", ".json", ".txt", ".wasm"}; !slices.Equal(more, want) {
		t.Errorf("a program adds the files %q, want %q", more, want)
	}
	for name, content := range without {
		if strings.HasSuffix(name, ".html") && with[name] != content {
			t.Errorf("%s depends on the program", name)
		}
	}
	for name, content := range with {
		if filepath.Ext(name) == ".txt" && filepath.Dir(name) == "assets" {
			checkEntries(t, content)
		}
	}
	if _, err := run(t, "--wasm", "none", "--quiet"); err != nil {
		t.Fatal(err)
	}
	if again := files(t, "public"); !maps.Equal(again, without) {
		t.Error("something of the program is left in the site")
	}
}

func checkEntries(t *testing.T, file string) {
	t.Helper()
	set, err := cli.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	proof, err := cli.Proof("", set)
	if err != nil || proof == nil {
		t.Fatalf("no evidence: %v", err)
	}
	version, list, err := entries.Parse(file)
	if err != nil || version != set.Version || len(list) != len(set.Records) {
		t.Fatalf("%d entries of %q, %v; want %d of %q", len(list), version, err, len(set.Records), set.Version)
	}
	for i, r := range set.Records {
		if e := list[i]; e.Ref.ID != r.ID || e.Pattern != r.MessagePattern || len(e.Captures) != len(r.Captures) ||
			e.Ref.URL != "/errors/"+r.Repo+"/"+r.Slug+"/" || !slices.Equal(e.Solutions, r.Solutions) || e.Proven != proof.Of(r.ID).IsProven() {
			t.Errorf("entry %d is not that of record %s: %+v", i, r.ID, e)
		}
	}
}

// In the source tree the program is compiled, and two builds give the same
// bytes.
func TestProgramFromSource(t *testing.T) {
	root := sourceTree()
	if root == "" {
		t.Fatal("the tests run in no source tree")
	}
	one, err := compileProgram(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	two, err := compileProgram(t.Context(), filepath.Join(root, "docs"))
	if err == nil {
		t.Fatalf("compiled %d bytes where no source is", len(two.Program))
	}
	if two, err = compileProgram(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	if string(one.Program) != string(two.Program) || string(one.Runtime) != string(two.Runtime) {
		t.Error("two builds differ")
	}
	// The program is loaded over the network before the first answer.
	const most = 4_900_000
	if !strings.HasPrefix(string(one.Program), "\x00asm") || len(one.Program) > most {
		t.Errorf("%d bytes, want WebAssembly of at most %d", len(one.Program), most)
	}
	if !strings.Contains(string(one.Runtime), "Copyright") {
		t.Error("the runtime has lost its licence header")
	}
	for _, private := range []string{root, os.TempDir()} {
		if strings.Contains(string(one.Program), private+"/") {
			t.Errorf("the program names %s, a place of this machine", private)
		}
	}
}
