package lint

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"errorkb/internal/kb"
)

// Change is what Fix did to one file, or why it left one alone that it would
// have changed.
type Change struct {
	File    string   `json:"file"`    // path below the folder, with slashes
	Done    []string `json:"done"`    // what was done, in words
	Skipped string   `json:"skipped"` // why nothing was done; "" when something was
}

// Fix mends every record below a folder as far as that is safe: canonical form,
// sorted tags, white space at ends, version 2 to 3. It changes nothing that a
// record means. A file is written aside and renamed, so that it is never half
// written; files with errors, links and version 2 records with fields that
// would be lost are left alone. Changes come sorted by file.
func Fix(ctx context.Context, dir string) ([]Change, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("records folder: %w", err)
	}
	defer root.Close()
	sources, findings := kb.ReadDir(root.FS())
	broken := map[string]kb.Finding{}
	for _, f := range findings {
		if f.Severity == kb.FindingError || f.Code == codeUnknown {
			broken[f.File] = f
		}
	}
	var changes []Change
	for file, f := range broken {
		if source := withoutMark(root, file); source != nil {
			sources = append(sources, source)
			delete(broken, file)
		} else if f.Code == codeUnknown && f.Severity == kb.FindingWarning {
			changes = append(changes, Change{File: file, Skipped: "its field " + f.Field + " would be lost"})
		} else {
			changes = append(changes, Change{File: file, Skipped: "it has errors: " + f.Message})
		}
	}
	for _, source := range sources {
		if err := ctx.Err(); err != nil {
			return sorted(changes), fmt.Errorf("fix was interrupted: %w", err)
		}
		if _, bad := broken[source.Path]; bad {
			continue
		}
		change, err := fixFile(root, source)
		if err != nil {
			return sorted(changes), err
		}
		if change != nil {
			changes = append(changes, *change)
		}
	}
	return sorted(changes), nil
}

func sorted(changes []Change) []Change {
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.File, b.File) })
	return changes
}

// withoutMark reads a file again whose only mistake is a byte order mark.
func withoutMark(root *os.Root, file string) *kb.Source {
	data, err := fs.ReadFile(root.FS(), file)
	rest, marked := bytes.CutPrefix(data, []byte("\xef\xbb\xbf"))
	if err != nil || !marked || len(data) > kb.MaxFileSize {
		return nil
	}
	source, findings := kb.Decode(file, rest)
	if len(findings) > 0 || source == nil {
		return nil
	}
	source.Data = data
	return source
}

// fixFile mends one record and writes it when that changes its file.
func fixFile(root *os.Root, source *kb.Source) (*Change, error) {
	done := mend(source.Record)
	want := source.Record.Canonical()
	if bytes.Equal(want, source.Data) {
		return nil, nil
	}
	change := &Change{File: source.Path, Done: done}
	switch {
	case source.Version < kb.SchemaVersion:
		change.Done = append([]string{fmt.Sprintf("upgraded from version %d to %d", source.Version, kb.SchemaVersion)}, done...)
	case len(done) == 0:
		change.Done = []string{"wrote canonical form"}
	}
	// What is about to be written has to read back as the same record.
	back, findings := kb.Decode(source.Path, want)
	if len(findings) > 0 || back == nil || !reflect.DeepEqual(back.Record, source.Record) {
		return &Change{File: source.Path, Skipped: "its canonical form does not read back"}, nil
	}
	if info, err := root.Lstat(source.Path); err == nil && !info.Mode().IsRegular() {
		return &Change{File: source.Path, Skipped: "it is a link"}, nil
	}
	if err := replaceFile(root, source.Path, want); err != nil {
		return nil, err
	}
	return change, nil
}

// replaceFile writes a file beside the old one and renames it over it.
func replaceFile(root *os.Root, file string, data []byte) error {
	name := filepath.FromSlash(file)
	info, err := root.Stat(name)
	if err != nil {
		return fmt.Errorf("fix %s: %w", file, err)
	}
	// Hidden, so that a reader of the folder passes over it; a fixed name, so
	// that what a killed run left is written over.
	aside := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".fix")
	if err := root.Remove(aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("fix %s: %w", file, err)
	}
	f, err := root.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return fmt.Errorf("fix %s: %w", file, err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = root.Rename(aside, name)
	}
	if err != nil {
		root.Remove(aside) // best effort; the error that matters is err
		return fmt.Errorf("fix %s: %w", file, err)
	}
	return nil
}
