//go:build !linux

package main

import "errors"

// forget lets the system drop a file from memory.
func forget(string) error { return errors.ErrUnsupported }
