// Package site writes the knowledge base as a folder of plain files, which any
// file server can show. Call Build.
//
// The pages are the renderer's documents, unchanged: a file holds the same
// bytes as the server's answer at the same address. FileName says which file
// that is; a few more files tell hosts about redirects and content types, and
// the manifest lists all that was written.
//
// A build never leaves a half-written site: see stage.go.
package site

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"errorkb/internal/kb"
	"errorkb/internal/render"
	"errorkb/web"
)

// Source offers the documents of the site. The renderer is one.
type Source interface {
	// Addresses lists every address that has a document.
	Addresses(ctx context.Context) ([]string, error)
	Document(ctx context.Context, address string) (render.Document, error)
}

// Options say what to build besides the documents of the source.
type Options struct {
	Base     render.Base // the path that the site lives under; no part of file names
	Set      *kb.Set     // the records, for the manifest
	Assets   []web.File  // what the browser loads
	NotFound []byte      // the page of an address that does not exist
	// Diagnosis answers pastes in the browser. Nil leaves it out: pages then say
	// where a diagnosis is to be had.
	Diagnosis *Diagnosis
	Previous  *Manifest             // of the last release; nil takes the one in the folder
	Progress  func(done, total int) // nil is silent; called from one goroutine at a time
}

// Report counts what a build did.
type Report struct {
	Files     int   // in the site, the manifest included
	Bytes     int64 // of all files
	Written   int   // new or changed
	Unchanged int
	Deleted   int  // of an earlier build, and no longer part of the site
	Recovered bool // an interrupted build was finished first
}

// Build writes the site into the folder out, which is made when it is missing.
// Only what changed is written; only files that an earlier build wrote are
// deleted. It fails with a *ReleaseError when the new site would break a
// promise of the last one, and with a *ForeignError when a file that is not
// ours stands in the way; the folder is untouched then.
func Build(ctx context.Context, source Source, out string, options Options) (Report, error) {
	var report Report
	if err := os.MkdirAll(out, 0o755); err != nil {
		return report, fmt.Errorf("make the folder of the site: %w", err)
	}
	unlock, err := lock(out)
	if err != nil {
		return report, err
	}
	defer unlock()
	root, err := os.OpenRoot(out)
	if err != nil {
		return report, fmt.Errorf("open the folder of the site: %w", err)
	}
	defer root.Close()

	if report.Recovered, err = recoverStage(root); err != nil {
		return report, err
	}
	previous, err := readManifest(root)
	if err != nil {
		return report, err
	}
	promised := options.Previous
	if promised == nil {
		promised = previous
	}
	records := publications(options.Set)
	if err := checkRelease(promised, records); err != nil {
		return report, err
	}

	b := &builder{root: root, previous: previous.paths(), progress: options.Progress}
	defer b.discard()
	if err := b.plan(ctx, source, options); err != nil {
		return report, err
	}
	if err := b.stageAll(ctx); err != nil {
		return report, err
	}
	manifest := &Manifest{Version: manifestVersion, DatasetVersion: options.Set.Version, Files: b.files, Records: records}
	if err := b.commit(manifest, &report); err != nil {
		return report, err
	}
	return report, nil
}

// A target is one file of the site and the way to make its content.
type target struct {
	name string
	make func(ctx context.Context) ([]byte, error)
}

// builder is the state of one build.
type builder struct {
	root     *os.Root
	previous map[string]bool // files that the last build wrote
	targets  []target        // sorted by name
	progress func(done, total int)

	mu      sync.Mutex
	files   []File   // of the new site, in the order of targets
	changed []string // staged
	foreign []string // in the way
	done    int
}

// plan decides the files of the site.
func (b *builder) plan(ctx context.Context, source Source, options Options) error {
	addresses, err := source.Addresses(ctx)
	if err != nil {
		return fmt.Errorf("list the addresses of the site: %w", err)
	}
	if len(addresses) == 0 {
		return errors.New("the site has no address: nothing to build")
	}
	var redirects redirectList
	for _, address := range addresses {
		name, err := FileName(options.Base, address)
		if err != nil {
			return err
		}
		b.add(name, func(ctx context.Context) ([]byte, error) {
			document, err := source.Document(ctx, address)
			if err != nil {
				return nil, fmt.Errorf("render %s: %w", address, err)
			}
			if document.Location != "" {
				redirects.add(address, document)
			}
			if len(document.Body) == 0 {
				return nil, fmt.Errorf("render %s: the document is empty", address)
			}
			return document.Body, nil
		})
	}
	if err := b.planAssets(options.Base, options.Assets); err != nil {
		return err
	}
	diagnosis, err := b.planDiagnosis(options)
	if err != nil {
		return err
	}
	b.addContent(headersName, headers(options.Base, diagnosis.headers(options.Base)))
	slices.SortFunc(b.targets, func(x, y target) int { return strings.Compare(x.name, y.name) })
	if err := b.checkNames(); err != nil {
		return err
	}
	// Last, since the redirects are known when every document has been made.
	b.add(redirectsName, func(context.Context) ([]byte, error) { return redirects.file(options.Base), nil })
	return nil
}

func (b *builder) planAssets(base render.Base, assets []web.File) error {
	if len(assets) == 0 {
		return errors.New("the site has no assets")
	}
	for _, asset := range assets {
		name, err := FileName(base, base.Address(render.PlaceAsset, asset.Path))
		if err != nil {
			return err
		}
		b.addContent(name, asset.Data)
	}
	return nil
}

func (b *builder) add(name string, make func(context.Context) ([]byte, error)) {
	b.targets = append(b.targets, target{name, make})
}

func (b *builder) addContent(name string, content []byte) {
	b.add(name, func(context.Context) ([]byte, error) { return content, nil })
}

// checkNames refuses two documents for one file, and a file that another one
// needs as a folder.
func (b *builder) checkNames() error {
	taken := make(map[string]bool, len(b.targets))
	for _, t := range b.targets {
		if taken[t.name] {
			return fmt.Errorf("two addresses of the site share the file %q", t.name)
		}
		taken[t.name] = true
	}
	for _, t := range b.targets {
		for dir := path.Dir(t.name); dir != "."; dir = path.Dir(dir) {
			if taken[dir] {
				return fmt.Errorf("the site needs %q both as a file and as the folder of %q", dir, t.name)
			}
		}
	}
	return nil
}

// stageAll makes every file and puts the changed ones into the stage. The
// content of one file a worker is all that is in memory.
func (b *builder) stageAll(ctx context.Context) error {
	if err := openStage(b.root); err != nil {
		return err
	}
	last := len(b.targets) - 1
	b.files = make([]File, len(b.targets))
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(max(2, runtime.GOMAXPROCS(0)))
	for i := range b.targets[:last] {
		group.Go(func() error { return b.stage(inner, i) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := b.stage(ctx, last); err != nil {
		return err
	}
	slices.SortFunc(b.files, func(x, y File) int { return strings.Compare(x.Path, y.Path) })
	slices.Sort(b.changed)
	if len(b.foreign) > 0 {
		slices.Sort(b.foreign)
		return &ForeignError{Paths: b.foreign}
	}
	return nil
}

// stage makes one file and compares it with what the folder holds.
func (b *builder) stage(ctx context.Context, i int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t := b.targets[i]
	content, err := t.make(ctx)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	file := File{Path: t.name, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}

	name := filepath.FromSlash(t.name)
	old, err := b.root.ReadFile(name)
	same := err == nil && bytes.Equal(old, content)
	foreign := !same && b.inTheWay(t.name)
	if !same && !foreign {
		if err := writeStaged(b.root, name, content); err != nil {
			return err
		}
	}

	b.mu.Lock()
	defer b.mu.Unlock()
	b.files[i] = file
	switch {
	case foreign:
		b.foreign = append(b.foreign, t.name)
	case !same:
		b.changed = append(b.changed, t.name)
	}
	b.done++
	if b.progress != nil {
		b.progress(b.done, len(b.targets))
	}
	return nil
}

// inTheWay reports whether something that no build wrote keeps a file from
// being put at a name: a file at the name or where a folder on the way has to
// be, or a folder at the name that holds anything else than our files.
func (b *builder) inTheWay(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := b.root.Lstat(filepath.FromSlash(dir)); err == nil && !info.IsDir() {
			return !b.previous[dir]
		}
	}
	info, err := b.root.Lstat(filepath.FromSlash(name))
	switch {
	case err != nil:
		return !missing(err)
	case info.IsDir():
		return !b.ownFolder(name)
	}
	return !b.previous[name]
}

// ownFolder reports whether a folder holds files of an earlier build, and
// nothing else.
func (b *builder) ownFolder(name string) bool {
	own := false
	err := fs.WalkDir(b.root.FS(), name, func(inside string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if !b.previous[inside] {
			return fs.ErrExist
		}
		own = true
		return nil
	})
	return own && err == nil
}

// ForeignError says that files which no build wrote stand where the site's own
// would go.
type ForeignError struct{ Paths []string }

// The number of names that a message lists before it only counts them.
const listed = 5

func (e *ForeignError) Error() string {
	names := e.Paths[:min(listed, len(e.Paths))]
	more := ""
	if n := len(e.Paths) - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("not written by an earlier build, so left alone: %s%s; move them away or choose another folder",
		strings.Join(names, ", "), more)
}
