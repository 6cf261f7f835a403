package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// explain says what a failure to write the data directory means and what its
// owner can do. Other errors only get the directory added.
func explain(dir string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	code := 0
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		if code = e.Code(); code == sqlite3.SQLITE_IOERR_SHMSIZE {
			code = sqlite3.SQLITE_FULL // there was no room for the index of the log
		}
		code &= 0xff // the primary code of an extended one
	}
	advice := ""
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), code == sqlite3.SQLITE_FULL:
		advice = "the disk is full: free some space or choose another data directory"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), code == sqlite3.SQLITE_READONLY, code == sqlite3.SQLITE_PERM:
		advice = "it cannot be written: change its permissions or choose another data directory"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), code == sqlite3.SQLITE_CANTOPEN:
		advice = "it is not a directory that can be used: choose another data directory"
	case code == sqlite3.SQLITE_BUSY, code == sqlite3.SQLITE_LOCKED:
		advice = "its database is locked by another program: stop that one or choose another data directory"
	case code == sqlite3.SQLITE_IOERR:
		advice = "the disk reported an error: check it or choose another data directory"
	default:
		return fmt.Errorf("data directory %s: %w", dir, err)
	}
	return fmt.Errorf("data directory %s: %s: %w", dir, advice, err)
}
