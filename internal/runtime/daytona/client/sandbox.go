package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"errorkb/internal/runtime/fault"
)

// States of a sandbox that the provider tells apart. There are more.
const (
	StateStarted  = "started"
	StateStopped  = "stopped"
	StateArchived = "archived"
	StateError    = "error"
)

// Data is what the service says about a sandbox.
type Data struct {
	ID            string            `json:"id"`
	Name          string            `json:"name"`
	State         string            `json:"state"`
	Target        string            `json:"target"`
	Labels        map[string]string `json:"labels"`
	ErrorReason   *string           `json:"errorReason"`
	Recoverable   bool              `json:"recoverable"`
	UpdatedAt     string            `json:"updatedAt"`
	AutoDestroyAt *time.Time        `json:"autoDestroyAt"`
	// ToolboxProxyURL is where the toolboxes are; the id of the sandbox is
	// added to it.
	ToolboxProxyURL string `json:"toolboxProxyUrl"`
}

// CreateParams describe a new sandbox. Image and Snapshot exclude each other;
// sizes are in the units of the service and zero for its default. Intervals
// are in minutes.
type CreateParams struct {
	Name     string
	Image    string
	Snapshot string
	Labels   map[string]string
	Env      map[string]string
	CPU      float64
	Memory   float64
	Disk     float64
	GPU      float64

	AutoStopInterval    *int
	AutoArchiveInterval *int
	AutoDeleteInterval  *int
}

type buildInfo struct {
	DockerfileContent string `json:"dockerfileContent"`
}

type createBody struct {
	Name                string            `json:"name,omitempty"`
	Snapshot            string            `json:"snapshot,omitempty"`
	BuildInfo           *buildInfo        `json:"buildInfo,omitempty"`
	Labels              map[string]string `json:"labels,omitempty"`
	Env                 map[string]string `json:"env,omitempty"`
	Target              string            `json:"target,omitempty"`
	CPU                 float64           `json:"cpu,omitempty"`
	Memory              float64           `json:"memory,omitempty"`
	Disk                float64           `json:"disk,omitempty"`
	GPU                 float64           `json:"gpu,omitempty"`
	AutoStopInterval    *int              `json:"autoStopInterval,omitempty"`
	AutoArchiveInterval *int              `json:"autoArchiveInterval,omitempty"`
	AutoDeleteInterval  *int              `json:"autoDeleteInterval,omitempty"`
}

// Sandbox is a handle of one sandbox. Its data is what the last call that
// returned data said. It is safe for use by several goroutines.
type Sandbox struct {
	client *Client

	mu   sync.Mutex
	data Data
}

const (
	msgNotStarted = `Sandbox %s failed to reach the state "%s": it is in state "%s"`
	msgNoID       = `The Daytona API answered with a sandbox without an id`
)

// Create makes a sandbox and waits until it is started.
func (c *Client) Create(ctx context.Context, p CreateParams) (*Sandbox, error) {
	body := createBody{
		Name: p.Name, Snapshot: p.Snapshot, Labels: p.Labels, Env: p.Env, Target: c.options.Target,
		CPU: p.CPU, Memory: p.Memory, Disk: p.Disk, GPU: p.GPU,
		AutoStopInterval: p.AutoStopInterval, AutoArchiveInterval: p.AutoArchiveInterval, AutoDeleteInterval: p.AutoDeleteInterval,
	}
	if p.Image != "" {
		body.BuildInfo = &buildInfo{"FROM " + p.Image + "\n"}
	}
	s := &Sandbox{client: c}
	if err := s.update(ctx, jsonBody(http.MethodPost, c.options.URL+"/sandbox", body)); err != nil {
		return nil, err
	}
	if err := s.reach(ctx, StateStarted); err != nil {
		return s, err
	}
	return s, nil
}

// Get finds a sandbox by its id. The data that comes back may be that of
// another sandbox when the service is wrong; the caller has to compare.
func (c *Client) Get(ctx context.Context, id string) (*Sandbox, error) {
	s := &Sandbox{client: c}
	if err := s.update(ctx, request{method: http.MethodGet, url: c.options.URL + "/sandbox/" + url.PathEscape(id)}); err != nil {
		return nil, err
	}
	return s, nil
}

// update replaces the data by the answer to r.
func (s *Sandbox) update(ctx context.Context, r request) error {
	var data Data
	if err := s.client.call(ctx, r, &data); err != nil {
		return err
	}
	if data.ID == "" {
		return fault.New(msgNoID).WithClass(ClassError)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data = data
	return nil
}

// Data returns what is known of the sandbox.
func (s *Sandbox) Data() Data {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.data
}

// ID returns the id of the sandbox.
func (s *Sandbox) ID() string { return s.Data().ID }

// State returns the state of the sandbox as it was last seen.
func (s *Sandbox) State() string { return s.Data().State }

func (s *Sandbox) address(rest ...string) string {
	parts := append([]string{s.client.options.URL, "sandbox", url.PathEscape(s.ID())}, rest...)
	return strings.Join(parts, "/")
}

// Refresh asks for the data again.
func (s *Sandbox) Refresh(ctx context.Context) error {
	return s.update(ctx, request{method: http.MethodGet, url: s.address()})
}

// Start starts a stopped or archived sandbox and waits until it is started.
func (s *Sandbox) Start(ctx context.Context) error { return s.change(ctx, "start", StateStarted) }

// Recover brings a sandbox in a recoverable error state back.
func (s *Sandbox) Recover(ctx context.Context) error { return s.change(ctx, "recover", StateStarted) }

// Stop stops the sandbox and everything that runs in it.
func (s *Sandbox) Stop(ctx context.Context) error { return s.change(ctx, "stop", StateStopped) }

// Archive moves a stopped sandbox to cold storage.
func (s *Sandbox) Archive(ctx context.Context) error { return s.change(ctx, "archive", StateArchived) }

func (s *Sandbox) change(ctx context.Context, verb, state string) error {
	if err := s.update(ctx, request{method: http.MethodPost, url: s.address(verb)}); err != nil {
		return err
	}
	return s.reach(ctx, state)
}

// reach waits until the sandbox is in the given state.
func (s *Sandbox) reach(ctx context.Context, state string) error {
	for {
		data := s.Data()
		if data.State == state {
			return nil
		}
		if data.State == StateError {
			if data.ErrorReason != nil {
				return fault.New(msgService, *data.ErrorReason).WithClass(ClassError)
			}
			return fault.New(msgNotStarted, data.ID, state, data.State).WithClass(ClassError)
		}
		if err := s.client.wait(ctx); err != nil {
			return transport(err)
		}
		if err := s.Refresh(ctx); err != nil {
			return err
		}
	}
}

// Delete removes the sandbox with everything in it.
func (s *Sandbox) Delete(ctx context.Context) error {
	return s.client.call(ctx, request{method: http.MethodDelete, url: s.address()}, nil)
}

// SetAutoDelete makes the service delete the sandbox once it has been stopped
// for so many minutes; −1 turns that off.
func (s *Sandbox) SetAutoDelete(ctx context.Context, minutes int) error {
	return s.client.call(ctx, request{method: http.MethodPost, url: s.address("autodelete", strconv.Itoa(minutes))}, nil)
}

// SetTimeToLive makes the service destroy the sandbox after so many minutes.
// Data then tells when.
func (s *Sandbox) SetTimeToLive(ctx context.Context, minutes int) error {
	return s.update(ctx, request{method: http.MethodPost, url: s.address("ttl", strconv.Itoa(minutes))})
}
