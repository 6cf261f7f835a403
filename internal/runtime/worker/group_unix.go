//go:build unix

package worker

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup makes the program the leader of a new process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup signals the group of a leader.
func killGroup(leader *os.Process, signal syscall.Signal) { _ = syscall.Kill(-leader.Pid, signal) }

// signalName returns a name as in "SIGKILL".
func signalName(s syscall.Signal) string { return unix.SignalName(s) }

// errnoName returns a name as in "EPIPE", "" when it has none.
func errnoName(e syscall.Errno) string { return unix.ErrnoName(e) }
