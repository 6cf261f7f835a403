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
