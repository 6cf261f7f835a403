//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// usedTime is the time that processors have spent on this process.
func usedTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkReload is a reload after one record has changed, and the first load. The
// time of all processors is cpu-ms.
func BenchmarkReload(b *testing.B) {
	for _, n := range []int{72, 2000} {
		dir := b.TempDir()
		writeCopies(b, dir, n)
		names, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.json"))
		if err != nil || len(names) != n {
			b.Fatalf("%d files, %v", len(names), err)
		}
		slices.Sort(names)
		load := func(b *testing.B, l *loader) {
			snapshot, err := l.Load(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if err := snapshot.Close(); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("first-%d", n), func(b *testing.B) {
			used := usedTime(b)
			for b.Loop() {
				load(b, newLoader(b, dir))
			}
			b.ReportMetric(float64((usedTime(b)-used).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
		b.Run(fmt.Sprintf("again-%d", n), func(b *testing.B) {
			l := newLoader(b, dir)
			load(b, l)
			text, err := os.ReadFile(names[n/2])
			if err != nil {
				b.Fatal(err)
			}
			used := usedTime(b)
			for i := 0; b.Loop(); i++ {
				edited := strings.Replace(string(text), `"documentation": "`, fmt.Sprintf(`"documentation": "Edit %d. `, i), 1)
				if err := os.WriteFile(names[n/2], []byte(edited), 0o644); err != nil {
					b.Fatal(err)
				}
				load(b, l)
			}
			b.ReportMetric(float64((usedTime(b)-used).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}
