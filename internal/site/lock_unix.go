//go:build unix

package site

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock keeps a second build out of the folder while one is running. The lock
// is on the folder itself, so it leaves no file and ends with the process.
func lock(out string) (unlock func(), err error) {
	dir, err := os.Open(out)
	if err != nil {
		return nil, fmt.Errorf("open the folder of the site: %w", err)
	}
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		dir.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("another build is writing to %s: wait until it ends", out)
		}
		return nil, fmt.Errorf("lock the folder of the site: %w", err)
	}
	return func() { dir.Close() }, nil
}
