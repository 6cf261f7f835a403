package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"errorkb/cmd/internal/cli"
	"errorkb/cmd/internal/entries"
	"errorkb/internal/diagnose/entry"
	"errorkb/internal/kb"
	"errorkb/internal/render"
	"errorkb/internal/site"
)

const (
	noProgram     = "none"         // value of --wasm
	runtimeScript = "wasm_exec.js" // of a Go release, for the programs that it compiles
	sourceModule  = "module errorkb"
)

// browserDiagnosis is the diagnosis that the site answers pastes with: the
// program in a file, or else compiled from the source tree that this is run in.
// It is nil when there is neither.
func browserDiagnosis(ctx context.Context, file string, set *kb.Set, proof *kb.Proof, base render.Base) (*site.Diagnosis, error) {
	var d *site.Diagnosis
	var err error
	switch root := sourceTree(); {
	case file == noProgram, file == "" && root == "":
		return nil, nil
	case file != "":
		d, err = readProgram(file)
	default:
		d, err = compileProgram(ctx, root)
	}
	if err != nil {
		return nil, err
	}
	list := make([]entries.Entry, 0, len(set.Records))
	for _, r := range set.Records {
		e := entries.Entry{Entry: entry.Of(r, base.Address(render.PlaceError, r.Repo, r.Slug)), Proven: proof.Of(r.ID).IsProven()}
		for _, c := range r.Captures {
			e.Captures = append(e.Captures, entries.Capture{Name: c.Name, Description: c.Description})
		}
		list = append(list, e)
	}
	d.Entries = entries.Append(nil, set.Version, list)
	return d, nil
}

// readProgram reads a compiled program and its runtime, which lies beside it.
func readProgram(file string) (*site.Diagnosis, error) {
	program, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the program for the browser: %w", err)
	}
	if !bytes.HasPrefix(program, []byte("\x00asm")) {
		return nil, fmt.Errorf("%s is not WebAssembly", file)
	}
	beside := filepath.Join(filepath.Dir(file), runtimeScript)
	script, err := os.ReadFile(beside)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Hint(fmt.Errorf("no %s beside %s", runtimeScript, file),
			`copy it from the Go release that compiled the program: $(go env GOROOT)/lib/wasm/wasm_exec.js`)
	}
	if err != nil {
		return nil, fmt.Errorf("read the runtime of the program for the browser: %w", err)
	}
	return &site.Diagnosis{Program: program, Runtime: script}, nil
}

// compileProgram compiles the program with the Go of the source tree at root.
// Nothing of the machine, such as paths and time, gets into it, so that the same
// source gives the same bytes.
func compileProgram(ctx context.Context, root string) (*site.Diagnosis, error) {
	dir, err := os.MkdirTemp("", "kb-wasm-")
	if err != nil {
		return nil, fmt.Errorf("compile the program for the browser: %w", err)
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "kb.wasm")
	if _, err := runGo(ctx, root, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", out, "./cmd/kb-wasm"); err != nil {
		return nil, err
	}
	program, err := os.ReadFile(out)
	if err != nil {
		return nil, fmt.Errorf("compile the program for the browser: %w", err)
	}
	goroot, err := runGo(ctx, root, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	script, err := os.ReadFile(filepath.Join(strings.TrimSpace(goroot), "lib", "wasm", runtimeScript))
	if err != nil {
		return nil, fmt.Errorf("read the runtime of the program for the browser: %w", err)
	}
	return &site.Diagnosis{Program: program, Runtime: script}, nil
}

// runGo runs the go command for the browser's platform and returns its output.
func runGo(ctx context.Context, dir string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOWASM=", "CGO_ENABLED=0")
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		err = fmt.Errorf("compile the program for the browser: go %s: %w\n%s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
		return "", cli.Hint(err, "to build the site without it, say --wasm none")
	}
	return stdout.String(), nil
}

// sourceTree is the top of the source tree that the working directory is in, ""
// when it is in none, or when there is no Go to compile it with.
func sourceTree() string {
	if _, err := exec.LookPath("go"); err != nil {
		return ""
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		if mod, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			first, _, _ := strings.Cut(string(mod), "\n")
			if strings.TrimSpace(first) == sourceModule {
				return dir
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
