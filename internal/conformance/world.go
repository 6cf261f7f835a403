package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"errorkb/internal/runtime/clock"
	"errorkb/internal/runtime/daytona"
	"errorkb/internal/runtime/daytona/service"
	"errorkb/internal/runtime/duplex"
	"errorkb/internal/runtime/environment"
	"errorkb/internal/runtime/fixture"
	"errorkb/internal/runtime/host"
	"errorkb/internal/runtime/plugin"
	"errorkb/internal/runtime/sdk"
	"errorkb/internal/runtime/worker"
)

// RunWorkerIfAsked runs a worker of the runtime and exits when the arguments of
// this process say so. The TestMain of a package that proves calls it first.
func RunWorkerIfAsked() {
	fixture.RunIfAsked()
	daytona.RunIfAsked()
}

// world is the runtime on which one scenario runs, and the things that have
// names in it.
type world struct {
	ctx     context.Context
	program string
	dir     string // of this run; goes away with it
	config  host.Config
	host    *host.Host
	service *service.Service // nil until something needs it
	clock   *clock.Fake      // nil when time passes by itself
	stderr  *notes           // lines of error output of the workers
	log     *notes           // lines of the host's log

	plugins      map[string]*installed
	environments map[string]environment.Environment
	leases       map[string]held
	commands     map[string]command
	requests     map[string]Step
	channels     map[string]*channel
	handlers     map[string]worker.Handler
	handles      []*worker.Handle // all that were ever started
	opened       []*duplex.Channel
	homes        []string // of logins
}

// installed is a plugin and how its worker is started.
type installed struct {
	worker string // name of the program
	start  Step   // as worker-program says
	handle *worker.Handle
}

// held is a lease by the ids under which it is looked up again for each step.
type held struct{ environment, id string }

type command struct {
	argv      []string
	variables map[string]string
}

// newWorld makes the host of a scenario.
func newWorld(ctx context.Context, program string, h *Host) (*world, error) {
	dir, err := os.MkdirTemp("", "kb-prove-")
	if err != nil {
		return nil, fmt.Errorf("directory of a scenario: %w", err)
	}
	w := &world{
		ctx: ctx, program: program, dir: dir, stderr: newNotes(), log: newNotes(),
		plugins: map[string]*installed{}, environments: map[string]environment.Environment{}, leases: map[string]held{},
		commands: map[string]command{}, requests: map[string]Step{}, channels: map[string]*channel{}, handlers: map[string]worker.Handler{},
	}
	w.config = host.Config{
		Dir: filepath.Join(dir, "leases"), Limits: environment.DefaultLimits(), WorkerLimits: worker.DefaultLimits(),
		Jitter: func() float64 { return 0 }, Log: newLogger(w.log), Stderr: w.stderr,
	}
	// Nobody waits for long: what the limits are does not change what follows.
	l, wl := &w.config.Limits, &w.config.WorkerLimits
	l.WorkerWait, l.WorkerPoll = 20*time.Millisecond, 5*time.Millisecond
	l.ResumeBudget, l.ResumeBackoff = 30*time.Millisecond, 4*time.Millisecond
	l.CleanupPause = time.Millisecond
	wl.Leave, wl.Backoff = 50*time.Millisecond, 20*time.Millisecond
	if h != nil {
		w.config.NoWorkers, w.config.Ceiling = h.NoWorkers, h.Channels
		if h.CallMs > 0 {
			wl.Call = time.Duration(h.CallMs) * time.Millisecond
		}
		if h.StoppedClock {
			w.clock = clock.NewFake(time.Unix(1_800_000_000, 0))
			w.config.Clock = w.clock
		}
	}
	if w.host, err = host.New(w.config); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return w, nil
}

// close ends everything that the scenario started and returns what could not
// be ended. All error output was read by then.
func (w *world) close() error {
	for _, c := range w.opened {
		_ = c.Close() // a worker that does not confirm is killed for it
	}
	w.host.Close()
	for _, h := range w.handles {
		h.Stop()
	}
	var errs []error
	if w.service != nil {
		errs = append(errs, w.service.Close())
	}
	for _, home := range w.homes {
		errs = append(errs, os.RemoveAll(home))
		_ = os.Remove(filepath.Dir(home)) // when it is empty
	}
	return errors.Join(append(errs, os.RemoveAll(w.dir))...)
}

// run runs one step.
func (w *world) run(s Step) outcome {
	if err := w.ctx.Err(); err != nil {
		return outcome{err: err}
	}
	switch s.Do {
	case "break-service", "mend-service", "sandbox-state":
		if w.service == nil {
			return outcome{err: errors.New("there is no service yet; install the daytona plugin")}
		}
	case "start-worker", "stop-worker", "validate", "call":
		if w.host.Workers == nil {
			return outcome{err: errors.New("the server process has no workers")}
		}
	}
	return verbs[s.Do].run(w, s)
}

// unknownName is the error of a step that names something that there is not.
func unknownName(what, name string) error { return fmt.Errorf("the scenario has no %s %q", what, name) }

var randomID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// steady replaces what differs between two runs by a fixed word.
func (w *world) steady(text string) string {
	if w.service != nil {
		text = strings.ReplaceAll(text, w.service.URL(), "http://127.0.0.1:PORT/api")
		text = strings.ReplaceAll(text, w.service.Key(), "KEY")
	}
	text = strings.ReplaceAll(text, w.dir, "DIR")
	text = strings.ReplaceAll(text, w.program, "kb")
	return randomID.ReplaceAllString(text, "UUID")
}

// Plugins and workers.

func (w *world) install(s Step) outcome {
	var p plugin.Plugin
	switch s.Worker {
	case fixture.Name:
		p = fixture.Plugin(s.Plugin)
	case daytona.Name:
		manifest, err := plugin.ParseManifest(daytona.Manifest())
		if err != nil {
			return outcome{err: err}
		}
		p = plugin.Plugin{ID: s.Plugin, Key: daytona.PluginKey, Status: plugin.Ready, Manifest: manifest}
		if err := w.needService(); err != nil {
			return outcome{err: err}
		}
	default:
		return outcome{err: unknownName("worker program", s.Worker)}
	}
	if s.Key != "" {
		p.Key = s.Key
	}
	change(&p, s)
	w.host.Plugins.Install(p)
	w.plugins[s.Plugin] = &installed{worker: s.Worker}
	return outcome{}
}

func (w *world) editPlugin(s Step) outcome {
	if !w.host.Plugins.Edit(s.Plugin, func(p *plugin.Plugin) { change(p, s) }) {
		return outcome{err: unknownName("plugin", s.Plugin)}
	}
	return outcome{}
}

// change applies to a plugin what a step says of it.
func change(p *plugin.Plugin, s Step) {
	if s.Status != "" {
		p.Status = plugin.Status(s.Status)
	}
	p.Manifest.EnvironmentDrivers = slices.Clone(p.Manifest.EnvironmentDrivers)
	for i := range p.Manifest.EnvironmentDrivers {
		d := &p.Manifest.EnvironmentDrivers[i]
		if d.Kind != plugin.KindSandboxProvider {
			if s.Driver != "" {
				d.DriverKey = s.Driver
			}
			continue
		}
		if s.Provider != "" {
			d.DriverKey = s.Provider
		}
		d.SandboxCapabilities = maps.Clone(d.SandboxCapabilities)
		for key, value := range s.Capabilities {
			if value == nil {
				delete(d.SandboxCapabilities, key)
			} else {
				d.SandboxCapabilities[key] = *value
			}
		}
	}
}

func (w *world) workerProgram(s Step) outcome {
	p := w.plugins[s.Plugin]
	if p == nil {
		return outcome{err: unknownName("plugin", s.Plugin)}
	}
	p.start = s
	return outcome{}
}

// commandOf says how the worker of a plugin is started.
func (w *world) commandOf(p *installed) worker.Command {
	c := worker.Command{Path: w.program, Args: fixture.Args(p.start.Args...), Env: map[string]string{}}
	if p.worker == daytona.Name {
		c.Args = daytona.Args()
		maps.Copy(c.Env, w.service.Env())
	}
	c.Env[sdk.TellPlaceVariable] = "1"
	maps.Copy(c.Env, p.start.Variables)
	for _, name := range p.start.Without {
		delete(c.Env, name)
	}
	if p.start.Program != "" {
		c.Path = p.start.Program
	}
	return c
}

func (w *world) startWorker(s Step) outcome {
	p := w.plugins[s.Plugin]
	if p == nil {
		return outcome{err: unknownName("plugin", s.Plugin)}
	}
	options := w.host.Options(s.Plugin, w.commandOf(p))
	options.Handlers, options.TellPlace = maps.Clone(w.handlers), true
	h, err := w.host.Workers.Start(w.ctx, s.Plugin, options)
	if h != nil {
		p.handle = h
		w.handles = append(w.handles, h)
	}
	if err != nil {
		return outcome{err: err}
	}
	return outcome{result: "It is " + code(string(h.Status()))}
}

// handle returns the worker of a plugin, also one that was stopped.
func (w *world) handle(id string) (*worker.Handle, error) {
	if p := w.plugins[id]; p != nil && p.handle != nil {
		return p.handle, nil
	}
	return nil, unknownName("started worker of plugin", id)
}

func (w *world) startHandle(s Step) outcome {
	h, err := w.handle(s.Plugin)
	if err == nil {
		err = h.Start(w.ctx)
	}
	if err != nil {
		return outcome{err: err}
	}
	return outcome{result: "It is " + code(string(h.Status()))}
}

func (w *world) stopWorker(s Step) outcome {
	w.host.Workers.Stop(s.Plugin)
	return outcome{}
}

// killWorker kills the process and waits until the host has seen it.
func (w *world) killWorker(s Step) outcome {
	h, err := w.handle(s.Plugin)
	if err != nil {
		return outcome{err: err}
	}
	crashes := crashed(h)
	h.Kill()
	return say(w.until(func() bool { return crashed(h) > crashes }), "The host notes a crash")
}

func crashed(h *worker.Handle) int {
	n := 0
	for _, s := range h.History() {
		if s == worker.Crashed {
			n++
		}
	}
	return n
}

// until waits for something that nothing tells of.
func (w *world) until(over func() bool) error {
	for !over() {
		if err := clock.Sleep(w.ctx, clock.Real(), 2*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) awaitWorker(s Step) outcome {
	h, err := w.handle(s.Plugin)
	if err == nil {
		err = h.WaitStatus(w.ctx, worker.Status(s.Status))
	}
	return outcome{err: err}
}

func (w *world) advance(s Step) outcome {
	if w.clock == nil {
		return outcome{err: errors.New("the clock of the host runs by itself; set stoppedClock")}
	}
	w.clock.Advance(time.Duration(s.Milliseconds) * time.Millisecond)
	return outcome{}
}

func (w *world) serverWithWorkers(Step) outcome {
	old := w.host
	w.config.NoWorkers = false
	fresh, err := host.New(w.config)
	if err != nil {
		return outcome{err: err}
	}
	for _, id := range slices.Sorted(maps.Keys(w.plugins)) {
		if p, ok := old.Plugins.ByID(id); ok {
			fresh.Plugins.Install(p)
		}
	}
	old.Close()
	w.host = fresh
	return outcome{}
}

func (w *world) hostMethod(s Step) outcome {
	w.handlers[s.Method] = func(context.Context, rawJSON) (any, error) { return "answer of the host", nil }
	return outcome{}
}

// The service.

func (w *world) needService() error {
	if w.service != nil {
		return nil
	}
	var err error
	w.service, err = service.Start(service.Options{Dir: w.dir})
	return err
}

func (w *world) breakService(s Step) outcome {
	f := service.Fault{Operation: s.Operation, Kind: s.Fault, Message: s.Message, Times: s.Times}
	if s.Fault == service.KindWrongID {
		f.ID = s.Resource
	}
	return outcome{err: w.service.Break(f)}
}

func (w *world) mendService(Step) outcome {
	w.service.Mend("")
	return outcome{}
}

func (w *world) sandboxState(s Step) outcome {
	return outcome{err: w.service.SetState(s.Resource, s.Status, s.Message, s.Recoverable)}
}
