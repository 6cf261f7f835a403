package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"errorkb/cmd/internal/cli"
)

// update rewrites the expected output inside the scripts.
var update = flag.Bool("update", false, "write the output of commands into the scripts that compare it")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"kb": func() { os.Exit(cli.Run(newRoot())) },
	})
}

// TestScripts runs the transcripts of testdata/script. Each starts in a folder
// that holds a copy of testdata/records and a home of its own.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no script in testdata/script: %v", err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			return os.CopyFS(filepath.Join(env.WorkDir, "records"), os.DirFS("testdata/records"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": scriptStatus,
		},
	})
}

// scriptStatus runs a command and compares its exit status: status 1 kb lint.
func scriptStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		ts.Fatalf("status %q: %v", args[0], err)
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("run %s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%q ends with status %d, want %d", args[1:], got, want)
	}
}
