//go:build unix

package service

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes a program the leader of a new process group.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

func killGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }

// exitCode is the exit status of a program as a shell tells it.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
