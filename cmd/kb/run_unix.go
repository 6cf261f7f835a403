//go:build unix

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"errorkb/cmd/internal/cli"
)

const (
	// lastWords is how long output is waited for after a command has ended, when
	// a program that it left behind holds the output open.
	lastWords = 100 * time.Millisecond
	// lastBytes is more than a pipe or a terminal holds.
	lastBytes = 1 << 20
)

// passedOn are the signals that do not end us. A write to a closed pipe is an
// error then and not our end.
var passedOn = []os.Signal{
	unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGWINCH, unix.SIGPIPE,
}

// runCommand runs a command and copies its output to kept as well. It gives no state
// when the command could not be run, and state and error when its output could not be
// written.
//
// Where ours is a terminal, the command gets one of its own in its place. When
// input is one too, it is the terminal that the command is controlled by, as
// programs that draw the screen need it; else the command stays in our session
// and uses its terminal for input, passwords and Ctrl-C.
func runCommand(args []string, std streams, kept io.Writer) (*os.ProcessState, error) {
	cmd := exec.Command(args[0], args[1:]...)
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	r := &runner{cmd: cmd, kept: kept}
	defer r.close()
	if err := r.connect(std); err != nil {
		return nil, err
	}
	signals := make(chan os.Signal, 16)
	for _, s := range passedOn {
		if !signal.Ignored(s) { // nohup has it ignored, for the command too
			signal.Notify(signals, s)
		}
	}
	defer signal.Stop(signals)
	if err := r.enterRaw(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r.started()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			r.pass(s)
		case err := <-ended:
			failed := r.finish()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return nil, err
			}
			return cmd.ProcessState, failed
		}
	}
}

// runner is one command with what lies between it and us.
type runner struct {
	cmd     *exec.Cmd
	kept    io.Writer
	copies  []*copying
	theirs  []*os.File // the command's ends, closed when it has them
	master  *os.File   // of the command's terminal, nil when it has none
	screen  *os.File   // our terminal in its place
	typed   *os.File   // our terminal for input, when the command is controlled by its own
	restore func()
}

// connect makes the streams of the command.
func (r *runner) connect(std streams) error {
	in, inTerminal := terminal(std.in)
	out, outTerminal := terminal(std.out)
	_, errTerminal := terminal(std.err)
	r.cmd.Stdin = std.in
	if outTerminal || errTerminal {
		master, slave, err := openTerminal()
		if err != nil {
			return err
		}
		r.master, r.theirs = master, append(r.theirs, slave)
		if r.screen = out; !outTerminal {
			r.screen = std.err.(*os.File)
		}
		r.resize()
		if inTerminal && outTerminal && inForeground() {
			r.typed = in
			r.cmd.Stdin = slave
			r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		} else if _, err := term.MakeRaw(int(slave.Fd())); err != nil {
			return err // line ends are made by our terminal
		}
		if outTerminal {
			r.cmd.Stdout = slave
		}
		if errTerminal {
			r.cmd.Stderr = slave
		}
		r.copies = append(r.copies, &copying{from: master, to: r.screen})
	}
	for _, s := range []struct {
		theirs *io.Writer
		ours   io.Writer
	}{{&r.cmd.Stdout, std.out}, {&r.cmd.Stderr, std.err}} {
		if *s.theirs != nil {
			continue
		}
		read, write, err := os.Pipe()
		if err != nil {
			return err
		}
		r.theirs = append(r.theirs, write)
		*s.theirs = write
		r.copies = append(r.copies, &copying{from: read, to: s.ours})
	}
	return nil
}

// openTerminal opens a terminal whose master can be read with a deadline.
func openTerminal() (master, slave *os.File, err error) {
	blocking, slave, err := pty.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("open a terminal: %w", err)
	}
	defer blocking.Close()
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		slave.Close()
		return nil, nil, fmt.Errorf("open a terminal: %w", err)
	}
	return os.NewFile(uintptr(fd), blocking.Name()), slave, nil
}

func terminal(stream any) (*os.File, bool) {
	file, ok := stream.(*os.File)
	return file, ok && cli.IsTerminal(file)
}

// resize gives the command's terminal the size of ours.
func (r *runner) resize() {
	if r.master != nil {
		pty.InheritSize(r.screen, r.master) // a terminal without a size has none to give
	}
}

// enterRaw hands what is typed to the command's terminal as it is.
func (r *runner) enterRaw() error {
	if r.typed == nil {
		return nil
	}
	// The command's terminal starts as ours is: echo, erase key, line ends.
	fd := int(r.typed.Fd())
	if state, err := term.GetState(fd); err == nil {
		term.Restore(int(r.master.Fd()), state)
	}
	state, err := term.MakeRaw(fd)
	if err != nil {
		return err
	}
	r.restore = func() { term.Restore(fd, state) }
	return nil
}

// started lets go of the command's ends and begins to copy.
func (r *runner) started() {
	for _, f := range r.theirs {
		f.Close()
	}
	r.theirs = nil
	for _, c := range r.copies {
		c.start(r.kept)
	}
	if r.typed != nil {
		go io.Copy(r.master, r.typed) // ends with this process: nothing can end a read of a terminal
	}
}

// pass hands a signal on.
func (r *runner) pass(s os.Signal) {
	switch s {
	case unix.SIGWINCH:
		r.resize()
		if r.typed != nil {
			return // the command's terminal has told it
		}
	case unix.SIGPIPE:
		return // ours; the command learns by itself that nobody reads
	case unix.SIGINT, unix.SIGQUIT:
		if r.typed == nil && inForeground() {
			return // typed on the terminal of both of us
		}
	}
	r.cmd.Process.Signal(s) // fails when it has ended
}

// inForeground reports whether keys of our terminal send signals to us.
func inForeground() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// finish waits for what the command wrote at last, and says why its output could not
// be written.
func (r *runner) finish() error {
	var failed error
	for _, c := range r.copies {
		c.finish()
		failed = cmp.Or(failed, c.failed)
	}
	return failed
}

func (r *runner) close() {
	if r.restore != nil {
		r.restore()
	}
	for _, f := range r.theirs {
		f.Close()
	}
	for _, c := range r.copies {
		c.from.Close()
	}
}

// copying takes one stream of a command to ours and to what is kept.
type copying struct {
	from *os.File
	to   io.Writer
	kept lines
	done sync.WaitGroup

	failed error // of a write, but not that nobody reads any more
}

func (c *copying) start(kept io.Writer) {
	c.kept.to = kept
	c.done.Go(func() {
		buffer := make([]byte, 64<<10)
		for {
			n, err := c.from.Read(buffer)
			if !c.take(buffer[:n]) || err != nil {
				// A terminal gives EIO when its last user has gone.
				if errors.Is(err, os.ErrDeadlineExceeded) {
					c.rest(buffer)
				}
				return
			}
		}
	})
}

// take passes output on. When ours cannot be written any more, the command is
// to learn it as if it wrote there itself.
func (c *copying) take(p []byte) bool {
	c.kept.Write(p) // never fails
	if _, err := c.to.Write(p); err != nil {
		if !errors.Is(err, unix.EPIPE) {
			c.failed = fmt.Errorf("pass the output on: %w", err)
		}
		c.from.Close()
		return false
	}
	return true
}

// rest takes what is there without waiting for more.
func (c *copying) rest(buffer []byte) {
	c.from.SetReadDeadline(time.Time{})
	raw, err := c.from.SyscallConn()
	if err != nil {
		return
	}
	for taken := 0; taken < lastBytes; {
		n := 0
		raw.Read(func(fd uintptr) bool {
			n, err = unix.Read(int(fd), buffer)
			return true
		})
		if err != nil || n <= 0 || !c.take(buffer[:n]) {
			return
		}
		taken += n
	}
}

// finish ends the copying when everything has come, or soon.
func (c *copying) finish() {
	c.from.SetReadDeadline(time.Now().Add(lastWords))
	c.done.Wait()
	c.kept.end()
}
