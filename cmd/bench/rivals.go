package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// cpuTime is the CPU time of this process so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it only fails on a bad argument
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// rivals are the programs that scan the same log.
type rivals struct {
	hs      *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	compile float64 // CPU seconds
	why     string  // Hyperscan does not run
	rg      string
	dir     string
	short   int // bytes of log that ripgrep gets
}

// ripgrep takes minutes for a hundred thousand literals on a whole log.
const ripgrepLog = 10 << 20

func startRivals(dir string, s *set) *rivals {
	r := &rivals{dir: dir, short: min(ripgrepLog, len(s.log))}
	files := map[string][]byte{"literals": s.literals(), "log": s.log, "short": s.log[:r.short]}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			r.why = err.Error()
			return r
		}
	}
	if len(s.messages) <= 100_000 {
		r.rg, _ = exec.LookPath("rg") // without it, it is left out
	}
	if err := r.startHyperscan(); err != nil {
		r.stop()
		r.why = err.Error()
	}
	return r
}

func (r *rivals) startHyperscan() error {
	program := filepath.Join(r.dir, "scan")
	args := append([]string{"-O2", "-o", program, filepath.Join("cmd", "bench", "hyperscan", "scan.c")},
		strings.Fields(os.Getenv("KB_BENCH_CC"))...)
	if out, err := exec.Command("cc", append(args, "-lhs")...).CombinedOutput(); err != nil {
		line, _, _ := strings.Cut(string(out), "\n")
		return fmt.Errorf("not built: %w %s", err, line)
	}
	r.hs = exec.Command(program, filepath.Join(r.dir, "literals"), filepath.Join(r.dir, "log"))
	r.hs.Stderr = os.Stderr
	in, err := r.hs.StdinPipe()
	if err != nil {
		return err
	}
	out, err := r.hs.StdoutPipe()
	if err != nil {
		return err
	}
	if err := r.hs.Start(); err != nil {
		r.hs = nil
		return err
	}
	r.in, r.out = in, bufio.NewReader(out)
	var bytes int
	if _, err := fmt.Fscanf(r.out, "ready %f %d\n", &r.compile, &bytes); err != nil {
		return fmt.Errorf("does not compile the literals")
	}
	return nil
}

// hyperscan scans once and returns the CPU seconds, 0 when it cannot.
func (r *rivals) hyperscan() float64 {
	if r.hs == nil {
		return 0
	}
	var seconds float64
	var matches int
	if _, err := fmt.Fprintln(r.in, "scan"); err != nil {
		return 0
	}
	if _, err := fmt.Fscanf(r.out, "%f %d\n", &seconds, &matches); err != nil {
		r.stop()
		r.why = "scan fails"
		return 0
	}
	return seconds
}

// ripgrep counts the lines with a literal and returns its CPU seconds, building
// included, as it is used.
func (r *rivals) ripgrep() float64 {
	if r.rg == "" {
		return 0
	}
	cmd := exec.Command(r.rg, "-j1", "-c", "-a", "-F", "-f", filepath.Join(r.dir, "literals"), filepath.Join(r.dir, "short"))
	if err := cmd.Run(); cmd.ProcessState == nil || err != nil && cmd.ProcessState.ExitCode() != 1 {
		return 0
	}
	u := cmd.ProcessState
	return (u.UserTime() + u.SystemTime()).Seconds()
}

func (r *rivals) stop() {
	if r.hs != nil {
		r.in.Close()
		_ = r.hs.Wait() // its answers were read, or it failed and said so
		r.hs = nil
	}
}
