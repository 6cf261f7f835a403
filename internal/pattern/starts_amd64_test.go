package pattern

import "testing"

// BenchmarkFindPortable is BenchmarkFind without what only some processors have.
func BenchmarkFindPortable(b *testing.B) {
	fast := fastStarts
	defer func() { fastStarts = fast }()
	fastStarts = false
	BenchmarkFind(b)
}
