//go:build unix

package service

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// ownSession makes a program the leader of a new session, which is a group
// too, with the terminal that is its standard input.
func ownSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	dieWithParent(cmd.SysProcAttr)
}

// openTerminal makes a pseudo-terminal of a size, lets start use its slave
// side and returns the master side. Reads of it end when it is closed.
func openTerminal(size *pty.Winsize, start func(slave *os.File) error) (*os.File, error) {
	master, slave, err := pty.Open()
	if err != nil {
		return nil, err
	}
	defer slave.Close()
	// The library leaves the master in blocking mode, in which a read that
	// waits keeps Close waiting; a copy of it goes through the poller.
	defer master.Close()
	if err := pty.Setsize(master, size); err != nil {
		return nil, err
	}
	fd, err := unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	polled := os.NewFile(uintptr(fd), "terminal")
	if err := start(slave); err != nil {
		polled.Close()
		return nil, err
	}
	return polled, nil
}

// resize changes the size of a terminal without leaving the poller.
func resize(master *os.File, size *pty.Winsize) error {
	raw, err := master.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Rows, Col: size.Cols})
	})
	if err != nil {
		return err
	}
	return failed
}
