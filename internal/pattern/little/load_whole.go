//go:build amd64 || arm64 || wasm

package little

import "unsafe"

// These platforms have the lowest byte first and load numbers from any address.

// Uint32 is the number in the first four bytes.
func Uint32(b []byte) uint32 {
	return *(*uint32)(unsafe.Pointer((*[4]byte)(b)))
}

// Uint64 is the number in the first eight bytes.
func Uint64(b []byte) uint64 {
	return *(*uint64)(unsafe.Pointer((*[8]byte)(b)))
}
