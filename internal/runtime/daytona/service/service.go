// Package service is a Daytona-style service for tests, proofs and the demo:
// the sandbox API and the toolbox of each sandbox, on loopback, with real
// shells and real terminals.
//
// Start gives a Service; URL, Key and Env tell how to reach it. A sandbox is a
// directory and the processes that were started in it, not an isolated
// machine: whoever has the key can run commands as the user of this process.
//
// Break puts a fault into one operation and Mend takes it out again; SetState,
// Remove and DropTerminals change a sandbox behind the back of the client.
// Calls lists what was asked, so that a test can wait for it and look at it.
// Close ends every process that was started here and removes all files.
package service

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options of a Service. The zero value is ready to use.
type Options struct {
	// Dir is where the directory of the service is made. "" is the directory
	// for temporary files.
	Dir string
	// Shell is the program of terminals, sessions and commands. "" is bash
	// when present, else sh.
	Shell string
	// SlowAfter is how long a terminal waits for a client that does not read
	// before it is closed. Zero means 10 s.
	SlowAfter time.Duration
	// Clock tells the time; nil is the clock of the machine.
	Clock func() time.Time
}

// Service is a running service. It is safe for use by several goroutines.
type Service struct {
	options  Options
	root     string
	shell    string
	key      string
	listener net.Listener
	server   *http.Server
	closing  chan struct{}  // closed by Close
	work     sync.WaitGroup // handlers and what they started
	served   chan struct{}  // closed when the listener is given up
	once     sync.Once

	mu        sync.Mutex
	count     int
	sandboxes map[string]*sandbox
	faults    []*breakage
	calls     []Call
	hanging   int           // requests that hang because of a fault
	changed   chan struct{} // closed and replaced whenever calls or hanging changes
}

const (
	defaultSlowAfter = 10 * time.Second
	readHeader       = 10 * time.Second
)

// Start runs a service on a free port of 127.0.0.1.
func Start(o Options) (*Service, error) {
	if o.SlowAfter <= 0 {
		o.SlowAfter = defaultSlowAfter
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	shell := o.Shell
	if shell == "" {
		shell = "sh"
		if path, err := exec.LookPath("bash"); err == nil {
			shell = path
		}
	}
	shell, err := exec.LookPath(shell)
	if err != nil {
		return nil, fmt.Errorf("no shell for sandboxes: %w", err)
	}
	root, err := os.MkdirTemp(o.Dir, "daytona-service-")
	if err != nil {
		return nil, fmt.Errorf("directory of the service: %w", err)
	}
	if err := os.Mkdir(filepath.Join(root, "scratch"), 0o700); err != nil {
		return nil, errors.Join(fmt.Errorf("directory of the service: %w", err), os.RemoveAll(root))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen on loopback: %w", err), os.RemoveAll(root))
	}
	s := &Service{
		options: o, root: root, shell: shell, key: "key-" + rand.Text(), listener: listener,
		closing: make(chan struct{}), served: make(chan struct{}), changed: make(chan struct{}),
		sandboxes: map[string]*sandbox{},
	}
	s.server = &http.Server{
		Handler: s.routes(), ReadHeaderTimeout: readHeader,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
	go func() {
		defer close(s.served)
		_ = s.server.Serve(listener) // ends when Close says so
	}()
	return s, nil
}

// connKey finds the connection of a request in its context.
type connKey struct{}

// reset ends the connection of a request with a TCP reset.
func reset(r *http.Request) {
	if tcp, ok := r.Context().Value(connKey{}).(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
		tcp.Close()
	}
}

// URL is the address of the API.
func (s *Service) URL() string { return "http://" + s.listener.Addr().String() + "/api" }

// Key is the API key that the service accepts.
func (s *Service) Key() string { return s.key }

// Scratch is a directory for files that a client would put into /tmp of a
// sandbox. It goes away with the service.
func (s *Service) Scratch() string { return filepath.Join(s.root, "scratch") }

// Env is what a worker needs in its environment to use this service.
func (s *Service) Env() map[string]string {
	return map[string]string{
		"DAYTONA_API_URL":           s.URL(),
		"DAYTONA_API_KEY":           s.key,
		"PAPERCLIP_DAYTONA_SCRATCH": s.Scratch(),
	}
}

// Close ends everything: hanging answers, sockets, processes and files. It
// returns once nothing is left.
func (s *Service) Close() error {
	var err error
	s.once.Do(func() {
		close(s.closing)
		s.mu.Lock()
		all := make([]*sandbox, 0, len(s.sandboxes))
		for _, b := range s.sandboxes {
			all = append(all, b)
		}
		s.mu.Unlock()
		for _, b := range all {
			b.halt()
		}
		s.server.Close()
		<-s.served
		s.work.Wait()
		err = os.RemoveAll(s.root)
	})
	return err
}

// routes lists every operation. Its names are those of faults and of calls.
func (s *Service) routes() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern, operation string, h handler) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /api"+path, s.serve(operation, h))
	}
	handle("POST /sandbox", "sandbox.create", s.create)
	handle("GET /sandbox/{id}", "sandbox.get", with(s.info))
	handle("DELETE /sandbox/{id}", "sandbox.delete", with(s.remove))
	handle("POST /sandbox/{id}/start", "sandbox.start", with(s.start))
	handle("POST /sandbox/{id}/stop", "sandbox.stop", with(s.stop))
	handle("POST /sandbox/{id}/recover", "sandbox.recover", with(s.recover))
	handle("POST /sandbox/{id}/archive", "sandbox.archive", with(s.archive))
	handle("POST /sandbox/{id}/autodelete/{minutes}", "sandbox.autodelete", with(s.autoDelete))
	handle("POST /sandbox/{id}/ttl/{minutes}", "sandbox.ttl", with(s.timeToLive))

	const box = "/toolbox/{id}"
	handle("GET "+box+"/work-dir", "toolbox.workdir", running(s.homeDir))
	handle("GET "+box+"/user-home-dir", "toolbox.homedir", running(s.homeDir))
	handle("POST "+box+"/process/execute", "toolbox.execute", running(s.execute))
	handle("POST "+box+"/process/session", "session.create", running(s.createSession))
	handle("POST "+box+"/process/session/{session}/exec", "session.exec", running(s.sessionExec))
	handle("GET "+box+"/process/session/{session}/command/{command}", "session.command", running(s.sessionCommand))
	handle("GET "+box+"/process/session/{session}/command/{command}/logs", "session.logs", running(s.sessionLogs))
	handle("DELETE "+box+"/process/session/{session}", "session.delete", running(s.deleteSession))
	handle("POST "+box+"/process/pty", "terminal.create", running(s.createTerminal))
	handle("GET "+box+"/process/pty/{terminal}", "terminal.get", running(s.terminalInfo))
	handle("DELETE "+box+"/process/pty/{terminal}", "terminal.kill", running(s.killTerminal))
	handle("POST "+box+"/process/pty/{terminal}/resize", "terminal.resize", running(s.resizeTerminal))
	handle("GET "+box+"/process/pty/{terminal}/connect", "terminal.connect", running(s.connectTerminal))
	handle("POST "+box+"/files/folder", "files.folder", running(s.makeFolder))
	handle("POST "+box+"/files/permissions", "files.permissions", running(s.setMode))
	handle("POST "+box+"/files/bulk-upload", "files.upload", running(s.upload))
	handle("POST "+box+"/files/bulk-download", "files.download", running(s.download))
	handle("DELETE "+box+"/files", "files.delete", running(s.deleteFile))
	return mux
}

// Operations lists the names of all operations, which Break takes.
var Operations = []string{
	"sandbox.create", "sandbox.get", "sandbox.delete", "sandbox.start", "sandbox.stop", "sandbox.recover", "sandbox.archive",
	"sandbox.autodelete", "sandbox.ttl",
	"toolbox.workdir", "toolbox.homedir", "toolbox.execute",
	"session.create", "session.exec", "session.command", "session.logs", "session.delete",
	"terminal.create", "terminal.get", "terminal.kill", "terminal.resize", "terminal.connect",
	"files.folder", "files.permissions", "files.upload", "files.download", "files.delete",
}

// answer is what a handler returns: a status and a JSON body.
type answer struct {
	status int
	body   any
}

// handler handles one operation. One that has written its answer itself
// returns a status and answered as the body.
type handler func(w http.ResponseWriter, r *http.Request) answer

type answeredMark struct{}

var answered any = answeredMark{}

func ok(body any) answer { return answer{http.StatusOK, body} }

func refuse(status int, format string, args ...any) answer {
	return answer{status, map[string]any{"statusCode": status, "message": fmt.Sprintf(format, args...)}}
}

func (a answer) write(w http.ResponseWriter) {
	if a.body == answered {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.body) // a client that is gone needs none
}

// with finds the sandbox of a request.
func with(h func(b *sandbox, w http.ResponseWriter, r *http.Request) answer) handler {
	return func(w http.ResponseWriter, r *http.Request) answer {
		b, _ := r.Context().Value(sandboxKey{}).(*sandbox)
		if b == nil {
			return refuse(http.StatusNotFound, "Sandbox with ID %s not found", r.PathValue("id"))
		}
		return h(b, w, r)
	}
}

// running is with for operations that need a started sandbox.
func running(h func(b *sandbox, w http.ResponseWriter, r *http.Request) answer) handler {
	return with(func(b *sandbox, w http.ResponseWriter, r *http.Request) answer {
		if state := b.snapshot().State; state != stateStarted {
			return refuse(http.StatusBadRequest, "Sandbox %s is not started: it is %s", b.id, state)
		}
		if r.PathValue("terminal") == "" {
			b.barrier.RLock()
			b.barrier.RUnlock() //lint:ignore SA2001 only to wait for whoever holds it
		}
		return h(b, w, r)
	})
}

type sandboxKey struct{}

// Call is one request that was answered, or that a fault kept from an answer.
type Call struct {
	Operation string `json:"operation"`
	Sandbox   string `json:"sandbox,omitempty"`
	Status    int    `json:"status"` // 0 when there was no answer
	Fault     string `json:"fault,omitempty"`
}

func (c Call) String() string {
	text := fmt.Sprintf("%s %s %d", c.Operation, c.Sandbox, c.Status)
	if c.Fault != "" {
		text += " (" + c.Fault + ")"
	}
	return text
}

// Calls lists the requests in the order in which they were finished.
func (s *Service) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// WaitCall waits until an operation was finished n times, for any sandbox.
func (s *Service) WaitCall(ctx context.Context, operation string, n int) error {
	return s.await(ctx, func() error {
		have := 0
		for _, c := range s.calls {
			if c.Operation == operation {
				have++
			}
		}
		if have < n {
			return fmt.Errorf("%s was called %d times, not %d", operation, have, n)
		}
		return nil
	})
}

// await waits until missing, which is called with the lock held, is nil.
func (s *Service) await(ctx context.Context, missing func() error) error {
	for {
		s.mu.Lock()
		err, changed := missing(), s.changed
		s.mu.Unlock()
		if err == nil {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", err, ctx.Err())
		}
	}
}

// tell wakes those that await something. It is called with the lock held.
func (s *Service) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Service) note(c Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	s.tell()
}
