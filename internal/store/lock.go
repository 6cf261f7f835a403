package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// lockName is the file in a data directory that a Lock holds. It stays when
// the Lock ends; its text is the process id of the last holder.
const lockName = "lock"

// Lock is the right of one process to use a data directory.
type Lock struct {
	file *os.File
	path string
}

// errLocked is returned by lockFile when another process has the lock.
var errLocked = errors.New("in use")

// LockDir makes the data directory dir, private to the user, where it is
// missing, and takes its lock. When another process has it, the error says
// which. The lock ends with the process, however that ends.
func LockDir(dir string) (*Lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, explain(dir, err)
	}
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, explain(dir, err)
	}
	if err := lockFile(f); err != nil {
		holder := holder(f)
		f.Close()
		if errors.Is(err, errLocked) {
			return nil, fmt.Errorf("data directory %s is in use by another kb%s; stop that one or choose another data directory", dir, holder)
		}
		return nil, explain(dir, err)
	}
	l := &Lock{file: f, path: path}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	}
	if err != nil {
		l.Unlock()
		return nil, explain(dir, err)
	}
	return l, nil
}

// holder says, for a message, which process wrote the lock file.
func holder(f *os.File) string {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	pid := strings.TrimSpace(string(text))
	if err != nil || pid == "" {
		return ""
	}
	return " (process " + pid + ")"
}

// Renew makes the directory and its lock anew when somebody deleted them while
// the Lock was held. It fails like LockDir, for instance when another process
// has taken the new directory; the Lock is as before then.
func (l *Lock) Renew() error {
	held, err := l.file.Stat()
	if err != nil {
		return fmt.Errorf("look at the lock %s: %w", l.path, err)
	}
	if there, err := os.Stat(l.path); err == nil && os.SameFile(there, held) {
		return nil
	}
	fresh, err := LockDir(filepath.Dir(l.path))
	if err != nil {
		return err
	}
	l.file.Close() // of a file that is gone: nothing can be lost
	l.file = fresh.file
	return nil
}

// Unlock gives the directory free.
func (l *Lock) Unlock() error {
	if err := errors.Join(unlockFile(l.file), l.file.Close()); err != nil {
		return fmt.Errorf("unlock %s: %w", l.path, err)
	}
	return nil
}
