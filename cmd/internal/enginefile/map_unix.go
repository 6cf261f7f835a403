//go:build unix

package enginefile

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a file into memory, to be read only.
func mapFile(name string) (data []byte, unmap func() error, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close() // the mapping stays
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Size() == 0 {
		return nil, func() error { return nil }, nil
	}
	if info.Size() != int64(int(info.Size())) {
		return nil, nil, fmt.Errorf("%d bytes are too many to map", info.Size())
	}
	data, err = unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("map %s: %w", name, err)
	}
	return data, func() error { return unix.Munmap(data) }, nil
}
