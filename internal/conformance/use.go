package conformance

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"

	"errorkb/internal/runtime/daytona"
	"errorkb/internal/runtime/duplex"
	"errorkb/internal/runtime/environment"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/fixture"
	"errorkb/internal/runtime/lease"
	"errorkb/internal/runtime/sdk"
	"errorkb/internal/runtime/wire"
	"errorkb/internal/runtime/worker"
)

type rawJSON = json.RawMessage

// Environments and leases.

func (w *world) environment(s Step) outcome {
	e := environment.Environment{ID: "env-" + s.Environment, CompanyID: "company-1", Name: s.Name, Driver: s.Driver, Status: s.Status, Config: s.Config}
	if e.Name == "" {
		e.Name = s.Environment
	}
	if e.Status == "" {
		e.Status = environment.StatusActive
	}
	w.environments[s.Environment] = e
	return outcome{}
}

func (w *world) acquire(s Step) outcome {
	e, ok := w.environments[s.Environment]
	if !ok {
		return outcome{err: unknownName("environment", s.Environment)}
	}
	got, err := w.host.Service.Acquire(w.ctx, environment.AcquireInput{
		Environment: e, RunID: "run-1", AgentID: "agent-1", ExecutionWorkspaceID: "workspace-1"})
	if err != nil {
		return outcome{err: err}
	}
	w.leases[s.Lease] = held{s.Environment, got.Lease.ID}
	text := "Lease " + code(got.Lease.ID)
	if id := got.Lease.ProviderLeaseID; id != "" {
		text += " grants " + code(id)
	}
	if a, ok := got.Lease.Metadata["sandboxLeaseAcquisition"].(map[string]any); ok && a["outcome"] != "created" {
		text += fmt.Sprintf(", %v", a["outcome"])
	}
	return outcome{result: text}
}

// lease loads a lease and its environment, as callers do before each use.
func (w *world) lease(name string) (environment.LeaseInput, error) {
	h, ok := w.leases[name]
	if !ok {
		return environment.LeaseInput{}, unknownName("lease", name)
	}
	l, err := w.host.Leases.Get(h.id)
	return environment.LeaseInput{Environment: w.environments[h.environment], Lease: l}, err
}

func (w *world) editLease(s Step) outcome {
	h, ok := w.leases[s.Lease]
	if !ok {
		return outcome{err: unknownName("lease", s.Lease)}
	}
	_, err := w.host.Leases.Update(h.id, func(l *lease.Lease) {
		maps.Copy(l.Metadata, s.Set)
		for _, key := range s.Without {
			delete(l.Metadata, key)
		}
		if s.ResourceID != nil {
			l.ProviderLeaseID = *s.ResourceID
		}
	})
	return outcome{err: err}
}

// onLease runs an operation of a lease.
func (w *world) onLease(s Step, operation func(in environment.LeaseInput) (string, error)) outcome {
	in, err := w.lease(s.Lease)
	if err != nil {
		return outcome{err: err}
	}
	result, err := operation(in)
	if err != nil {
		return outcome{err: err}
	}
	return outcome{result: result}
}

func ended(l lease.Lease) string {
	text := "The lease is " + code(string(l.Status))
	if l.CleanupStatus != "" {
		text += ", its clean-up a " + code(l.CleanupStatus)
	}
	return text
}

func (w *world) release(s Step) outcome {
	return w.onLease(s, func(in environment.LeaseInput) (string, error) {
		l, err := w.host.Service.Release(w.ctx, environment.ReleaseInput{LeaseInput: in, Status: lease.Released})
		return ended(l), err
	})
}

func (w *world) destroy(s Step) outcome {
	return w.onLease(s, func(in environment.LeaseInput) (string, error) {
		l, err := w.host.Service.Destroy(w.ctx, in)
		return ended(l), err
	})
}

func (w *world) resume(s Step) outcome {
	return w.onLease(s, func(in environment.LeaseInput) (string, error) {
		l, err := w.host.Service.Resume(w.ctx, in)
		return ended(l), err
	})
}

func (w *world) realize(s Step) outcome {
	return w.onLease(s, func(in environment.LeaseInput) (string, error) {
		_, err := w.host.Service.Realize(w.ctx, environment.RealizeInput{LeaseInput: in})
		return "There is a working directory", err
	})
}

func (w *world) syncIn(s Step) outcome {
	return w.onLease(s, func(in environment.LeaseInput) (string, error) {
		_, err := w.host.Service.SyncIn(w.ctx, environment.SyncInput{LeaseInput: in, Operations: []wire.SyncOperation{}})
		return "The sync is done", err
	})
}

func (w *world) defineCommand(s Step) outcome {
	w.commands[s.Command] = command{s.Argv, s.Variables}
	return outcome{}
}

func (w *world) execute(s Step) outcome {
	c, ok := w.commands[s.Command]
	if !ok || len(c.argv) == 0 {
		return outcome{err: unknownName("command with a program", s.Command)}
	}
	in, err := w.lease(s.Lease)
	if err != nil {
		return outcome{err: err}
	}
	got, err := w.host.Service.Execute(w.ctx, environment.ExecuteInput{
		LeaseInput: in, Command: c.argv[0], Args: c.argv[1:], Env: c.variables, BypassSession: true})
	switch {
	case err != nil:
		return outcome{err: err}
	case got.ExitCode == nil:
		return outcome{refusals: []string{strings.TrimSpace(got.Stderr)}}
	case *got.ExitCode != 0:
		return outcome{refusals: []string{strings.TrimSpace(got.Stderr)}, result: fmt.Sprintf("Exit code %d", *got.ExitCode)}
	}
	return outcome{result: "Exit code 0"}
}

// Channels.

// channel is an open channel with what it has sent.
type channel struct {
	*duplex.Channel
	output *notes
	over   chan struct{} // closed at the exit
}

func (w *world) open(s Step) outcome {
	c, ok := w.commands[s.Command]
	if !ok {
		return outcome{err: unknownName("command", s.Command)}
	}
	in, err := w.lease(s.Lease)
	if err != nil {
		return outcome{err: err}
	}
	opener := w.host.Service.OpenDuplexChannel
	if s.Direct {
		opener = w.host.Service.GetDriver(environment.DriverSandbox).(environment.DuplexOpener).OpenDuplexChannel
	}
	opened, err := opener(w.ctx, environment.DuplexInput{LeaseInput: in, Command: c.argv})
	if err != nil {
		return outcome{err: err}
	}
	ch := w.follow(opened)
	w.channels[s.Channel] = ch
	if s.Until != "" {
		if err := ch.until(w, s.Until); err != nil {
			return outcome{err: err}
		}
	}
	return outcome{result: "The channel is open"}
}

// follow listens to a channel.
func (w *world) follow(opened *duplex.Channel) *channel {
	w.opened = append(w.opened, opened)
	ch := &channel{Channel: opened, output: newNotes(), over: make(chan struct{})}
	opened.OnData(func(data []byte) { _, _ = ch.output.Write(data) })
	var once sync.Once
	opened.OnExit(func(duplex.Exit) { once.Do(func() { close(ch.over) }) })
	return ch
}

// until waits for output of the program.
func (c *channel) until(w *world, text string) error {
	over := errors.New("the channel ended")
	for {
		all, changed := c.output.text()
		if strings.Contains(all, text) {
			return nil
		}
		select {
		case <-changed:
		case <-c.over:
			return over
		case <-w.ctx.Done():
			return w.ctx.Err()
		}
	}
}

func (w *world) write(s Step) outcome {
	c := w.channels[s.Channel]
	if c == nil {
		return outcome{err: unknownName("channel", s.Channel)}
	}
	if _, err := c.Write(bytes.Repeat([]byte("x"), s.Bytes)); err != nil {
		return outcome{err: err}
	}
	if s.Until == "" {
		return outcome{}
	}
	return say(c.until(w, s.Until), "The program answers")
}

func (w *world) closeChannel(s Step) outcome {
	c := w.channels[s.Channel]
	if c == nil {
		return outcome{err: unknownName("channel", s.Channel)}
	}
	return outcome{err: c.Close()}
}

func (w *world) openLogin(s Step) outcome {
	in, err := w.lease(s.Lease)
	if err != nil {
		return outcome{err: err}
	}
	h, err := w.handle(in.Lease.Text("pluginId"))
	if err != nil {
		return outcome{err: err}
	}
	home := path.Join("/tmp/paperclip-adapter-login", newUUID())
	w.homes = append(w.homes, home)
	opened, err := h.OpenLogin(w.ctx, wire.LoginOpenParams{
		DriverKey: in.Lease.Text("provider"), CompanyID: in.Lease.CompanyID, EnvironmentID: in.Environment.ID,
		ProviderLeaseID: in.Lease.ProviderLeaseID, LoginCommandKey: "claude", SessionHome: home})
	if err != nil {
		return outcome{err: err}
	}
	w.follow(opened)
	return outcome{result: "The terminal is open"}
}

func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // does not fail
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Configurations.

func (w *world) validate(s Step) outcome {
	e, ok := w.environments[s.Environment]
	if !ok {
		return outcome{err: unknownName("environment", s.Environment)}
	}
	provider, _ := e.Config["provider"].(string)
	p, _, ok := w.host.Plugins.BySandboxDriver(provider, w.host.Workers.IsRunning)
	if !ok {
		return outcome{err: unknownName("plugin of provider", provider)}
	}
	config := maps.Clone(e.Config)
	delete(config, "provider")
	raw, err := w.host.Workers.Call(w.ctx, p.ID, worker.Request{
		Method: wire.MethodEnvironmentValidateConfig, Params: wire.ValidateParams{DriverKey: provider, Config: config}})
	if err != nil {
		return outcome{err: err}
	}
	var got wire.ValidateResult
	if err := json.Unmarshal(raw, &got); err != nil {
		return outcome{err: err}
	}
	if got.OK {
		return outcome{result: "The answer is `ok: true`"}
	}
	return outcome{refusals: got.Errors, result: "The answer is `ok: false`"}
}

func (w *world) save(s Step) outcome {
	e, ok := w.environments[s.Environment]
	if !ok {
		return outcome{err: unknownName("environment", s.Environment)}
	}
	_, err := w.host.Service.CheckConfig(w.ctx, e)
	return say(err, "It is saved")
}

// Requests and lines.

func (w *world) defineRequest(s Step) outcome {
	w.requests[s.Request] = s
	return outcome{}
}

func (w *world) call(s Step) outcome {
	q, ok := w.requests[s.Request]
	if !ok {
		return outcome{err: unknownName("request", s.Request)}
	}
	params := q.Params
	if params == nil {
		params = map[string]any{}
	}
	_, err := w.host.Workers.Call(w.ctx, s.Plugin, worker.Request{Method: q.Method, Params: params})
	return say(err, "The worker answers")
}

// sendLine writes one line to a process and returns the error that it answers
// with.
func (w *world) sendLine(s Step) outcome {
	q, ok := w.requests[s.Request]
	if !ok {
		return outcome{err: unknownName("request", s.Request)}
	}
	args := map[string][]string{fixture.Name: fixture.Args(), daytona.Name: daytona.Args()}[s.Worker]
	if args == nil {
		return outcome{err: unknownName("worker program", s.Worker)}
	}
	process := exec.CommandContext(w.ctx, w.program, args...)
	process.Env = slices.Concat(os.Environ(), []string{sdk.TellPlaceVariable + "=1"})
	process.Stdin = strings.NewReader(q.Line + "\n")
	out, err := process.StdoutPipe()
	if err == nil {
		err = process.Start()
	}
	if err != nil {
		return outcome{err: err}
	}
	answer, err := bufio.NewReader(out).ReadBytes('\n')
	_, _ = io.Copy(io.Discard, out)
	if err := errors.Join(err, process.Wait()); err != nil {
		return outcome{err: err}
	}
	m, err := wire.Parse(answer)
	if err != nil {
		return outcome{err: err}
	}
	if m.Error == nil {
		return outcome{result: "The worker answers " + code(string(bytes.TrimSpace(answer)))}
	}
	refused := fault.Received(m.Error.Message, m.Error.Code, m.Error.Data, *cmpPlace(m.Error.RaisedAt))
	refused.Class = "" // nothing but a code stands on the wire
	return outcome{err: refused}
}

func cmpPlace(p *fault.Place) *fault.Place {
	if p == nil {
		return &fault.Place{}
	}
	return p
}
