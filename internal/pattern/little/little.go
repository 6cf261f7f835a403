// Package little reads and writes numbers in bytes, the lowest byte first, and of any
// length with seven bits to the byte, as encoding/binary does. That package brings
// reflect into the program for the browser, where moreover each number is loaded byte
// by byte: the compiler joins such loads on processors, but not for WebAssembly.
package little

// AppendUint32 appends v.
func AppendUint32(dst []byte, v uint32) []byte {
	return append(dst, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
}

// AppendUint64 appends v.
func AppendUint64(dst []byte, v uint64) []byte {
	return AppendUint32(AppendUint32(dst, uint32(v)), uint32(v>>32))
}

// PutUint32 sets the first four bytes.
func PutUint32(b []byte, v uint32) {
	_ = b[3]
	b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
}

// PutUint64 sets the first eight bytes.
func PutUint64(b []byte, v uint64) {
	_ = b[7]
	PutUint32(b, uint32(v))
	PutUint32(b[4:], uint32(v>>32))
}

// AppendUvarint appends v in as many bytes as it needs, one to ten.
func AppendUvarint(dst []byte, v uint64) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

// Uvarint is the number at the front and the bytes it takes, 0 and 0 when there is no
// whole number or it has more than 64 bits.
func Uvarint(b []byte) (v uint64, n int) {
	for i, c := range b[:min(len(b), 10)] {
		if i == 9 && c > 1 {
			return 0, 0
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// byByte32 and byByte64 are Uint32 and Uint64 for any platform.

func byByte32(b []byte) uint32 {
	_ = b[3]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func byByte64(b []byte) uint64 {
	_ = b[7]
	return uint64(byByte32(b)) | uint64(byByte32(b[4:]))<<32
}
