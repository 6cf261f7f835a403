package service

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/creack/pty"
)

// terminal is a shell on a pseudo-terminal. Its output waits in a queue until
// a client is connected; a full queue holds the program up.
type terminal struct {
	id      string
	sandbox *sandbox
	shell   *process
	master  *os.File
	out     chan []byte // closed when there is no more output
	ended   chan struct{}
	halted  chan struct{} // closed when nobody will read any more
	once    sync.Once     // closes halted

	mu       sync.Mutex
	cols     uint16
	rows     uint16
	attached bool
	slow     bool   // the client did not read in time
	drop     func() // resets the connection of the client; nil when there is none
}

const (
	// outputQueue is how many pieces of output wait for the client.
	outputQueue = 64
	// terminalChunk is the most that is read of a terminal at once.
	terminalChunk = 32 << 10

	defaultCols, defaultRows = 80, 24
	maxCols, maxRows         = 1000, 1000
)

type size struct {
	Cols uint16 `json:"cols"`
	Rows uint16 `json:"rows"`
}

// valid fills in what is missing and reports whether the rest is sensible.
func (z *size) valid() bool {
	if z.Cols == 0 {
		z.Cols = defaultCols
	}
	if z.Rows == 0 {
		z.Rows = defaultRows
	}
	return z.Cols <= maxCols && z.Rows <= maxRows
}

// createTerminal starts an interactive shell on a new terminal.
func (s *Service) createTerminal(b *sandbox, _ http.ResponseWriter, r *http.Request) answer {
	var body struct {
		size
		ID   string            `json:"id"`
		Cwd  string            `json:"cwd"`
		Envs map[string]string `json:"envs"`
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil || body.ID == "" || !body.valid() {
		return refuse(http.StatusBadRequest, "id is required, and a size of at most %d by %d", maxCols, maxRows)
	}
	t := &terminal{id: body.ID, sandbox: b, cols: body.Cols, rows: body.Rows, out: make(chan []byte, outputQueue), ended: make(chan struct{}), halted: make(chan struct{})}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.terminals[t.id] != nil {
		return refuse(http.StatusConflict, "PTY session with ID %s already exists", t.id)
	}
	if err := t.start(body.Cwd, body.Envs); err != nil {
		return refuse(http.StatusInternalServerError, "failed to create PTY session")
	}
	b.terminals[t.id] = t
	return answer{http.StatusCreated, map[string]string{"sessionId": t.id}}
}

func (b *sandbox) forget(t *terminal) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.terminals[t.id] == t {
		delete(b.terminals, t.id)
	}
}

func (t *terminal) start(cwd string, envs map[string]string) error {
	b := t.sandbox
	cmd := b.command(b.service.shell)
	if cwd != "" {
		cmd.Dir = cwd
	}
	cmd.Env = append(b.environ(envs), "TERM=xterm-256color")
	master, err := openTerminal(&pty.Winsize{Cols: t.cols, Rows: t.rows}, func(slave *os.File) error {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
		ownSession(cmd)
		var err error
		t.shell, err = b.procs.run(cmd, cmd.Start)
		return err
	})
	if err != nil {
		return err
	}
	t.master = master
	b.service.work.Go(t.pump)
	return nil
}

// pump moves output into the queue until the shell has ended and what it wrote
// is read.
func (t *terminal) pump() {
	defer close(t.ended)
	defer t.master.Close()
	defer close(t.out)
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-t.shell.done:
			// A program that left the session may hold the terminal open.
			_ = t.master.SetDeadline(time.Now().Add(outputDelay))
		case <-over:
		}
	}()
	buffer := make([]byte, terminalChunk)
	for {
		n, err := t.master.Read(buffer)
		if n > 0 {
			t.queue(append([]byte(nil), buffer[:n]...))
		}
		if err != nil {
			break
		}
	}
	<-t.shell.done
}

// queue hands output to the client, which it waits for. After SlowAfter a
// client that does not read counts as slow.
func (t *terminal) queue(data []byte) {
	for {
		timer := time.NewTimer(t.sandbox.service.options.SlowAfter)
		select {
		case t.out <- data:
			timer.Stop()
			return
		case <-t.halted:
			timer.Stop()
			return
		case <-timer.C:
			t.mu.Lock()
			t.slow = t.slow || t.attached // connecting clears it
			t.mu.Unlock()
		}
	}
}

// halt drops output that nobody will read.
func (t *terminal) halt() { t.once.Do(func() { close(t.halted) }) }

func (b *sandbox) terminal(r *http.Request) *terminal {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.terminals[r.PathValue("terminal")]
}

func noTerminal(r *http.Request) answer {
	return refuse(http.StatusNotFound, "PTY session %s not found", r.PathValue("terminal"))
}

func (s *Service) terminalInfo(b *sandbox, _ http.ResponseWriter, r *http.Request) answer {
	t := b.terminal(r)
	if t == nil {
		return noTerminal(r)
	}
	active := true
	select {
	case <-t.shell.done:
		active = false
	default:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return ok(map[string]any{"id": t.id, "cols": t.cols, "rows": t.rows, "active": active})
}

func (s *Service) resizeTerminal(b *sandbox, _ http.ResponseWriter, r *http.Request) answer {
	t := b.terminal(r)
	if t == nil {
		return noTerminal(r)
	}
	var body size
	if json.NewDecoder(r.Body).Decode(&body) != nil || !body.valid() {
		return refuse(http.StatusBadRequest, "a size of at most %d by %d is required", maxCols, maxRows)
	}
	if err := resize(t.master, &pty.Winsize{Cols: body.Cols, Rows: body.Rows}); err != nil {
		return refuse(http.StatusGone, "PTY session unavailable")
	}
	t.mu.Lock()
	t.cols, t.rows = body.Cols, body.Rows
	t.mu.Unlock()
	return ok(body)
}

// killTerminal ends the program of a terminal; its client is told by the close
// of the socket.
func (s *Service) killTerminal(b *sandbox, _ http.ResponseWriter, r *http.Request) answer {
	t := b.terminal(r)
	if t == nil {
		return noTerminal(r)
	}
	b.forget(t)
	t.shell.kill()
	t.mu.Lock()
	attached := t.attached
	t.mu.Unlock()
	if !attached {
		t.halt()
	}
	return ok(map[string]any{})
}

// Terminals counts the terminals of a sandbox whose program runs.
func (s *Service) Terminals(id string) int {
	b, err := s.find(id)
	if err != nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, t := range b.terminals {
		select {
		case <-t.shell.done:
		default:
			n++
		}
	}
	return n
}

// DropTerminals resets the connections of all clients of a sandbox's terminals
// and returns how many there were. The programs go on.
func (s *Service) DropTerminals(id string) int {
	b, err := s.find(id)
	if err != nil {
		return 0
	}
	b.mu.Lock()
	all := slices.Collect(maps.Values(b.terminals))
	b.mu.Unlock()
	n := 0
	for _, t := range all {
		t.mu.Lock()
		drop := t.drop
		t.mu.Unlock()
		if drop != nil {
			drop()
			n++
		}
	}
	return n
}
