package site

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// How a build replaces a site without a moment of half-written files:
//
//  1. Changed files are written into the stage, a hidden folder inside the
//     folder of the site. A crash leaves the old site whole; the next build
//     throws the stage away.
//  2. The journal, written aside and renamed, lists what will be moved and
//     deleted. From here on the build counts.
//  3. Files are moved into place one by one, assets before the pages that
//     need them, then what is no longer part is deleted, then the manifest is
//     moved. A crash leaves the journal; the next build finishes the work
//     before it starts its own.
//
// Nothing is flushed to the disk file by file: a file that a power cut spoils
// differs from its document, so the next build writes it again.
const (
	stageFolder  = ".kb-stage"
	journalName  = stageFolder + "/journal.json"
	stagedFolder = stageFolder + "/files"
)

// journal is the list of steps that make the stage the site.
type journal struct {
	Clear   []string `json:"clear"`   // deleted before the moves: a folder takes its place, or a file its folder's
	Install []string `json:"install"` // moved from the stage, in this order
	Delete  []string `json:"delete"`  // deleted after the moves
}

func openStage(root *os.Root) error {
	if err := root.RemoveAll(stageFolder); err != nil {
		return fmt.Errorf("clear the stage: %w", err)
	}
	if err := root.MkdirAll(filepath.FromSlash(stagedFolder), 0o755); err != nil {
		return fmt.Errorf("make the stage: %w", err)
	}
	return nil
}

// discard removes a stage that was not committed.
func (b *builder) discard() {
	if _, err := b.root.Stat(filepath.FromSlash(journalName)); err == nil {
		return
	}
	b.root.RemoveAll(stageFolder) // best effort: the next build clears it too
}

func writeStaged(root *os.Root, name string, content []byte) error {
	staged := filepath.Join(filepath.FromSlash(stagedFolder), name)
	if err := root.MkdirAll(filepath.Dir(staged), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := root.WriteFile(staged, content, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// commit makes the stage the site and fills in the report.
func (b *builder) commit(manifest *Manifest, report *Report) error {
	encoded := manifest.encode()
	manifestChanged := true
	if old, err := b.root.ReadFile(ManifestName); err == nil && string(old) == string(encoded) {
		manifestChanged = false
	}
	now := manifest.paths()
	var gone []string
	for name := range b.previous {
		if !now[name] {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)

	report.Files = len(manifest.Files) + 1
	report.Bytes = int64(len(encoded))
	for _, f := range manifest.Files {
		report.Bytes += f.Size
	}
	report.Written, report.Deleted = len(b.changed), len(gone)
	if manifestChanged {
		report.Written++
		if err := writeStaged(b.root, ManifestName, encoded); err != nil {
			return err
		}
	}
	report.Unchanged = report.Files - report.Written
	if report.Written == 0 && report.Deleted == 0 {
		return nil
	}

	steps := b.steps(now, gone)
	if manifestChanged {
		steps.Install = append(steps.Install, ManifestName)
	}
	if err := writeJournal(b.root, steps); err != nil {
		return err
	}
	return apply(b.root, steps)
}

func writeJournal(root *os.Root, steps journal) error {
	data, err := json.Marshal(steps)
	if err != nil {
		return fmt.Errorf("encode the journal: %w", err)
	}
	name := filepath.FromSlash(journalName)
	if err := root.WriteFile(name+".new", data, 0o644); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	if err := root.Rename(name+".new", name); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}

// steps orders the work: what must go first, assets before the rest, and what
// may go last. The manifest is not part of it.
func (b *builder) steps(now map[string]bool, gone []string) journal {
	folders := map[string]bool{}
	for name := range now {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	var j journal
	for _, name := range gone {
		blocks := folders[name]
		for dir := path.Dir(name); dir != "." && !blocks; dir = path.Dir(dir) {
			blocks = now[dir]
		}
		if blocks {
			j.Clear = append(j.Clear, name)
		} else {
			j.Delete = append(j.Delete, name)
		}
	}
	j.Install = slices.Clone(b.changed)
	slices.SortStableFunc(j.Install, func(x, y string) int { return rank(x) - rank(y) })
	return j
}

func rank(name string) int {
	if strings.HasPrefix(name, assetsFolder+"/") {
		return 0
	}
	return 1
}

// recoverStage finishes a build that was interrupted after its journal was
// written, and throws away one that was interrupted before.
func recoverStage(root *os.Root) (finished bool, err error) {
	data, err := root.ReadFile(filepath.FromSlash(journalName))
	if errors.Is(err, fs.ErrNotExist) {
		if err := root.RemoveAll(stageFolder); err != nil {
			return false, fmt.Errorf("clear the stage of an interrupted build: %w", err)
		}
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the journal of an interrupted build: %w", err)
	}
	var steps journal
	if err := json.Unmarshal(data, &steps); err != nil {
		return false, fmt.Errorf("journal of an interrupted build: %w; delete the folder %s and build again", err, stageFolder)
	}
	return true, apply(root, steps)
}

// apply does the steps of a journal and then removes the stage. Steps that
// were done before are skipped, so it can be repeated after a crash.
func apply(root *os.Root, steps journal) error {
	if err := remove(root, steps.Clear); err != nil {
		return err
	}
	for _, slashed := range steps.Install {
		name := filepath.FromSlash(slashed)
		staged := filepath.Join(filepath.FromSlash(stagedFolder), name)
		if _, err := root.Lstat(staged); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("put %s in place: %w", slashed, err)
		}
		if err := root.Rename(staged, name); err != nil {
			return fmt.Errorf("put %s in place: %w", slashed, err)
		}
	}
	if err := remove(root, steps.Delete); err != nil {
		return err
	}
	// The journal last: without it the rest of the stage is rubbish.
	if err := root.RemoveAll(stagedFolder); err != nil {
		return fmt.Errorf("clear the stage: %w", err)
	}
	if err := root.RemoveAll(stageFolder); err != nil {
		return fmt.Errorf("clear the stage: %w", err)
	}
	return nil
}

// remove deletes files of an earlier build and the folders that they leave
// empty. A folder that holds something foreign stays.
func remove(root *os.Root, names []string) error {
	for _, slashed := range names {
		name := filepath.FromSlash(slashed)
		if info, err := root.Lstat(name); err == nil && info.IsDir() {
			continue // somebody replaced our file by a folder
		}
		if err := root.Remove(name); err != nil && !missing(err) {
			return fmt.Errorf("delete %s of an earlier build: %w", slashed, err)
		}
		for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
			if root.Remove(dir) != nil {
				break
			}
		}
	}
	return nil
}

// missing reports whether nothing stands at a name, be it that a folder on the
// way to it is a file.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
