//go:build unix && !solaris && !illumos && !aix

package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func lockFile(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return errLocked
		default:
			return err
		}
	}
}

func unlockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// syncDir makes renames in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	// File systems that cannot sync a directory say EINVAL; there is nothing
	// more to do on them.
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) {
		d.Close()
		return err
	}
	return d.Close()
}
