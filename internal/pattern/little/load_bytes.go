//go:build !(amd64 || arm64 || wasm)

package little

// Uint32 is the number in the first four bytes.
func Uint32(b []byte) uint32 { return byByte32(b) }

// Uint64 is the number in the first eight bytes.
func Uint64(b []byte) uint64 { return byByte64(b) }
