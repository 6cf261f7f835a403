package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"errorkb/internal/kb"
	"errorkb/internal/lint"
	"errorkb/records"
)

// Records loads the records of a folder, or the bundled ones when dir is "".
// Warnings are not reported here: that is what kb lint is for. Progress goes to
// stderr when that is a terminal.
func Records(ctx context.Context, dir string, stderr io.Writer) (*kb.Set, error) {
	return RecordsBy(ctx, lint.NewLoader(), dir, stderr)
}

// RecordsBy is Records for those who load a folder again and again.
func RecordsBy(ctx context.Context, loader *lint.Loader, dir string, stderr io.Writer) (*kb.Set, error) {
	if dir == "" {
		return Bundled()
	}
	fsys, err := Folder(dir)
	if err != nil {
		return nil, err
	}
	progress := NewProgress(stderr, "checking records")
	set, findings := loader.Load(ctx, fsys)
	progress.End()
	if set == nil || kb.HasErrors(findings) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return nil, &FindingsError{Dir: dir, Findings: findings}
	}
	if len(set.Records) == 0 {
		return nil, Hint(fmt.Errorf("no record in %s", dir), "records lie at <owner>/<name>/<slug>.json below it")
	}
	return set, nil
}

// Bundled reads the records that are part of the program. They are not checked
// again: a test of the repository has done it.
func Bundled() (*kb.Set, error) {
	sources, findings := kb.ReadDir(records.FS)
	if kb.HasErrors(findings) {
		return nil, &FindingsError{Findings: findings}
	}
	return kb.NewSet(sources), nil
}

// Proof reads the evidence beside the records of a set; nil when there is none.
// A file that cannot be read gives a *FindingsError. Evidence that does not fit
// its record is left out: that is what kb lint and kb prove --check are for.
func Proof(dir string, set *kb.Set) (*kb.Proof, error) {
	var fsys fs.FS = records.FS
	if dir != "" {
		var err error
		if fsys, err = Folder(dir); err != nil {
			return nil, err
		}
	}
	proof, findings := lint.Evidence(fsys, set)
	if kb.HasErrors(findings) {
		return nil, &FindingsError{Dir: dir, Findings: findings}
	}
	return proof, nil
}

// Folder opens a records folder that must exist.
func Folder(dir string) (fs.FS, error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Hint(fmt.Errorf("no records folder %q", dir), "name the folder with --records DIR")
	}
	if err != nil {
		return nil, fmt.Errorf("open the records folder: %w", err)
	}
	if !info.IsDir() {
		return nil, Hint(fmt.Errorf("%q is a file, not a folder of records", dir), "to take over single files use kb import")
	}
	return os.DirFS(dir), nil
}

// FindingsError says that a set of records was not loaded, and why.
type FindingsError struct {
	Dir      string
	Findings []kb.Finding
}

// findingsShown bounds how much of a broken set one message shows; kb lint
// shows everything.
const findingsShown = 20

func (e *FindingsError) Error() string {
	n := 0
	for _, f := range e.Findings {
		if f.Severity == kb.FindingError {
			n++
		}
	}
	from := ""
	if e.Dir != "" {
		from = " from " + e.Dir
	}
	return fmt.Sprintf("nothing loaded%s: %s", from, Count(n, "finding"))
}

// Details lists the findings that kept the set from being loaded, one a line.
func (e *FindingsError) Details() string {
	var out strings.Builder
	shown, left := 0, 0
	for _, f := range e.Findings {
		switch {
		case f.Severity != kb.FindingError:
		case shown == findingsShown:
			left++
		default:
			f.File = path.Join(e.Dir, f.File)
			fmt.Fprintf(&out, "  %s\n", Visible(f.String()))
			shown++
		}
	}
	if left > 0 {
		fmt.Fprintf(&out, "  and %d more", left)
		if e.Dir != "" {
			fmt.Fprintf(&out, "; see all with: kb lint --records %s", e.Dir)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// Count writes a number with its noun: "1 finding", "3 findings".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
