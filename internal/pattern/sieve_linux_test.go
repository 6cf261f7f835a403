package pattern

import (
	"bytes"
	"syscall"
	"testing"
)

// TestSieveStaysInside searches texts that stand at the start and at the end of
// memory that may be read. A step beyond it ends the test with a fault.
func TestSieveStaysInside(t *testing.T) {
	page := syscall.Getpagesize()
	const pages = 8
	mem, err := syscall.Mmap(-1, 0, (pages+2)*page, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(mem)
	inside := mem[page : (pages+1)*page]
	if err := syscall.Mprotect(inside, syscall.PROT_READ|syscall.PROT_WRITE); err != nil {
		t.Fatal(err)
	}
	ix := Build(compileAll([]string{"ab cd", "cd ab", "(?i)ab ab"}))
	found := 0
	for n := 1; n < 80; n++ {
		for _, size := range []int{n, blockSize + n} {
			text := bytes.Repeat([]byte("ab cd  - .\n"), size/11+1)[:size]
			for _, place := range [][]byte{inside[:size], inside[len(inside)-size:]} {
				copy(place, text)
				eachWay(func(string) {
					ix.Find(place, func(int, Match) bool {
						found++
						return true
					})
				})
			}
		}
	}
	if found == 0 {
		t.Error("nothing was found")
	}
	// The index may be a mapped file, and so may end where memory does.
	data := ix.AppendBinary(nil, "")
	mapped := inside[len(inside)-len(data):]
	copy(mapped, data)
	opened, err := Open(mapped)
	if err != nil {
		t.Fatal(err)
	}
	eachWay(func(way string) {
		n := 0
		opened.Find([]byte("ab ab cd ab cd ef"), func(int, Match) bool {
			n++
			return true
		})
		if n == 0 {
			t.Errorf("%s: nothing was found with an index at the end of memory", way)
		}
	})
}
