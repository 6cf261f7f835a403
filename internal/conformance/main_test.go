package conformance

import (
	"flag"
	"os"
	"testing"

	"errorkb/internal/runtime/fixture"
)

var update = flag.Bool("update", false, "write the canonical form of scenarios")

func TestMain(m *testing.M) {
	RunWorkerIfAsked()
	os.Exit(fixture.CheckLeaks(m.Run))
}
