package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"errorkb/internal/kb"
)

// ScenarioVersion is the version of the form of a scenario.
const ScenarioVersion = 1

// Scenario shows how an error comes about, and how it is mended. It lies at
// <owner>/<name>/scenarios/<name of the scenario>.json; the record names it.
type Scenario struct {
	SchemaVersion int    `json:"schemaVersion"`
	Title         string `json:"title"` // what happens, one sentence
	// Host changes the host that the scenario runs on.
	Host *Host `json:"host,omitempty"`
	// Values of the placeholders of the message, by the name of the capture.
	Values map[string]string `json:"values,omitempty"`
	Steps  []Step            `json:"steps"`
	// Fails is the operation that fails.
	Fails Step `json:"fails"`
	// Seen is where the message is seen; "" means in the error of the operation.
	Seen     kb.Channel `json:"seen,omitempty"`
	Remedies []Remedy   `json:"remedies,omitempty"`
	// Also are other ways to the same message.
	Also []Variant `json:"also,omitempty"`

	name string
}

// Variant is another way to the message of a scenario, from the beginning: to
// another place that raises it, or with another error waiting behind it.
type Variant struct {
	Title  string            `json:"title"`
	Host   *Host             `json:"host,omitempty"`
	Values map[string]string `json:"values,omitempty"` // those of the scenario when there are none
	Steps  []Step            `json:"steps"`
	Fails  *Step             `json:"fails,omitempty"` // the operation of the scenario when there is none
	Seen   kb.Channel        `json:"seen,omitempty"`  // where that of the scenario is when it is ""
	// Then are the errors that come next, in their order.
	Then []Then `json:"then,omitempty"`
}

// Then is an error that an operation has in store behind another one.
type Then struct {
	Record string            `json:"record"` // slug
	Values map[string]string `json:"values,omitempty"`
	// Steps take away what came before it; then the operation is tried again.
	// Without steps it is found behind the others in the same result.
	Steps []Step `json:"steps,omitempty"`
}

// Remedy is a way out. After its steps the operation is tried again.
type Remedy struct {
	Solution int    `json:"solution"` // number of the record's solution, from 1
	Steps    []Step `json:"steps,omitempty"`
	// Instead is what is done in place of the operation, for errors of calls
	// that can never succeed.
	Instead *Step `json:"instead,omitempty"`
}

// Host changes limits of a host, so that nobody waits for long.
type Host struct {
	NoWorkers    bool `json:"noWorkers,omitempty"`    // a server process without a worker manager
	Channels     int  `json:"channels,omitempty"`     // at once, over all workers
	CallMs       int  `json:"callMs,omitempty"`       // time-out of a call that names none
	StoppedClock bool `json:"stoppedClock,omitempty"` // time passes by the step "advance" only
}

// Step is one step. Do names its verb; which other members it may have is up
// to the verb.
type Step struct {
	Do string `json:"do"`
	// Refused marks a step that has to fail for the scenario to go on.
	Refused bool `json:"refused,omitempty"`

	// Names of things of the scenario.
	Plugin      string `json:"plugin,omitempty"`
	Environment string `json:"environment,omitempty"`
	Lease       string `json:"lease,omitempty"`
	Command     string `json:"command,omitempty"`
	Request     string `json:"request,omitempty"`
	Channel     string `json:"channel,omitempty"`

	Worker       string            `json:"worker,omitempty"`       // program of a plugin: fixture or daytona
	Key          string            `json:"key,omitempty"`          // of a plugin
	Provider     string            `json:"provider,omitempty"`     // key of its sandbox driver
	Driver       string            `json:"driver,omitempty"`       // of an environment, or the plain driver of a plugin
	Status       string            `json:"status,omitempty"`       // of a plugin, environment or worker
	Name         string            `json:"name,omitempty"`         // of an environment
	Config       map[string]any    `json:"config,omitempty"`       // of an environment
	Capabilities map[string]*bool  `json:"capabilities,omitempty"` // to declare; null removes a key
	Program      string            `json:"program,omitempty"`      // path, when it is not this one
	Args         []string          `json:"args,omitempty"`         // of a worker
	Variables    map[string]string `json:"variables,omitempty"`    // of a worker or command
	Without      []string          `json:"without,omitempty"`      // variables or metadata to leave out
	Argv         []string          `json:"argv,omitempty"`         // of a command
	Set          map[string]any    `json:"set,omitempty"`          // metadata of a lease
	ResourceID   *string           `json:"resourceId,omitempty"`   // provider lease id of a lease
	Method       string            `json:"method,omitempty"`       // of a request
	Params       map[string]any    `json:"params,omitempty"`       // of a request
	Line         string            `json:"line,omitempty"`         // of a request that is no message
	Direct       bool              `json:"direct,omitempty"`       // ask the driver, not the facade
	Until        string            `json:"until,omitempty"`        // output to wait for
	Bytes        int               `json:"bytes,omitempty"`        // of input
	Milliseconds int               `json:"milliseconds,omitempty"` // to pass

	Operation   string `json:"operation,omitempty"` // of the service
	Fault       string `json:"fault,omitempty"`     // kind
	Message     string `json:"message,omitempty"`   // of a fault, or the reason of a state
	Resource    string `json:"resource,omitempty"`  // id of a sandbox
	Times       int    `json:"times,omitempty"`     // how often a fault happens; 0 until it is mended
	Recoverable bool   `json:"recoverable,omitempty"`
}

// Scenarios are scenarios by the path of their file, without its ending.
type Scenarios map[string]*Scenario

// of returns the scenario of a record, nil when there is none.
func (s Scenarios) of(r *kb.Record) *Scenario {
	if r.Scenario == nil {
		return nil
	}
	return s[scenarioPath(r.Repo, *r.Scenario)]
}

// Has reports whether the scenario of a record is there.
func (s Scenarios) Has(r *kb.Record) bool { return s.of(r) != nil }

func scenarioPath(repo, name string) string { return repo + "/" + folder + "/" + name }

// folder is where the scenarios of a repository lie.
const folder = "scenarios"

// Load reads all scenarios of a records folder. Every mistake is reported.
func Load(fsys fs.FS) (Scenarios, error) {
	names, err := fs.Glob(fsys, "*/*/"+folder+"/*.json")
	if err != nil {
		return nil, fmt.Errorf("scenarios: %w", err)
	}
	list := Scenarios{}
	var mistakes []error
	for _, name := range names {
		data, err := fs.ReadFile(fsys, name)
		if err == nil {
			var s *Scenario
			if s, err = Decode(data); err == nil {
				s.name = strings.TrimSuffix(path.Base(name), ".json")
				list[strings.TrimSuffix(name, ".json")] = s
			}
		}
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("%s: %w", name, err))
		}
	}
	return list, errors.Join(mistakes...)
}

// Decode reads a scenario strictly.
func Decode(data []byte) (*Scenario, error) {
	var s Scenario
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("there is something after the scenario")
	}
	return &s, s.check()
}

// check says what is wrong with a scenario as such.
func (s *Scenario) check() error {
	var wrong []error
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if s.SchemaVersion != ScenarioVersion {
		complain("schemaVersion is %d, not %d", s.SchemaVersion, ScenarioVersion)
	}
	if s.Title == "" {
		complain("there is no title")
	}
	seen := func(where string, at kb.Channel) {
		switch at {
		case "", kb.ChannelError, kb.ChannelResult, kb.ChannelStderr, kb.ChannelLog:
		default:
			complain("%s is %q; known are error, result, stderr and log", where, at)
		}
	}
	seen("seen", s.Seen)
	steps := func(where string, list []Step) {
		for i, step := range list {
			if err := step.check(); err != nil {
				complain("%s[%d]: %w", where, i, err)
			}
		}
	}
	steps("steps", s.Steps)
	steps("fails", []Step{s.Fails})
	for i, r := range s.Remedies {
		if r.Solution < 1 {
			complain("remedies[%d]: solution is %d; they count from 1", i, r.Solution)
		}
		steps(fmt.Sprintf("remedies[%d].steps", i), r.Steps)
		if r.Instead != nil {
			steps(fmt.Sprintf("remedies[%d].instead", i), []Step{*r.Instead})
		}
	}
	for i, v := range s.Also {
		where := fmt.Sprintf("also[%d]", i)
		if v.Title == "" {
			complain("%s: there is no title", where)
		}
		seen(where+".seen", v.Seen)
		steps(where+".steps", v.Steps)
		if v.Fails != nil {
			steps(where+".fails", []Step{*v.Fails})
		}
		for j, next := range v.Then {
			if next.Record == "" {
				complain("%s.then[%d]: there is no record", where, j)
			}
			steps(fmt.Sprintf("%s.then[%d].steps", where, j), next.Steps)
		}
	}
	return errors.Join(wrong...)
}

// check says what is wrong with a step as such: an unknown verb, or a member
// that the verb does not know or misses.
func (s Step) check() error {
	v, known := verbs[s.Do]
	if !known {
		return fmt.Errorf("unknown verb %q", s.Do)
	}
	have := s.members()
	for _, m := range have {
		if !slices.Contains(v.needs, m) && !slices.Contains(v.takes, m) {
			return fmt.Errorf("%q does not take %q", s.Do, m)
		}
	}
	for _, m := range v.needs {
		if !slices.Contains(have, m) {
			return fmt.Errorf("%q needs %q", s.Do, m)
		}
	}
	return nil
}

// members lists the members that a step has, apart from its verb.
func (s Step) members() []string {
	raw, _ := json.Marshal(s) // plain types
	var all map[string]json.RawMessage
	_ = json.Unmarshal(raw, &all)
	var list []string
	for m := range all {
		if m != "do" && m != "refused" {
			list = append(list, m)
		}
	}
	slices.Sort(list)
	return list
}
