package worker

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// reap waits until the program has exited and ends what it left in its group.
// The group is signalled before the leader is reaped, so that its number
// cannot belong to anybody else.
func (p *process) reap() {
	for {
		err := unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.mu.Lock()
	killGroup(p.cmd.Process, syscall.SIGKILL)
	p.reaped = true
	p.mu.Unlock()
	_ = p.cmd.Wait() // its state tells the outcome
}
