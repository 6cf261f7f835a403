//go:build unix

package host_test

import (
	"testing"

	"errorkb/internal/runtime/environment"
	"errorkb/internal/runtime/fixture"
	"errorkb/internal/runtime/host"
)

// BenchmarkChannel sends pieces through the host to a worker process and back,
// one after the other.
func BenchmarkChannel(b *testing.B) {
	for name, size := range map[string]int{"64 B": 64, "32 KiB": 32 << 10} {
		b.Run(name, func(b *testing.B) {
			h, err := host.New(host.Config{})
			if err != nil {
				b.Fatal(err)
			}
			defer h.Close()
			h.Plugins.Install(fixture.Plugin("p1"))
			if _, err := h.StartWorker(b.Context(), "p1", command(b)); err != nil {
				b.Fatal(err)
			}
			got, err := h.Service.Acquire(b.Context(), input(fixtureEnv("")))
			if err != nil {
				b.Fatal(err)
			}
			channel, data := openAgain(b, h, got), make([]byte, size)
			b.SetBytes(int64(size))
			for sent := int64(0); b.Loop(); {
				if sent += int64(size); sent > 200<<20 { // a channel carries 256 MiB
					channel.close()
					channel, sent = openAgain(b, h, got), 0
				}
				if _, err := channel.write(data); err != nil {
					b.Fatal(err)
				}
				for left := size; left > 0; {
					left -= <-channel.arrived
				}
			}
			channel.close()
		})
	}
}

type benchChannel struct {
	write   func([]byte) (int, error)
	close   func() error
	arrived chan int
}

func openAgain(b *testing.B, h *host.Host, got environment.Acquired) benchChannel {
	b.Helper()
	c, err := h.Service.OpenDuplexChannel(b.Context(), environment.DuplexInput{
		LeaseInput: environment.LeaseInput{Environment: got.Environment, Lease: got.Lease}, Command: []string{"cat"}})
	if err != nil {
		b.Fatal(err)
	}
	arrived := make(chan int, 100)
	c.OnData(func(p []byte) { arrived <- len(p) })
	return benchChannel{c.Write, c.Close, arrived}
}
