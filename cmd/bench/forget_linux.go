package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// forget lets the system drop a file from memory.
func forget(name string) error {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED), file.Close()); err != nil {
		return fmt.Errorf("drop %s from memory: %w", name, err)
	}
	return nil
}
