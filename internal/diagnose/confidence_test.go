package diagnose

import "testing"

// The curve is one that a confidence can be read from: rising, between 0 and 1,
// and low where nothing speaks for a record.
func TestConfidence(t *testing.T) {
	if len(curve) < 5 {
		t.Fatalf("%d points", len(curve))
	}
	last := -1.0
	for score := -3.0; score < 12; score += 0.05 {
		c := confidenceOf(score)
		if c < last || c < 0 || c > 0.99 {
			t.Fatalf("score %.2f has confidence %.2f behind %.2f", score, c, last)
		}
		last = c
	}
	if c := confidenceOf(0); c > 0.1 {
		t.Errorf("score 0 has confidence %.2f", c)
	}
	if c := confidenceOf(8); c < 0.9 {
		t.Errorf("score 8 has confidence %.2f", c)
	}
}
