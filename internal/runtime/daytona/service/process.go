package service

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// processes are the programs that run in one sandbox. Each leads a process
// group of its own; programs that left their group are found by the mark in
// their environment.
type processes struct {
	mark string

	mu     sync.Mutex
	leader map[*process]bool
	halted bool // nothing may start
}

var errHalted = errors.New("the sandbox is not started")

// markVariable holds the mark of a sandbox.
const markVariable = "DAYTONA_SANDBOX_MARK"

func newProcesses(mark string) *processes {
	return &processes{mark: mark, leader: map[*process]bool{}}
}

// process is one program that was started here.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended; code is set then
	code int           // 128 + signal when a signal ended it

	mu     sync.Mutex
	reaped bool // its number may belong to another process
}

// run starts a program with start, which has to lead a group or a session of
// its own, and waits for it in the background.
func (p *processes) run(cmd *exec.Cmd, start func() error) (*process, error) {
	x := &process{cmd: cmd, done: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.halted {
		return nil, errHalted
	}
	if err := start(); err != nil {
		return nil, err
	}
	p.leader[x] = true
	go func() {
		x.reap()
		x.code = exitCode(cmd.ProcessState)
		p.mu.Lock()
		delete(p.leader, x)
		p.mu.Unlock()
		close(x.done)
	}()
	return x, nil
}

// finish waits for the program and for its output, as cmd.Wait does.
func (x *process) finish() {
	_ = x.cmd.Wait() // its state tells the outcome
	x.mu.Lock()
	x.reaped = true
	x.mu.Unlock()
}

// kill ends a program and its group.
func (x *process) kill() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.reaped {
		killGroup(x.cmd.Process)
	}
}

// admit lets programs start again.
func (p *processes) admit() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.halted = false
}

// rounds bounds how often killAll looks for programs that were started while
// it ended others.
const rounds = 20

// killAll ends all programs of the sandbox, waits until those that were started
// here are gone, and lets no other start.
func (p *processes) killAll() {
	for range rounds {
		p.mu.Lock()
		p.halted = true
		leaders := make([]*process, 0, len(p.leader))
		for x := range p.leader {
			leaders = append(leaders, x)
		}
		p.mu.Unlock()
		for _, x := range leaders {
			x.kill()
		}
		for _, x := range leaders {
			<-x.done
		}
		if killMarked(markVariable+"="+p.mark) == 0 && len(leaders) == 0 {
			return
		}
	}
}

// outputDelay is how long the output of a command that has ended is read on
// when a program that it left behind holds it open.
const outputDelay = 200 * time.Millisecond

// command prepares a program of a sandbox.
func (b *sandbox) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = b.home()
	cmd.Env = b.environ(nil)
	cmd.WaitDelay = outputDelay
	return cmd
}

// environ is the environment of programs of a sandbox. It holds nothing of the
// environment of this process but the search path.
func (b *sandbox) environ(extra map[string]string) []string {
	path := os.Getenv("PATH")
	if path == "" {
		path = "/usr/local/bin:/usr/bin:/bin"
	}
	env := []string{
		"PATH=" + path, "HOME=" + b.home(), "TMPDIR=" + filepath.Join(b.dir, "tmp"), "USER=daytona", "LOGNAME=daytona",
		"SHELL=" + b.service.shell, "LANG=C.UTF-8", "DAYTONA_SANDBOX_ID=" + b.id,
	}
	for _, vars := range []map[string]string{b.env, extra} {
		for name, value := range vars {
			env = append(env, name+"="+value)
		}
	}
	return append(env, markVariable+"="+b.mark)
}
