package main

import "testing"

// The benchmark runs to its end with few patterns and a short log, and finds the
// error in every paste.
func TestRun(t *testing.T) {
	b := bench{rounds: 1, log: 64 << 10, only: "build,open,paste"}
	if err := b.run("50,100", ""); err != nil {
		t.Fatal(err)
	}
	if len(b.order) < 5 {
		t.Fatalf("rows %q", b.order)
	}
	for _, cell := range b.rows["pastes whose error is found"] {
		if cell != "100.0 %" {
			t.Errorf("errors are found in %s of the pastes", cell)
		}
	}
	if err := b.run("many", ""); err == nil {
		t.Error("a size that is no number is accepted")
	}
}
