package service

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// reap waits until the program has ended. While it is not yet reaped its
// number cannot belong to anybody else, so that kill hits nobody else.
func (x *process) reap() {
	for {
		err := unix.Waitid(unix.P_PID, x.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	x.mu.Lock()
	x.reaped = true
	x.mu.Unlock()
	x.finish()
}

// dieWithParent ends a program when this process is killed without a chance to
// end it.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// killMarked ends every program that has the given entry in its environment
// and returns how many there were.
func killMarked(entry string) int {
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	count := 0
	for _, name := range names {
		if !marked(name, entry) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		// The handle pins the process; the second look makes sure that it is
		// still the one that was found.
		process, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		if marked(name, entry) && process.Kill() == nil {
			count++
		}
		_ = process.Release()
	}
	return count
}

func marked(name, entry string) bool {
	environ, err := os.ReadFile(name)
	if err != nil {
		return false
	}
	for _, variable := range bytes.Split(environ, []byte{0}) {
		if string(variable) == entry {
			return true
		}
	}
	return false
}
