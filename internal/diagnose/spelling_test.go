package diagnose

import (
	"context"
	"testing"
)

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"support", "support", 0}, {"suport", "support", 1}, {"dupleks", "duplex", 2}, {"recieve", "receive", 1},
		{"channel", "chapel", 2}, {"channel", "tunnel", 3}, {"", "ab", 2}, {"abcdef", "", 3},
	} {
		if got := editDistance(c.a, c.b, 2); got != c.want {
			t.Errorf("%q %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// A mistyped message is near its record.
func TestNearMistyped(t *testing.T) {
	entries := []Entry{
		{Ref: Ref{ID: "right"}, Template: "Harbour crane ${crane} does not support duplex channels."},
		{Ref: Ref{ID: "crane"}, Template: "Unsupported harbour crane \"${crane}\"."},
		{Ref: Ref{ID: "plugin"}, Template: "Plugin does not declare harbour crane ${crane}"},
		{Ref: Ref{ID: "ready"}, Template: "Harbour crane ${crane} is not ready"},
	}
	engine, err := New("", entries)
	if err != nil {
		t.Fatal(err)
	}
	a := engine.Diagnose(context.Background(), []byte("harbour crane local dose not suport dupleks channel"), Options{})
	if a.Unknown == nil || len(a.Unknown.Near) == 0 {
		t.Fatalf("%+v", a)
	}
	near := a.Unknown.Near[0]
	if near.Record.ID != "right" || near.Similarity < 0.7 {
		t.Errorf("nearest %+v", near)
	}
	for _, word := range append(near.Missing, near.Extra...) {
		if word == "support" || word == "duplex" || word == "channels" {
			t.Errorf("%q counts as another word: %+v", word, near)
		}
	}
}
