package little

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// FuzzLittle states that the functions do what those of encoding/binary do, on any
// place of a text.
func FuzzLittle(f *testing.F) {
	f.Add([]byte("\x01\x82\x83\x04\x05\x86\x07\x88\x09\xff\xff"), uint64(1))
	f.Add(bytes.Repeat([]byte{0xff}, 20), ^uint64(0))
	f.Add(append(bytes.Repeat([]byte{0x80}, 9), 1), uint64(1)<<63)
	f.Add(append(bytes.Repeat([]byte{0x80}, 9), 2), uint64(1)<<7)
	f.Add([]byte(nil), uint64(0))
	f.Fuzz(func(t *testing.T, text []byte, v uint64) {
		order := binary.LittleEndian
		for at := range text {
			b := text[at:]
			if len(b) >= 4 {
				if want := order.Uint32(b); Uint32(b) != want || byByte32(b) != want {
					t.Errorf("Uint32 of %x: %x, byte by byte %x, want %x", b[:4], Uint32(b), byByte32(b), want)
				}
			}
			if len(b) >= 8 {
				if want := order.Uint64(b); Uint64(b) != want || byByte64(b) != want {
					t.Errorf("Uint64 of %x: %x, byte by byte %x, want %x", b[:8], Uint64(b), byByte64(b), want)
				}
				got, want := bytes.Clone(b), bytes.Clone(b)
				PutUint64(got, v)
				order.PutUint64(want, v)
				PutUint32(got[2:], uint32(v>>7))
				order.PutUint32(want[2:], uint32(v>>7))
				if !bytes.Equal(got, want) {
					t.Errorf("%x put into %x: %x, want %x", v, b, got, want)
				}
			}
			number, size := Uvarint(b)
			wantNumber, wantSize := binary.Uvarint(b)
			if number != wantNumber || size != max(wantSize, 0) {
				t.Errorf("Uvarint of %x: %d in %d bytes, want %d in %d", b, number, size, wantNumber, wantSize)
			}
		}
		got := AppendUvarint(AppendUint64(AppendUint32(nil, uint32(v)), v), v)
		want := binary.AppendUvarint(order.AppendUint64(order.AppendUint32(nil, uint32(v)), v), v)
		if !bytes.Equal(got, want) {
			t.Errorf("appended %x, want %x", got, want)
		}
	})
}

// TestShort states that what is too short for a number is not read past its end.
func TestShort(t *testing.T) {
	whole := make([]byte, 8)
	for n := range 8 {
		if n < 4 {
			mustPanic(t, n, func() { Uint32(whole[:n]) })
			mustPanic(t, n, func() { byByte32(whole[:n]) })
			mustPanic(t, n, func() { PutUint32(whole[:n], 1) })
		}
		mustPanic(t, n, func() { Uint64(whole[:n]) })
		mustPanic(t, n, func() { byByte64(whole[:n]) })
		mustPanic(t, n, func() { PutUint64(whole[:n], 1) })
	}
	if !bytes.Equal(whole, make([]byte, 8)) {
		t.Errorf("written in part: %x", whole)
	}
}

func mustPanic(t *testing.T, n int, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("no panic at %d bytes", n)
		}
	}()
	f()
}
