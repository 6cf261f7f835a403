package eval

import (
	"os"
	"testing"
)

// Shared gives the folder of the shared cases and catalogues. Tests over all
// of them measure answers, on one goroutine; under the race detector they
// would take most of the gate's time and find nothing, so the gate runs them
// without it.
func Shared(t *testing.T) string {
	t.Helper()
	if underRaceDetector {
		t.Skip("measures answers: runs without the race detector")
	}
	dir := os.Getenv("KB_SHARED")
	if dir == "" {
		t.Skip("set KB_SHARED to the folder that holds eval/ to run this test")
	}
	return dir
}
