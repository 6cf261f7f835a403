//go:build !unix

package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

// lastWords is how long output is waited for after a command has ended.
const lastWords = 100 * time.Millisecond

// runCommand runs a command and copies its output to kept as well. It gives no state
// when the command could not be run. There is no terminal to put in the place of ours
// here.
func runCommand(args []string, std streams, kept io.Writer) (*os.ProcessState, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin = std.in
	out, errs := &lines{to: kept}, &lines{to: kept}
	cmd.Stdout, cmd.Stderr = io.MultiWriter(std.out, out), io.MultiWriter(std.err, errs)
	cmd.WaitDelay = lastWords
	err := cmd.Run()
	out.end()
	errs.end()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return cmd.ProcessState, err // the state of a command that did not start is nil
	}
	return cmd.ProcessState, nil
}
