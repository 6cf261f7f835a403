package service

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// session is a shell that runs commands one after the other. What a command
// writes lies in files; over a pipe the shell tells the exit code of each.
type session struct {
	id    string
	dir   string
	shell *process
	stdin io.WriteCloser
	ended chan struct{} // closed when no exit code can come any more

	mu       sync.Mutex
	commands map[string]*command
	count    int
}

// command is one command of a session.
type command struct {
	id   string
	dir  string        // holds script, stdout and stderr
	done chan struct{} // closed when exit is set
	exit int
}

// createSession starts the shell of a session.
func (s *Service) createSession(b *sandbox, _ http.ResponseWriter, r *http.Request) answer {
	var body struct {
		SessionID string `json:"sessionId"`
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil || body.SessionID == "" || strings.ContainsAny(body.SessionID, "/\x00") {
		return refuse(http.StatusBadRequest, "sessionId is required")
	}
	x := &session{id: body.SessionID, dir: filepath.Join(b.dir, "sessions", body.SessionID), ended: make(chan struct{}), commands: map[string]*command{}}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sessions[x.id] != nil {
		return refuse(http.StatusConflict, "session already exists")
	}
	if err := x.start(b); err != nil {
		return refuse(http.StatusInternalServerError, "The session could not be started")
	}
	b.sessions[x.id] = x
	return answer{http.StatusCreated, map[string]any{}}
}

func (x *session) start(b *sandbox) error {
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		return err
	}
	codes, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	cmd := b.command(b.service.shell)
	cmd.ExtraFiles = []*os.File{theirs} // its descriptor 3
	ownGroup(cmd)
	stdin, err := cmd.StdinPipe()
	if err == nil {
		x.stdin = stdin
		x.shell, err = b.procs.run(cmd, cmd.Start)
	}
	if err != nil {
		codes.Close()
		return err
	}
	b.service.work.Go(func() { x.collect(codes) })
	return nil
}

// collect reads the exit codes until the shell is gone. A command that has
// none then ended together with the shell.
func (x *session) collect(codes *os.File) {
	defer close(x.ended)
	defer codes.Close()
	defer x.stdin.Close()
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(codes)
		for lines.Scan() {
			id, code, _ := strings.Cut(lines.Text(), " ")
			if n, err := strconv.Atoi(code); err == nil {
				x.finish(id, n)
			}
		}
	}()
	<-x.shell.done
	_ = codes.SetReadDeadline(time.Now().Add(outputDelay)) // somebody else may hold the pipe
	<-read
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range x.commands {
		c.finish(x.shell.code)
	}
}

func (x *session) finish(id string, code int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if c := x.commands[id]; c != nil {
		c.finish(code)
	}
}

// finish is called with the lock of the session held.
func (c *command) finish(code int) {
	if !c.finished() {
		c.exit = code
		close(c.done)
	}
}

func (c *command) finished() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func (x *session) wait() { <-x.ended }

// run hands a command to the shell. The command is a file, so that its text
// cannot end up outside of it.
func (x *session) run(text string) (*command, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	select {
	case <-x.ended:
		return nil, os.ErrProcessDone
	default:
	}
	x.count++
	c := &command{id: "cmd-" + strconv.Itoa(x.count), done: make(chan struct{})}
	c.dir = filepath.Join(x.dir, c.id)
	if err := os.Mkdir(c.dir, 0o700); err != nil {
		return nil, err
	}
	for _, file := range []struct{ name, data string }{{"script", text + "\n"}, {"stdout", ""}, {"stderr", ""}} {
		if err := os.WriteFile(filepath.Join(c.dir, file.name), []byte(file.data), 0o600); err != nil {
			return nil, err
		}
	}
	x.commands[c.id] = c
	at := func(name string) string { return quote(filepath.Join(c.dir, name)) }
	_, err := fmt.Fprintf(x.stdin, "{ . %s; } >%s 2>%s </dev/null 3>&-; echo \"%s $?\" >&3\n", at("script"), at("stdout"), at("stderr"), c.id)
	return c, err
}

// quote makes one word of a shell out of text.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'"'"'`) + "'" }

func (b *sandbox) session(r *http.Request) *session {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sessions[r.PathValue("session")]
}

func noSession() answer { return refuse(http.StatusNotFound, "session not found") }

// sessionExec runs a command and answers at once or when it has ended.
func (s *Service) sessionExec(b *sandbox, _ http.ResponseWriter, r *http.Request) answer {
	x := b.session(r)
	if x == nil {
		return noSession()
	}
	var body struct {
		Command  string `json:"command"`
		RunAsync bool   `json:"runAsync"`
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil || body.Command == "" {
		return refuse(http.StatusBadRequest, "command is required")
	}
	c, err := x.run(body.Command)
	if err != nil {
		return refuse(http.StatusGone, "The shell of the session has ended")
	}
	if body.RunAsync {
		return answer{http.StatusAccepted, map[string]any{"cmdId": c.id}}
	}
	select {
	case <-c.done:
		return ok(map[string]any{"cmdId": c.id, "exitCode": c.exit})
	case <-r.Context().Done():
	case <-s.closing:
	}
	return refuse(http.StatusServiceUnavailable, "The command was given up")
}

func (b *sandbox) commandOf(r *http.Request) *command {
	x := b.session(r)
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.commands[r.PathValue("command")]
}

func (s *Service) sessionCommand(b *sandbox, _ http.ResponseWriter, r *http.Request) answer {
	c := b.commandOf(r)
	if c == nil {
		return refuse(http.StatusNotFound, "command not found")
	}
	body := map[string]any{"id": c.id}
	if c.finished() {
		body["exitCode"] = c.exit
	}
	return ok(body)
}

// followInterval is the time between two looks at a file that grows.
const followInterval = 10 * time.Millisecond

// sessionLogs answers with what a command has written, or follows it until
// the command has ended.
func (s *Service) sessionLogs(b *sandbox, w http.ResponseWriter, r *http.Request) answer {
	c := b.commandOf(r)
	if c == nil {
		return refuse(http.StatusNotFound, "command not found")
	}
	if r.URL.Query().Get("follow") != "true" {
		stdout, err1 := os.ReadFile(filepath.Join(c.dir, "stdout"))
		stderr, err2 := os.ReadFile(filepath.Join(c.dir, "stderr"))
		if err1 != nil || err2 != nil {
			return refuse(http.StatusGone, "The output is gone")
		}
		return ok(map[string]string{"stdout": string(stdout), "stderr": string(stderr)})
	}
	stdout, err := os.Open(filepath.Join(c.dir, "stdout"))
	if err != nil {
		return refuse(http.StatusGone, "The output is gone")
	}
	defer stdout.Close()
	stderr, err := os.Open(filepath.Join(c.dir, "stderr"))
	if err != nil {
		return refuse(http.StatusGone, "The output is gone")
	}
	defer stderr.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	_ = flush.Flush()
	ticker := time.NewTicker(followInterval)
	defer ticker.Stop()
	buffer := make([]byte, 32<<10)
	for {
		finished := c.finished() // before the look: nothing comes after it
		moved := false
		for _, stream := range []struct {
			mark byte
			file *os.File
		}{{1, stdout}, {2, stderr}} {
			n, _ := stream.file.Read(buffer)
			if n == 0 {
				continue
			}
			moved = true
			mark := []byte{stream.mark, stream.mark, stream.mark}
			if _, err := w.Write(append(mark, buffer[:n]...)); err != nil {
				return answer{0, answered}
			}
		}
		if moved {
			_ = flush.Flush()
			if faultOf(r).Kind == KindCut {
				reset(r)
				return answer{0, answered}
			}
			continue
		}
		if finished {
			return answer{http.StatusOK, answered}
		}
		select {
		case <-ticker.C:
		case <-c.done:
		case <-r.Context().Done():
			return answer{0, answered}
		case <-s.closing:
			return answer{0, answered}
		}
	}
}

// deleteSession ends the shell of a session with everything in its group.
func (s *Service) deleteSession(b *sandbox, _ http.ResponseWriter, r *http.Request) answer {
	b.mu.Lock()
	x := b.sessions[r.PathValue("session")]
	delete(b.sessions, r.PathValue("session"))
	b.mu.Unlock()
	if x == nil {
		return noSession()
	}
	x.shell.kill()
	x.wait()
	_ = os.RemoveAll(x.dir) // goes with the sandbox at the latest
	return answer{http.StatusNoContent, map[string]any{}}
}
