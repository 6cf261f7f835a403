package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/kb"
)

// written says what happened to the files of records, as slash-separated
// paths below the folder.
type written struct {
	New       []string `json:"new"`
	Replaced  []string `json:"replaced"`
	Unchanged []string `json:"unchanged"`
}

// writeRecords writes records into a folder in canonical form, all or none as
// far as the folder's own content decides: nothing is written when a record
// would take the place of another one. With replace, a record may take the
// place of an older state of itself.
func writeRecords(dir string, records []*kb.Record, replace bool) (written, error) {
	result := written{New: []string{}, Replaced: []string{}, Unchanged: []string{}}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return result, fmt.Errorf("make the records folder: %w", err)
	}
	homes, err := homesOf(dir)
	if err != nil {
		return result, err
	}
	content, ids := map[string][]byte{}, map[string]string{}
	var problems []error
	for _, r := range records {
		name, err := kb.Path(r)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		data := r.Canonical()
		if earlier, ok := content[name]; ok && !bytes.Equal(earlier, data) {
			problems = append(problems, fmt.Errorf("two different records for %s", name))
			continue
		}
		if home, ok := homes[r.ID]; ok && home != name {
			problems = append(problems, fmt.Errorf("record %s is already at %s, it cannot be at %s too", r.ID, home, name))
			continue
		}
		homes[r.ID] = name
		content[name], ids[name] = data, r.ID
	}
	names := sortedNames(content)
	for _, name := range names {
		old, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			result.New = append(result.New, name)
		case err != nil:
			problems = append(problems, fmt.Errorf("read what is at %s: %w", name, err))
		case bytes.Equal(old, content[name]):
			result.Unchanged = append(result.Unchanged, name)
		case !replace || !holds(name, old, ids[name]):
			problems = append(problems, fmt.Errorf("%s exists and differs", name))
		default:
			result.Replaced = append(result.Replaced, name)
		}
	}
	if len(problems) > 0 {
		return written{}, cli.Hint(fmt.Errorf("nothing written to %s: %w", dir, errors.Join(problems...)),
			"--replace writes over earlier states of the same records")
	}
	for _, name := range append(slices.Clone(result.New), result.Replaced...) {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(name)), content[name]); err != nil {
			return result, err
		}
	}
	return result, nil
}

// homesOf maps the id of each readable record in a folder to its file.
func homesOf(dir string) (map[string]string, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", dir)
	}
	sources, _ := kb.ReadDir(os.DirFS(dir))
	homes := make(map[string]string, len(sources))
	for _, s := range sources {
		homes[s.Record.ID] = s.Path
	}
	return homes, nil
}

// holds reports whether a file holds the record with an id.
func holds(name string, data []byte, id string) bool {
	source, _ := kb.Decode(name, data)
	return source != nil && source.Record.ID == id
}

func sortedNames(content map[string][]byte) []string {
	names := make([]string, 0, len(content))
	for name := range content {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// writeFile replaces a file whole, so that a reader or a crash never meets a
// half-written one.
func writeFile(name string, data []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	// Hidden, so that nobody takes it for a record.
	file, err := os.CreateTemp(dir, ".kb-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		os.Remove(file.Name())
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
