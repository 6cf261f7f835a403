package service

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	stateStarted  = "started"
	stateStopped  = "stopped"
	stateArchived = "archived"
	stateError    = "error"
)

// Info is what the service tells about a sandbox.
type Info struct {
	ID                  string            `json:"id"`
	Name                string            `json:"name"`
	State               string            `json:"state"`
	Target              string            `json:"target"`
	Labels              map[string]string `json:"labels"`
	ErrorReason         *string           `json:"errorReason"`
	Recoverable         bool              `json:"recoverable"`
	Snapshot            string            `json:"snapshot,omitempty"`
	CPU                 float64           `json:"cpu,omitempty"`
	Memory              float64           `json:"memory,omitempty"`
	Disk                float64           `json:"disk,omitempty"`
	GPU                 float64           `json:"gpu,omitempty"`
	AutoStopInterval    *int              `json:"autoStopInterval,omitempty"`
	AutoArchiveInterval *int              `json:"autoArchiveInterval,omitempty"`
	AutoDeleteInterval  *int              `json:"autoDeleteInterval,omitempty"`
	AutoDestroyAt       *time.Time        `json:"autoDestroyAt"`
	UpdatedAt           string            `json:"updatedAt"`
	ToolboxProxyURL     string            `json:"toolboxProxyUrl"`
}

// sandbox is a directory and the processes in it. No timer runs: the intervals
// are kept and told, nothing more.
type sandbox struct {
	service *Service
	id      string
	dir     string // holds home and tmp
	mark    string // in the environment of everything that runs in it
	env     map[string]string
	procs   *processes
	barrier sync.RWMutex // held while everything but terminals has to wait

	mu        sync.Mutex
	info      Info
	sessions  map[string]*session
	terminals map[string]*terminal
}

func (b *sandbox) home() string { return filepath.Join(b.dir, "home") }

func (b *sandbox) snapshot() Info {
	b.mu.Lock()
	defer b.mu.Unlock()
	info := b.info
	info.Labels = maps.Clone(info.Labels)
	return info
}

// create is POST /sandbox.
func (s *Service) create(_ http.ResponseWriter, r *http.Request) answer {
	var body struct {
		Info
		Env       map[string]string `json:"env"`
		BuildInfo *struct {
			DockerfileContent string `json:"dockerfileContent"`
		} `json:"buildInfo"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return refuse(http.StatusBadRequest, "The body is no JSON object")
	}
	if body.BuildInfo != nil && body.Snapshot != "" {
		return refuse(http.StatusBadRequest, "Cannot specify a snapshot when using a build info entry")
	}
	b := &sandbox{
		service: s, mark: rand.Text(), env: body.Env, sessions: map[string]*session{}, terminals: map[string]*terminal{},
	}
	b.procs = newProcesses(b.mark)
	s.mu.Lock()
	s.count++
	b.id = fmt.Sprintf("sandbox-%d", s.count)
	s.mu.Unlock()
	b.dir = filepath.Join(s.root, b.id)
	for _, dir := range []string{b.home(), filepath.Join(b.dir, "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return refuse(http.StatusInternalServerError, "Failed to create the sandbox")
		}
	}
	info := body.Info
	info.ID, info.State, info.ErrorReason, info.Recoverable = b.id, stateStarted, nil, false
	if info.Name == "" {
		info.Name = b.id
	}
	if info.Target == "" {
		info.Target = "us"
	}
	if info.Labels == nil {
		info.Labels = map[string]string{}
	}
	info.ToolboxProxyURL = s.URL() + "/toolbox"
	info.UpdatedAt = s.now()
	b.info = info
	s.mu.Lock()
	s.sandboxes[b.id] = b
	s.mu.Unlock()
	return ok(b.snapshot())
}

func (s *Service) now() string { return s.options.Clock().UTC().Format(time.RFC3339Nano) }

func (s *Service) info(b *sandbox, _ http.ResponseWriter, r *http.Request) answer {
	info := b.snapshot()
	if f := faultOf(r); f.Kind == KindWrongID {
		info.ID = f.ID
	}
	return ok(info)
}

// change puts a sandbox into another state.
func (b *sandbox) change(state string) answer {
	b.mu.Lock()
	b.info.State, b.info.ErrorReason, b.info.Recoverable = state, nil, false
	b.info.UpdatedAt = b.service.now()
	b.mu.Unlock()
	if state == stateStarted {
		b.procs.admit()
	}
	return ok(b.snapshot())
}

func (s *Service) start(b *sandbox, _ http.ResponseWriter, _ *http.Request) answer {
	switch state := b.snapshot().State; state {
	case stateStarted, stateStopped, stateArchived:
		return b.change(stateStarted)
	default:
		return refuse(http.StatusBadRequest, "Sandbox %s cannot be started: it is in the state %s", b.id, state)
	}
}

func (s *Service) stop(b *sandbox, _ http.ResponseWriter, _ *http.Request) answer {
	b.halt()
	return b.change(stateStopped)
}

func (s *Service) recover(b *sandbox, _ http.ResponseWriter, _ *http.Request) answer {
	if info := b.snapshot(); info.State != stateError || !info.Recoverable {
		return refuse(http.StatusBadRequest, "Sandbox %s is not in a recoverable error state", b.id)
	}
	return b.change(stateStarted)
}

func (s *Service) archive(b *sandbox, _ http.ResponseWriter, _ *http.Request) answer {
	if state := b.snapshot().State; state != stateStopped {
		return refuse(http.StatusBadRequest, "Sandbox %s is not stopped", b.id)
	}
	return b.change(stateArchived)
}

func (s *Service) remove(b *sandbox, _ http.ResponseWriter, _ *http.Request) answer {
	if err := s.Remove(b.id); err != nil {
		return refuse(http.StatusInternalServerError, "Failed to delete sandbox %s", b.id)
	}
	return ok(map[string]any{})
}

func (s *Service) autoDelete(b *sandbox, _ http.ResponseWriter, r *http.Request) answer {
	minutes, err := strconv.Atoi(r.PathValue("minutes"))
	if err != nil {
		return refuse(http.StatusBadRequest, "The interval is not a number")
	}
	b.mu.Lock()
	b.info.AutoDeleteInterval = &minutes
	b.mu.Unlock()
	return ok(b.snapshot())
}

func (s *Service) timeToLive(b *sandbox, _ http.ResponseWriter, r *http.Request) answer {
	minutes, err := strconv.Atoi(r.PathValue("minutes"))
	if err != nil || minutes < 1 {
		return refuse(http.StatusBadRequest, "The time to live is not a positive number")
	}
	end := s.options.Clock().UTC().Add(time.Duration(minutes) * time.Minute)
	b.mu.Lock()
	b.info.AutoDestroyAt = &end
	b.mu.Unlock()
	return ok(b.snapshot())
}

func (s *Service) homeDir(b *sandbox, _ http.ResponseWriter, _ *http.Request) answer {
	return ok(map[string]string{"dir": b.home()})
}

// halt ends everything that runs in the sandbox and lets nothing start until
// the sandbox is started again.
func (b *sandbox) halt() {
	b.mu.Lock()
	sessions := slices.Collect(maps.Values(b.sessions))
	terminals := slices.Collect(maps.Values(b.terminals))
	clear(b.sessions)
	clear(b.terminals)
	b.mu.Unlock()
	b.procs.killAll()
	for _, t := range terminals {
		t.halt()
		<-t.ended
	}
	for _, x := range sessions {
		x.wait()
	}
}

// Sandboxes lists the sandboxes by id.
func (s *Service) Sandboxes() []Info {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.sandboxes))
	s.mu.Unlock()
	list := make([]Info, len(all))
	for i, b := range all {
		list[i] = b.snapshot()
	}
	slices.SortFunc(list, func(a, b Info) int {
		if len(a.ID) != len(b.ID) {
			return len(a.ID) - len(b.ID) // sandbox-9 before sandbox-10
		}
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return list
}

// find returns a sandbox by id.
func (s *Service) find(id string) (*sandbox, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.sandboxes[id]; b != nil {
		return b, nil
	}
	return nil, fmt.Errorf("no sandbox %q", id)
}

// SetState puts a sandbox into a state behind the back of its clients. A
// sandbox in the state "error" has a reason and may be recoverable. What runs
// in it ends unless it is started.
func (s *Service) SetState(id, state, reason string, recoverable bool) error {
	b, err := s.find(id)
	if err != nil {
		return err
	}
	if state != stateStarted {
		b.halt()
	}
	b.change(state)
	b.mu.Lock()
	defer b.mu.Unlock()
	if reason != "" {
		b.info.ErrorReason = &reason
	}
	b.info.Recoverable = recoverable
	return nil
}

// Remove deletes a sandbox and all that it holds, behind the back of its
// clients.
func (s *Service) Remove(id string) error {
	b, err := s.find(id)
	if err != nil {
		return err
	}
	s.mu.Lock()
	delete(s.sandboxes, id)
	s.mu.Unlock()
	b.halt()
	return os.RemoveAll(b.dir)
}

// Home is the home directory of a sandbox, "" when there is none.
func (s *Service) Home(id string) string {
	b, err := s.find(id)
	if err != nil {
		return ""
	}
	return b.home()
}
