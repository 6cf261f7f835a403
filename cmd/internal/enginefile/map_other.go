//go:build !unix

package enginefile

import "os"

// mapFile reads a file where it cannot be mapped.
func mapFile(name string) (data []byte, unmap func() error, err error) {
	data, err = os.ReadFile(name)
	return data, func() error { return nil }, err
}
