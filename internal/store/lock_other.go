//go:build !unix || solaris || illumos || aix

package store

import (
	"errors"
	"io/fs"
	"os"
)

// Without flock the lock is a second file that exists while it is held. After
// a crash it has to be deleted by hand; the message about the lock names the
// directory.
func lockFile(f *os.File) error {
	held, err := os.OpenFile(f.Name()+".held", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return errLocked
	}
	if err != nil {
		return err
	}
	return held.Close()
}

func unlockFile(f *os.File) error { return os.Remove(f.Name() + ".held") }

// syncDir does nothing: directories cannot be synced here.
func syncDir(string) error { return nil }
