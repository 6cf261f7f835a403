//go:build unix

package host_test

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"errorkb/internal/runtime/duplex"
	"errorkb/internal/runtime/environment"
)

// line is a two-way connection to a program that sends back what it gets.
type line struct {
	io.Writer
	next  func() ([]byte, error) // waits for output
	close func()
}

// path is a way to such a program: what our channels are measured beside, a
// part of their way, and the whole of it.
type path struct {
	name string
	open func(b *testing.B) opener
}

type opener func() (*line, error)

var paths = []path{
	{"pipe", func(*testing.B) opener { return pipeLine }},
	{"pty", func(*testing.B) opener { return ptyLine }},
	// Host, worker process and back; the worker itself sends back.
	{"worker", func(b *testing.B) opener {
		w := newWorld(b, nil)
		w.worker()
		return channels(w, w.acquire(fixtureEnv("")), []string{"cat"})
	}},
	// Host, worker, service, terminal and back.
	{"sandbox", func(b *testing.B) opener {
		w, _ := daytonaWorld(b)
		open := channels(w, w.acquire(daytonaEnv()), echo)
		return func() (*line, error) { return ready(open()) }
	}},
}

// must opens a line.
func (open opener) must(b *testing.B) *line {
	b.Helper()
	l, err := open()
	if err != nil {
		b.Fatal(err)
	}
	return l
}

// readyMark is what echo prints first. It does not stand in its text, which a
// terminal may show.
const readyMark = "READY"

var echo = []string{"sh", "-c", "printf 'REA%s' DY; exec cat"}

// ready waits for the mark on a line that was just opened.
func ready(l *line, err error) (*line, error) {
	if err != nil {
		return nil, err
	}
	var got []byte
	for !bytes.HasSuffix(got, []byte(readyMark)) {
		data, err := l.next()
		if err != nil {
			l.close()
			return nil, fmt.Errorf("after %q: %w", got, err)
		}
		got = append(got, data...)
	}
	return l, nil
}

func reading(r io.Reader) func() ([]byte, error) {
	buffer := make([]byte, 32<<10)
	return func() ([]byte, error) {
		n, err := r.Read(buffer)
		return buffer[:n], err
	}
}

func pipeLine() (*line, error) {
	cmd := exec.Command(echo[0], echo[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return ready(&line{in, reading(out), func() {
		in.Close()
		_ = cmd.Wait()
	}}, nil)
}

func ptyLine() (*line, error) {
	master, slave, err := pty.Open()
	if err != nil {
		return nil, err
	}
	defer slave.Close()
	if _, err := term.MakeRaw(int(slave.Fd())); err != nil {
		return nil, err
	}
	cmd := exec.Command(echo[0], echo[1:]...)
	cmd.Stdin, cmd.Stdout = slave, slave
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return ready(&line{master, reading(master), func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		master.Close()
	}}, nil)
}

// channels returns what opens channels on a lease.
func channels(w *world, in environment.LeaseInput, command []string) opener {
	return func() (*line, error) {
		c, err := w.Service.OpenDuplexChannel(w.t.Context(), environment.DuplexInput{LeaseInput: in, Command: command})
		if err != nil {
			return nil, err
		}
		arrived, gone := make(chan []byte, 10_000), make(chan struct{})
		c.OnData(func(p []byte) { arrived <- p })
		c.OnExit(func(duplex.Exit) { close(gone) })
		return &line{c, func() ([]byte, error) {
			select {
			case p := <-arrived:
				return p, nil
			case <-gone:
				return nil, io.EOF
			}
		}, func() { c.Close() }}, nil
	}
}

// exchange sends data and waits until as much has come back.
func (l *line) exchange(data []byte) error {
	if _, err := l.Write(data); err != nil {
		return err
	}
	for left := len(data); left > 0; {
		got, err := l.next()
		if err != nil {
			return err
		}
		left -= len(got)
	}
	return nil
}

// percentiles reports the median and the 99th of durations.
func percentiles(b *testing.B, all []time.Duration) {
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2])/1e3, "p50-µs")
	b.ReportMetric(float64(all[len(all)*99/100])/1e3, "p99-µs")
}

// BenchmarkDuplexLatency sends 64 bytes there and back, again and again.
func BenchmarkDuplexLatency(b *testing.B) {
	for _, p := range paths {
		b.Run(p.name, func(b *testing.B) {
			l := p.open(b).must(b)
			defer l.close()
			data, took := make([]byte, 64), []time.Duration(nil)
			for b.Loop() {
				begin := time.Now()
				if err := l.exchange(data); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begin))
			}
			percentiles(b, took)
		})
	}
}

const (
	// piece is what a stream writes at once, ahead how much of it may be on
	// its way.
	piece, ahead = 16 << 10, 128 << 10
	// fill is when a channel is replaced: one carries 256 MiB.
	fill = 200 << 20
)

// stream sends n pieces and waits until all of them have come back.
func (l *line) stream(n int) error {
	data, window, failed := make([]byte, piece), make(chan struct{}, ahead/piece), make(chan error, 1)
	go func() {
		for range n {
			window <- struct{}{}
			if _, err := l.Write(data); err != nil {
				failed <- err
				return
			}
		}
		failed <- nil
	}()
	for got, freed := 0, 0; got < n*piece; {
		data, err := l.next()
		if err != nil {
			return err
		}
		for got += len(data); freed < got/piece; freed++ {
			<-window
		}
	}
	return <-failed
}

// BenchmarkDuplexThroughput sends 1 MiB there and back at a time, with at most
// 128 KiB on the way. What is sent counts once.
func BenchmarkDuplexThroughput(b *testing.B) {
	const size = 1 << 20
	for _, p := range paths {
		b.Run(p.name, func(b *testing.B) {
			open := p.open(b)
			l, sent := open.must(b), 0
			defer func() { l.close() }()
			b.SetBytes(size)
			for b.Loop() {
				if sent += size; sent > fill {
					l.close()
					l, sent = open.must(b), 0
				}
				if err := l.stream(size / piece); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDuplexOpen starts a program and waits for its first output, and
// ends it outside of the measured time.
func BenchmarkDuplexOpen(b *testing.B) {
	for _, p := range paths {
		b.Run(p.name, func(b *testing.B) {
			open, took := p.open(b), []time.Duration(nil)
			for b.Loop() {
				begin := time.Now()
				l := open.must(b)
				took = append(took, time.Since(begin))
				b.StopTimer()
				l.close()
				b.StartTimer()
			}
			percentiles(b, took)
		})
	}
}

// BenchmarkDuplexMany has as many lines open as there can be channels. One
// operation sends 16 KiB there and back on all of them at once.
func BenchmarkDuplexMany(b *testing.B) {
	for _, p := range paths {
		b.Run(fmt.Sprintf("%s×%d", p.name, duplex.DefaultCeiling), func(b *testing.B) {
			open := p.open(b)
			lines, begin := make([]*line, duplex.DefaultCeiling), time.Now()
			together(lines, func(i int) {
				var err error
				if lines[i], err = open(); err != nil {
					b.Error(err)
					lines[i] = &line{close: func() {}}
				}
			})
			opened := time.Since(begin)
			defer together(lines, func(i int) { lines[i].close() })
			if b.Failed() {
				b.FailNow()
			}
			b.SetBytes(piece * duplex.DefaultCeiling)
			for b.Loop() {
				together(lines, func(i int) {
					if err := lines[i].stream(1); err != nil {
						b.Error(err)
					}
				})
			}
			b.ReportMetric(float64(opened.Milliseconds()), "open-ms")
		})
	}
}

func together(lines []*line, do func(i int)) {
	var all sync.WaitGroup
	for i := range lines {
		all.Go(func() { do(i) })
	}
	all.Wait()
}
