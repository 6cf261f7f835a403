package render

import (
	"context"
	"testing"
)

func BenchmarkErrorPage(b *testing.B) {
	r := testRenderer(testShelf())
	for b.Loop() {
		if _, err := r.Document(context.Background(), "/errors/acme/tool/socket-busy/"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDiagnosePage(b *testing.B) {
	r := testRenderer(testShelf())
	answer := knownAnswer()
	for b.Loop() {
		if _, err := r.DiagnosePage(context.Background(), []byte(pasted), answer); err != nil {
			b.Fatal(err)
		}
	}
}
