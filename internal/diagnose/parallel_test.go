package diagnose_test

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"errorkb/internal/diagnose"
)

// One engine answers many texts at once, always with the same bytes.
func TestParallel(t *testing.T) {
	engine := seedEngine(t)
	text := []byte("Error: Environment driver \"ssh\" does not support duplex channels.\nSandbox duplex channel needs a plugin id, a provider key, an...\n")
	want := engine.Diagnose(context.Background(), text, diagnose.Options{})
	var wait sync.WaitGroup
	for range 8 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for range 20 {
				got := engine.Diagnose(context.Background(), text, diagnose.Options{})
				if !bytes.Equal(got.AppendJSON(nil), want.AppendJSON(nil)) {
					t.Error("answers to the same text differ")
					return
				}
			}
		}()
	}
	wait.Wait()
}
