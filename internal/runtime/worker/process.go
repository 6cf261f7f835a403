package worker

import (
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"errorkb/internal/runtime/wire"
)

// process is one run of a worker's program, in a process group of its own. It
// knows lines and signals, nothing of the protocol.
type process struct {
	cmd   *exec.Cmd
	stdin *os.File

	mu       sync.Mutex
	queue    []outgoing
	wake     chan struct{} // tells the writer that the queue is not empty
	broken   bool          // nothing can be written any more
	reaped   bool          // its number may belong to another process
	stderr   tail
	code     *int
	signal   string
	finished chan struct{} // closed when the program has exited and its output is read
}

// outgoing is a line on its way to the worker.
type outgoing struct {
	line []byte
	done func(error)
}

// spawn starts the program. onLine gets each line of its output, nil and the
// length for one over the limit.
func spawn(id string, command Command, limits Limits, stderr io.Writer, onLine func(line []byte, skipped int64), onExit func()) (*process, error) {
	cmd := exec.Command(command.Path, command.Args...)
	cmd.Dir = command.Dir
	cmd.Env = environ(id, command.Env)
	ownGroup(cmd)
	p := &process{cmd: cmd, wake: make(chan struct{}, 1), finished: make(chan struct{}), stderr: tail{max: limits.Excerpt * utf8.UTFMax}}
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	var theirs, ours []*os.File
	closeAll := func(files []*os.File) {
		for _, f := range files {
			f.Close()
		}
	}
	pipe := func(childReads bool) (*os.File, error) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		if childReads {
			r, w = w, r
		}
		theirs, ours = append(theirs, w), append(ours, r)
		return r, nil
	}
	in, err1 := pipe(true)
	out, err2 := pipe(false)
	errs, err3 := pipe(false)
	if err := errors.Join(err1, err2, err3); err != nil {
		closeAll(theirs)
		closeAll(ours)
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	err := cmd.Start()
	closeAll(theirs)
	if err != nil {
		closeAll(ours)
		return nil, err
	}
	p.stdin = in
	var readers sync.WaitGroup
	readers.Go(func() {
		lines := wire.NewReader(out, limits.Line)
		for {
			line, skipped, err := lines.Next()
			if err != nil {
				return
			}
			onLine(line, skipped)
		}
	})
	readers.Go(func() { p.readStderr(errs, stderr) })
	go p.write()
	go func() {
		p.reap()
		p.end(cmd.ProcessState)
		// A child that left the group may hold the pipes open.
		deadline := time.Now().Add(limits.Drain)
		_ = out.SetReadDeadline(deadline)
		_ = errs.SetReadDeadline(deadline)
		readers.Wait()
		closeAll(ours)
		onExit()
		close(p.finished)
	}()
	return p, nil
}

// environ builds the minimal environment of a worker.
func environ(id string, configured map[string]string) []string {
	vars := map[string]string{"PAPERCLIP_PLUGIN_ID": id, "NODE_ENV": "production", "TZ": "UTC"}
	for _, name := range []string{"PATH", "NODE_PATH", "NODE_ENV", "TZ"} {
		if value, ok := os.LookupEnv(name); ok {
			vars[name] = value
		}
	}
	maps.Copy(vars, configured)
	list := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		list = append(list, name+"="+vars[name])
	}
	return list
}

func (p *process) readStderr(r io.Reader, copyTo io.Writer) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := r.Read(buffer)
		if n > 0 {
			p.mu.Lock()
			p.stderr.add(buffer[:n])
			p.mu.Unlock()
			if copyTo != nil {
				_, _ = copyTo.Write(buffer[:n]) // a copy only
			}
		}
		if err != nil {
			return
		}
	}
}

// send queues a line and returns at once. done is called once: with nil when
// the worker can read the line.
func (p *process) send(line []byte, done func(error)) {
	p.mu.Lock()
	if p.broken {
		p.mu.Unlock()
		done(os.ErrClosed)
		return
	}
	p.queue = append(p.queue, outgoing{line, done})
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// write sends what is queued until the program ends or stops reading.
func (p *process) write() {
	for {
		p.mu.Lock()
		queue, broken := p.queue, p.broken
		p.queue = nil
		p.mu.Unlock()
		for i, o := range queue {
			if broken {
				o.done(os.ErrClosed)
				continue
			}
			_, err := p.stdin.Write(o.line)
			queue[i].line = nil
			if err != nil {
				broken = true
				p.mu.Lock()
				p.broken = true
				p.mu.Unlock()
			}
			o.done(err)
		}
		if broken {
			p.mu.Lock()
			empty := len(p.queue) == 0
			p.mu.Unlock()
			if empty {
				return
			}
			continue
		}
		if len(queue) == 0 {
			<-p.wake
		}
	}
}

// end notes how the program ended and stops the writer.
func (p *process) end(state *os.ProcessState) {
	p.mu.Lock()
	p.broken = true
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		p.signal = signalName(status.Signal())
	} else {
		code := state.ExitCode()
		p.code = &code
	}
	p.mu.Unlock()
	p.stdin.Close() // ends a write that hangs
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *process) writable() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.broken
}

// excerpt returns the last characters of the error output, without the spaces
// around it.
func (p *process) excerpt(characters int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.last(characters)
}

// kill signals the program and what it started.
func (p *process) kill(signal syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		killGroup(p.cmd.Process, signal)
	}
}
