package diagnose

import "math"

// confidenceOf maps a score to the share of such answers that are right.
func confidenceOf(score float64) float64 {
	c := 1 / (1 + math.Exp(-1.6*(score-2.4)))
	return math.Round(math.Min(c, 0.99)*100) / 100
}
