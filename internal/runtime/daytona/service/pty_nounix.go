//go:build !unix

package service

import (
	"errors"
	"os"
	"os/exec"

	"github.com/creack/pty"
)

func ownSession(*exec.Cmd) {}

func openTerminal(*pty.Winsize, func(*os.File) error) (*os.File, error) {
	return nil, errors.ErrUnsupported
}

func resize(*os.File, *pty.Winsize) error { return errors.ErrUnsupported }
