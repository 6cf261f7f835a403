package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"errorkb/internal/conformance"
	"errorkb/internal/conformance/mutate/point"
	"errorkb/internal/kb"
)

// lab is a folder with a copy of the runtime and of the records, and the program
// with all mutants.
type lab struct {
	root      string // of the repository
	dir       string // of the lab
	mutants   []*mutant
	unguarded []string
	limit     time.Duration // of one run of a scenario, at the first try
	until     time.Time     // no run begins after it; zero is no limit
}

type outcome string

const (
	killed   outcome = "killed"
	crashed  outcome = "crashed"
	hung     outcome = "hung"
	survived outcome = "survived"
)

type result struct {
	mutant  *mutant
	outcome outcome
	why     string // what the proof said first
	all     bool   // all scenarios ran, not only those concerned
}

func (l *lab) source() string  { return filepath.Join(l.dir, "source") }
func (l *lab) records() string { return filepath.Join(l.dir, "records") }

func (l *lab) program(n int) string {
	return filepath.Join(l.dir, fmt.Sprint(point.Prefix, n))
}

func (l *lab) close() { _ = os.RemoveAll(l.dir) }

// prepare copies the source and finds the mutants.
func prepare(root string) (*lab, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kb-mutate-")
	if err != nil {
		return nil, err
	}
	l := &lab{root: root, dir: dir}
	if err := l.fill(); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *lab) fill() error {
	if err := os.CopyFS(l.source(), os.DirFS(filepath.Join(l.root, "internal", "runtime"))); err != nil {
		return err
	}
	if err := os.CopyFS(l.records(), os.DirFS(filepath.Join(l.root, "records"))); err != nil {
		return err
	}
	sources, findings := kb.ReadDir(os.DirFS(l.records()))
	if len(findings) > 0 {
		return fmt.Errorf("records: %v", findings[0])
	}
	fsys, set := os.DirFS(l.source()), kb.NewSet(sources)
	places, err := conformance.Places(fsys, set)
	if err != nil {
		return err
	}
	scenarios, err := conformance.Load(os.DirFS(l.records()))
	if err != nil {
		return err
	}
	t, err := readTree(fsys, places)
	if err != nil {
		return err
	}
	before := scenarios.Before(set)
	for _, m := range t.mutants {
		for _, id := range slices.Clone(m.Records) {
			m.Records = append(m.Records, before[id]...)
		}
		slices.Sort(m.Records)
		m.Records = slices.Compact(m.Records)
	}
	l.mutants, l.unguarded = t.mutants, t.unguarded
	return l.overlay(t)
}

// overlay writes the changed files and the list of them. The source that the
// proof reads stays the original: what is changed here is what the program does.
func (l *lab) overlay(t *tree) error {
	replace := map[string]string{}
	add := func(name string, data []byte) error {
		file := filepath.Join(l.dir, fmt.Sprintf("changed-%d.go", len(replace)))
		replace[filepath.Join(l.root, "internal", "runtime", filepath.FromSlash(name))] = file
		return os.WriteFile(file, data, 0o644)
	}
	changed := t.changed()
	for _, name := range sorted(changed) {
		if err := add(name, changed[name]); err != nil {
			return err
		}
	}
	embed := fmt.Sprintf("package runtime\n\nimport (\n\t\"io/fs\"\n\t\"os\"\n)\n\nvar Source fs.FS = os.DirFS(%q)\n", l.source())
	if err := add("source.go", []byte(embed)); err != nil {
		return err
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.dir, "overlay.json"), data, 0o644)
}

// build builds the program and makes sure that it proves everything as long as
// no mutant is switched on.
func (l *lab) build(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-overlay", filepath.Join(l.dir, "overlay.json"), "-o", l.program(0), "./cmd/kb")
	cmd.Dir = l.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build of the mutants: %w\n%s", err, out)
	}
	r, err := l.prove(ctx, &mutant{}, nil, conformance.DefaultLimit)
	if err == nil && r.outcome != survived {
		err = fmt.Errorf("the proof is red without a mutation: %s", r.why)
	}
	return err
}

// runAll runs each mutant against the scenarios concerned, and then those that
// survived against all, as long as there is time.
func (l *lab) runAll(ctx context.Context, mutants []*mutant, tell func(result)) ([]result, error) {
	var results []result
	for _, m := range mutants {
		if l.late() {
			break
		}
		r, err := l.run(ctx, m, m.Records)
		if err != nil {
			return nil, err
		}
		tell(r)
		results = append(results, r)
	}
	for i, r := range results {
		if r.outcome != survived || l.late() {
			continue
		}
		r, err := l.run(ctx, r.mutant, nil)
		if err != nil {
			return nil, err
		}
		r.all = true
		tell(r)
		results[i] = r
	}
	return results, nil
}

func (l *lab) late() bool { return !l.until.IsZero() && time.Now().After(l.until) }

// retry is how much longer a mutant may take at its second try.
const retry = 3

// run runs a mutant. One that was killed by time alone gets more of it at a
// second try, as it may have been slow only.
func (l *lab) run(ctx context.Context, m *mutant, records []string) (result, error) {
	if err := os.Link(l.program(0), l.program(m.number)); err != nil {
		return result{}, err
	}
	defer os.Remove(l.program(m.number))
	r, err := l.prove(ctx, m, records, l.limit)
	if err == nil && r.outcome == hung {
		r, err = l.prove(ctx, m, records, retry*l.limit)
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", m.Name, err)
	}
	return r, nil
}

// prove runs kb prove as a mutant; no records stands for all. limit bounds one
// run of a scenario, and some more than that all of them, as the first that
// hangs keeps its record from going on.
func (l *lab) prove(ctx context.Context, m *mutant, records []string, limit time.Duration) (result, error) {
	bounded, cancel := context.WithTimeout(ctx, 6*limit)
	defer cancel()
	args := append([]string{"prove", "--json", "--limit", limit.String(), "--records", l.records()}, records...)
	cmd := exec.CommandContext(bounded, l.program(m.number), args...)
	// It is asked to stop first, so that it ends its workers.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Dir = l.dir
	cmd.Env = append(os.Environ(), "TMPDIR="+l.dir) // a mutant that crashes leaves things behind
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return result{}, ctx.Err()
	}
	var exit *exec.ExitError
	switch {
	case bounded.Err() != nil:
		return result{mutant: m, outcome: hung, why: fmt.Sprintf("kb prove did not end within %v", 6*limit)}, nil
	case err == nil:
		return result{mutant: m, outcome: survived}, nil
	case !errors.As(err, &exit):
		return result{}, err
	}
	text := stderr.String()
	if i := strings.Index(text, "panic: "); i >= 0 {
		line, _, _ := strings.Cut(text[i:], "\n")
		return result{mutant: m, outcome: crashed, why: line}, nil
	}
	why, late, ok := firstProblem(stdout.Bytes())
	if exit.ExitCode() != 1 || !ok {
		return result{}, fmt.Errorf("kb prove: %w: %s", err, text)
	}
	r := result{mutant: m, outcome: killed, why: why}
	if late {
		r.outcome = hung
	}
	return r, nil
}

// firstProblem reads what the proof complains about, false when it is no report or
// has no complaint. That a record took too long counts when there is no other complaint.
func firstProblem(report []byte) (why string, late, ok bool) {
	var r struct {
		Problems, Late []string
		Evidence       []struct {
			Record, Scenario string
			Problems         []string
		}
	}
	if json.Unmarshal(report, &r) != nil {
		return "", false, false
	}
	var all, slow []string
	for _, e := range r.Evidence {
		for _, problem := range e.Problems {
			if problem = e.Scenario + ": " + problem; slices.Contains(r.Late, e.Record) {
				slow = append(slow, problem)
			} else {
				all = append(all, problem)
			}
		}
	}
	if all = append(all, r.Problems...); len(all) > 0 {
		return all[0], false, true
	}
	if len(slow) > 0 {
		return slow[0], true, true
	}
	return "", false, false
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// goFiles lists the files that are built into a program.
func goFiles(fsys fs.FS) ([]string, error) {
	var names []string
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			names = append(names, name)
		}
		return err
	})
	return names, err
}
