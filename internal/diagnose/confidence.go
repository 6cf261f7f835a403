package diagnose

import (
	"math"
	"sort"
)

// point is a score and the share of answers with it that were right.
type point struct{ score, share float64 }

// confidenceOf maps a score to the share of such answers that are right, by the
// curve that eval/calibrate fitted: of answers given with 0.9, nine in ten are.
// It never falls, and is never certain.
func confidenceOf(score float64) float64 {
	k := sort.Search(len(curve), func(k int) bool { return curve[k].score > score })
	share := 0.0
	switch {
	case k == 0:
		share = curve[0].share
	case k == len(curve):
		share = curve[k-1].share
	default:
		a, b := curve[k-1], curve[k]
		share = a.share + (b.share-a.share)*(score-a.score)/(b.score-a.score)
	}
	return math.Round(share*100) / 100
}
