// Package enginefile keeps the diagnosis of a data set in a file, so that a program
// need not work it out at every start. Make opens the file, or makes the diagnosis and
// the file when it does not fit; Open and Write do the one and the other.
//
// The file is a cache of the very program that wrote it. A file of another data set or
// another build of the program is no error, it is written anew.
package enginefile

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"errorkb/internal/diagnose"
)

// Make gives the diagnosis of the entries of a data set: out of the file when it fits,
// else newly made and written to the file. What is wrong with a file that cannot be
// used or written goes to warn; the diagnosis is given all the same. It must not be
// used after close. One process at a time may make a file; others may have it open.
func Make(name, version string, entries []diagnose.Entry, warn func(error)) (engine *diagnose.Engine, close func() error, err error) {
	if err := removeIfThere(name + asideSuffix); err != nil {
		warn(err)
	}
	engine, close, err = Open(name, version, entries)
	switch {
	case err == nil:
		return engine, close, nil
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, diagnose.ErrStamp):
		warn(err)
	}
	engine, err = diagnose.New(version, entries)
	if err != nil {
		return nil, nil, err
	}
	if err := Write(name, engine); err != nil {
		warn(err)
	}
	return engine, func() error { return nil }, nil
}

// Open gives the diagnosis out of the file. It must not be used after close. The error
// wraps fs.ErrNotExist when there is no file, and those of diagnose.Open.
func Open(name, version string, entries []diagnose.Entry) (engine *diagnose.Engine, close func() error, err error) {
	stamp, err := stampOf(version)
	if err != nil {
		return nil, nil, err
	}
	data, unmap, err := mapFile(name)
	if err != nil {
		return nil, nil, fmt.Errorf("open the file of the diagnosis: %w", err)
	}
	engine, err = diagnose.Open(data, stamp, version, entries)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", name, err), unmap())
	}
	return engine, unmap, nil
}

// Write writes the file of a diagnosis. A file that is there is replaced as a whole:
// another process may have mapped it.
func Write(name string, engine *diagnose.Engine) error {
	stamp, err := stampOf(engine.Version())
	if err != nil {
		return err
	}
	wrap := func(err error) error { return fmt.Errorf("write the file of the diagnosis: %w", err) }
	aside := name + asideSuffix
	if err := os.WriteFile(aside, engine.AppendBinary(nil, stamp), 0o600); err != nil {
		return wrap(errors.Join(err, removeIfThere(aside)))
	}
	if err := os.Rename(aside, name); err != nil {
		return wrap(errors.Join(err, removeIfThere(aside)))
	}
	return nil
}

// asideSuffix is added to the name of a file that is being written. A file by this
// name is all that a process can leave that is killed meanwhile.
const asideSuffix = ".new"

func removeIfThere(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// stampOf names a data set and this build of the program. What the file holds depends
// on both.
func stampOf(version string) (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("name the program: %w", err)
	}
	file, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("look at the program: %w", err)
	}
	defer file.Close() // it was only read
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("look at the program: %w", err)
	}
	head := make([]byte, stampedHead)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", fmt.Errorf("look at the program: %w", err)
	}
	return fmt.Sprintf("%s %d %d %x", version, info.Size(), info.ModTime().UnixNano(), sha256.Sum256(head[:n])), nil
}

// stampedHead is how much of a program is looked at: its build id stands near the
// front, and differs where size and time of two programs in images may not.
const stampedHead = 64 << 10
