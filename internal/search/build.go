package search

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"errorkb/internal/kb"

	"github.com/blevesearch/bleve/v2"
)

// dirName is the index in a data directory; stampName in it says what it is
// and is written last.
const (
	dirName   = "search.bleve"
	stampName = "stamp.json"
)

// stamp is what an index must be to be trusted.
type stamp struct {
	Dataset string            `json:"dataset"`
	Mapping int               `json:"mapping"`
	Files   map[string]string `json:"files"` // path → SHA-256
}

// step is called between the steps of a build; tests stop there.
var step = func(name string) {}

// building lets one build run at a time in this process.
var building sync.Mutex

// Open opens the index of set in dir, a data directory that this process has
// locked. The index is built first, reporting its progress where that is not
// nil, unless the one that is there is whole and of the same data set and
// mapping. An Index that has the old one open keeps it.
func Open(ctx context.Context, dir string, set *kb.Set, progress func(done, total int)) (*Index, error) {
	building.Lock()
	defer building.Unlock()
	if len(set.Records) == 0 {
		return &Index{version: set.Version}, nil // Bleve's builder needs a document
	}
	path := filepath.Join(dir, dirName)
	if x, err := openDir(ctx, path, set.Version); err == nil {
		return x, nil
	} else if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := buildDir(ctx, path, set, progress); err != nil {
		return nil, explain(dir, err)
	}
	x, err := openDir(ctx, path, set.Version)
	if err != nil {
		return nil, explain(dir, err)
	}
	x.rebuilt = true
	return x, nil
}

// openDir opens the index at path if it is whole and holds the data set that
// version names.
func openDir(ctx context.Context, path, version string) (*Index, error) {
	dataset, err := readStamp(ctx, path)
	if err != nil {
		return nil, err
	}
	if dataset != version {
		return nil, fmt.Errorf("index of data set %q, want %q", dataset, version)
	}
	// Without a timeout Bleve waits for ever for a lock that another process
	// has.
	b, err := bleve.OpenUsing(path, map[string]any{"read_only": true, "bolt_timeout": "1s"})
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err) // b is not to be used, though it may not be nil
	}
	return &Index{bleve: b, version: version}, nil
}

// readStamp gives the data set of the index at path, which is whole and of the
// mapping of this program.
func readStamp(ctx context.Context, path string) (dataset string, err error) {
	text, err := os.ReadFile(filepath.Join(path, stampName))
	if err != nil {
		return "", err
	}
	var s stamp
	if err := json.Unmarshal(text, &s); err != nil {
		return "", fmt.Errorf("%s: %w", stampName, err)
	}
	if s.Mapping != mappingVersion {
		return "", fmt.Errorf("index of mapping %d, want %d", s.Mapping, mappingVersion)
	}
	// Bleve maps its files and trusts their bytes: damage would be a crash in
	// the middle of a search.
	sums, err := fileSums(ctx, path)
	if err != nil {
		return "", err
	}
	if !maps.Equal(sums, s.Files) {
		return "", errors.New("checksums of the index do not match its stamp")
	}
	return s.Dataset, nil
}

// buildDir makes the index of set aside, of the one that is there when it can, and
// renames it to path. Whatever moment it ends at, what lies at path is whole,
// missing, or has no stamp.
func buildDir(ctx context.Context, path string, set *kb.Set, progress func(done, total int)) error {
	aside, old := path+".new", path+".old"
	for _, left := range []string{aside, old} {
		if err := os.RemoveAll(left); err != nil {
			return err
		}
	}
	if err := fillDir(ctx, path, aside, set, progress); err != nil {
		os.RemoveAll(aside) // best effort: the next build does it again
		return err
	}
	step("stamped")
	// A directory cannot be renamed over another one that is not empty.
	if err := os.Rename(path, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	step("between")
	if err := os.Rename(aside, path); err != nil {
		return err
	}
	step("renamed")
	return os.RemoveAll(old)
}

func fillDir(ctx context.Context, path, aside string, set *kb.Set, progress func(done, total int)) error {
	if err := fillFromOld(ctx, path, aside, set, progress); err != nil {
		// Whatever the reason: building needs nothing of the old one.
		if err := os.RemoveAll(aside); err != nil {
			return err
		}
		if err := build(ctx, aside, set, progress); err != nil {
			return err
		}
	}
	if err := writeDocuments(aside, set); err != nil {
		return err
	}
	sums, err := fileSums(ctx, aside)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(stamp{set.Version, mappingVersion, sums}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(aside, stampName), append(text, '\n'), 0o600)
}

// build makes the index of a set, without a stamp.
func build(ctx context.Context, aside string, set *kb.Set, progress func(done, total int)) error {
	if err := os.Mkdir(aside, 0o700); err != nil {
		return err
	}
	work := filepath.Join(aside, "work") // on the same file system, for its rename
	if err := os.Mkdir(work, 0o700); err != nil {
		return err
	}
	b, err := bleve.NewBuilder(aside, indexMapping(), map[string]any{"buildPathPrefix": work})
	if err != nil {
		return fmt.Errorf("build index: %w", err)
	}
	step("created")
	half := func(done, total int) {
		if progress != nil {
			progress(done, total)
		}
		if done == total/2 {
			step("half")
		}
	}
	if err := eachDocument(ctx, set, half, b.Index); err != nil {
		return err // what the builder holds lies in aside and goes with it
	}
	if err := b.Close(); err != nil {
		return fmt.Errorf("build index: %w", err)
	}
	step("built")
	return os.RemoveAll(work)
}

// fileSums are the checksums of the files below dir, the stamp apart.
func fileSums(ctx context.Context, dir string) (map[string]string, error) {
	sums := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == stampName {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		h := sha256.New()
		if _, err := io.Copy(h, f); err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		sums[filepath.ToSlash(name)] = hex.EncodeToString(h.Sum(nil))
		return nil
	})
	return sums, err
}

// explain says what a failure to write the index means and what the owner of
// the data directory can do.
func explain(dir string, err error) error {
	advice := ""
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	// Bleve keeps only the text of what the system said.
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT),
		strings.Contains(err.Error(), syscall.ENOSPC.Error()), strings.Contains(err.Error(), syscall.EDQUOT.Error()):
		advice = "the disk is full: free some space or choose another data directory: "
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		advice = "it cannot be written: change its permissions or choose another data directory: "
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		advice = "it is not a directory that can be used: choose another data directory: "
	}
	return fmt.Errorf("search index in data directory %s: %s%w", dir, advice, err)
}
