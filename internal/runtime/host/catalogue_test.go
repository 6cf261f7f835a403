//go:build unix

package host_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"errorkb/internal/runtime/clock"
	"errorkb/internal/runtime/environment"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/host"
	"errorkb/internal/runtime/worker"
)

// must lists the catalogue rows that this runtime has to raise, apart from
// those of the Daytona provider and its client.
var must = strings.Fields(`
	FAC-01 FAC-02 FAC-03 FAC-04 FAC-06 FAC-07 FAC-08 FAC-09
	SBX-02 SBX-03 SBX-04 SBX-05 SBX-06 SBX-15 SBX-16 SBX-17 SBX-18 SBX-19 SBX-20
	PLG-01 PLG-02 PLG-03 PLG-09
	WMG-02 WMG-03 WMG-04 WMG-05 WMG-06 WMG-07 WMG-08 WMG-10 WMG-11 WMG-12 WMG-14 WMG-15 WMG-16 WMG-17 WMG-21
	RPC-01 RPC-02 RPC-03 RPC-04
	PRO-02 PRO-03 PRO-04`)

// row raises one documented error through the path on which a caller meets it.
type row struct {
	name   string // catalogue id, with a remark when there are several ways
	config func(*host.Config)
	raise  func(w *world) error
	want   string
	code   int
	class  string
}

const (
	call   = "JsonRpcCallError"
	denied = "Sandbox lease does not grant the duplex command stream capability."
)

func fake(w *world) environment.LeaseInput { return w.acquire(env("sandbox", nil)) }

func local(w *world) environment.LeaseInput { return w.acquire(env("local", nil)) }

func noWorkers(c *host.Config) { c.NoWorkers = true }

// frozen keeps a crashed worker in its back-off.
func frozen(c *host.Config) { c.Clock = clock.NewFake(time.Unix(0, 0)) }

// crashed starts a worker, takes a lease and lets the worker die.
func crashed(w *world) environment.LeaseInput {
	h := w.worker()
	in := w.acquire(fixtureEnv(""))
	_ = w.execute(in, "kill")
	w.await(h, worker.Backoff)
	return in
}

func rows() []row {
	return slices.Concat(facadeRows(), sandboxRows(), pluginRows(), storeRows(), runRows(), workerRows())
}

// minimal is a driver with the required operations only.
type minimal struct{ environment.Driver }

func (minimal) Key() string { return "minimal" }

func TestCatalogue(t *testing.T) {
	tested := map[string]bool{}
	for _, r := range rows() {
		tested[r.name[:6]] = true
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			err := r.raise(newWorld(t, r.config))
			e := fault.As(err)
			if e == nil {
				t.Fatalf("got %v, want %s", err, r.want)
			}
			if err.Error() != r.want || e.Code != r.code || e.Class != r.class {
				t.Errorf("got  %s (code %d, class %q)\nwant %s (code %d, class %q)", err, e.Code, e.Class, r.want, r.code, r.class)
			}
			if e.Place.IsZero() {
				t.Error("the error does not know where it was raised")
			}
		})
	}
	for _, id := range must {
		if !tested[id] {
			t.Errorf("no row raises %s", id)
		}
	}
}
