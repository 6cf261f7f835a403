//go:build !unix

package service

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func killGroup(leader *os.Process) { _ = leader.Kill() }

func exitCode(state *os.ProcessState) int { return state.ExitCode() }
