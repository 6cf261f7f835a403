package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"errorkb/cmd/internal/cli"
)

// Times of a watch.
const (
	// quiet is how long nothing must happen before changes count as one: an
	// editor or a checkout writes many files in a row.
	quiet = 250 * time.Millisecond
	// retry is how often a folder that went away is looked for.
	retry = 2 * time.Second
)

// watcher tells when something below a folder changes. The system watches
// single folders only, so each folder below is added, new ones when they come.
type watcher struct {
	root   string
	notify *fsnotify.Watcher
}

func newWatcher(root string) (*watcher, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", root, err)
	}
	w := &watcher{root, notify}
	if err := w.addAll(); err != nil {
		notify.Close()
		return nil, err
	}
	return w, nil
}

// addAll watches every folder below the root. Folders that are watched already
// are passed over.
func (w *watcher) addAll() error {
	root, err := filepath.EvalSymlinks(w.root)
	if err != nil {
		return fmt.Errorf("watch the records folder: %w", err)
	}
	return filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name != root:
			return nil // gone in the meantime
		case err != nil:
			return fmt.Errorf("watch the records folder: %w", err)
		case !entry.IsDir():
			return nil
		case name != root && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		}
		err = w.notify.Add(name)
		if errors.Is(err, syscall.ENOSPC) {
			return cli.Hint(fmt.Errorf("watch %s: the system watches no more folders", name),
				"raise the limit fs.inotify.max_user_watches, or reload with SIGHUP instead of --watch")
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("watch %s: %w", name, err)
		}
		return nil
	})
}

// run calls changed after each group of changes until the context ends.
// Failures of the watch itself go to failed; it goes on.
func (w *watcher) run(ctx context.Context, changed func(), failed func(error)) {
	defer w.notify.Close()
	timer := time.NewTimer(quiet)
	timer.Stop()
	missing := false
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-w.notify.Events:
			if concerns(event) {
				timer.Reset(quiet)
			}
		case err := <-w.notify.Errors:
			// Changes may have been lost: look at everything.
			failed(fmt.Errorf("watch the records folder: %w", err))
			timer.Reset(quiet)
		case <-timer.C:
			if err := w.addAll(); err != nil {
				// Say it once, then look until the folder is back.
				if !missing {
					failed(err)
				}
				missing = true
				timer.Reset(retry)
				continue
			}
			missing = false
			changed()
		}
	}
}

// concerns tells changes of records from what editors and systems do besides.
func concerns(event fsnotify.Event) bool {
	name := filepath.Base(event.Name)
	if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") {
		return false
	}
	return event.Has(fsnotify.Create) || event.Has(fsnotify.Write) || event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename)
}
