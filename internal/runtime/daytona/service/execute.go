package service

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os/exec"
	"sync"
	"time"
)

// maxOutput bounds the output of one command that is kept. More is dropped.
const maxOutput = 16 << 20

// capped keeps the beginning of what is written to it.
type capped struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (c *capped) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if room := maxOutput - c.b.Len(); room > 0 {
		c.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (c *capped) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.String()
}

// execute runs a command line in a shell and answers with its exit code and
// with both output streams as one. A command over its time is ended with its
// group, and so is one whose client has gone.
func (s *Service) execute(b *sandbox, _ http.ResponseWriter, r *http.Request) answer {
	var body struct {
		Command string `json:"command"`
		Cwd     string `json:"cwd"`
		Timeout int    `json:"timeout"` // seconds
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil || body.Command == "" {
		return refuse(http.StatusBadRequest, "command is required")
	}
	cmd := b.command(s.shell, "-c", body.Command)
	if body.Cwd != "" {
		cmd.Dir = body.Cwd
	}
	out := &capped{}
	cmd.Stdout, cmd.Stderr = out, out
	ownGroup(cmd)
	p, err := b.procs.run(cmd, cmd.Start)
	if err != nil {
		return refuse(http.StatusBadRequest, "The command could not be started: %v", startError(err))
	}
	var expired <-chan time.Time
	if body.Timeout > 0 {
		timer := time.NewTimer(time.Duration(body.Timeout) * time.Second)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-p.done:
		return ok(map[string]any{"exitCode": p.code, "result": out.String()})
	case <-expired:
		p.kill()
		<-p.done
		return refuse(http.StatusRequestTimeout, "command execution timeout")
	case <-r.Context().Done():
	case <-s.closing:
	}
	p.kill()
	<-p.done
	return refuse(http.StatusServiceUnavailable, "The command was given up")
}

// startError leaves out the path of the shell, which tells the client nothing.
func startError(err error) error {
	if e, isExec := err.(*exec.Error); isExec {
		return e.Err
	}
	return err
}
