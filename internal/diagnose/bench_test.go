package diagnose

import (
	"context"
	"fmt"
	"testing"

	"errorkb/internal/pattern/corpus"
)

// BenchmarkPaste is the diagnosis of a kilobyte of log with one error in it.
func BenchmarkPaste(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e, messages := madeEngine(b, n)
			pastes := corpus.Pastes(500, 1<<10, messages)
			b.ReportAllocs()
			b.SetBytes(1 << 10)
			for i := 0; b.Loop(); i++ {
				if a := e.Diagnose(context.Background(), pastes[i%len(pastes)], Options{}); a.Verdict == VerdictUnknown {
					b.Fatalf("nothing found in %q", pastes[i%len(pastes)])
				}
			}
		})
	}
}

// BenchmarkLog is the diagnosis of a log, as one text and as it is read bit by bit.
func BenchmarkLog(b *testing.B) {
	e, messages := madeEngine(b, 10_000)
	log := corpus.Log(50<<20, messages)
	for name, diagnose := range map[string]func() Answer{
		"whole": func() Answer { return e.Diagnose(context.Background(), log, Options{}) },
		"stream": func() Answer {
			s := e.NewStream(context.Background(), Options{})
			for rest := log; len(rest) > 0; {
				n := min(256<<10, len(rest))
				s.Write(rest[:n])
				rest = rest[n:]
			}
			return s.Answer()
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			for b.Loop() {
				if a := diagnose(); a.Verdict == VerdictUnknown {
					b.Fatal("nothing found")
				}
			}
		})
	}
}
