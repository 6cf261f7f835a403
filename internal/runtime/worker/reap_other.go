//go:build !linux

package worker

import "syscall"

// reap waits until the program has exited and ends what it left in its group.
func (p *process) reap() {
	_ = p.cmd.Wait() // its state tells the outcome
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
	killGroup(p.cmd.Process, syscall.SIGKILL)
}
