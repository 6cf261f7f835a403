//go:build !unix

package worker

import (
	"os"
	"os/exec"
	"syscall"
)

func ownGroup(*exec.Cmd) {}

// killGroup ends the program alone, whatever the signal: there are no groups.
func killGroup(leader *os.Process, _ syscall.Signal) { _ = leader.Kill() }

func signalName(s syscall.Signal) string { return s.String() }

func errnoName(syscall.Errno) string { return "" }
