// Package conformance proves records and the reference runtime against each
// other. Load reads the scenarios of a records folder, Prove runs them and
// returns what it found as a kb.Proof.
//
// A scenario is data: steps in a small vocabulary (verbs.go) that one
// interpreter (world.go) runs over the real runtime, with worker processes,
// terminals and a Daytona-style service. It says which operation fails, and
// nothing about how: message, code and class are those of the record, filled
// with the values of the scenario. Then come the steps of a remedy, after
// which the same operation has to succeed.
//
// The other direction is read from the source (source.go): every place of the
// runtime that can raise an error has a record or a written reason to have
// none (exempt.go).
package conformance

import (
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"
	"time"

	"errorkb/internal/diagnose"
	"errorkb/internal/diagnose/entry"
	"errorkb/internal/kb"
	reference "errorkb/internal/runtime"
)

// Config says what to prove.
type Config struct {
	Records   *kb.Set
	Scenarios Scenarios
	// Program runs workers: the kb program, or a test binary whose TestMain
	// calls RunWorkerIfAsked.
	Program string
	// Only restricts the proof to records with these ids; nil proves all.
	Only []string
	// Parallel is how many scenarios run at once. Zero means twice the number
	// of processors.
	Parallel int
	// Limit bounds one run of a scenario, so that a proof ends whatever happens.
	// Zero means DefaultLimit.
	Limit time.Duration
	// Progress, if not nil, is told after each scenario.
	Progress func(done, total int)
	// Trace, if not nil, gets each step as it happens. It wants one scenario
	// at a time to be readable.
	Trace func(Event)
}

// Event is a step of a running scenario.
type Event struct {
	Record   string // id
	Heading  string // begins a new part; then Step is empty
	Solution int    // that the part carries out, from 1; 0 for a part that leads to the failure
	Step     kb.ProofStep
	Emitted  *kb.Emitted // what was seen, of the step that fails as it has to; nil for others
}

// Result is the outcome of Prove.
type Result struct {
	Proof *kb.Proof
	// Problems say what is wrong apart from single records: places without a
	// record, exemptions that are not needed, messages that are mistaken.
	Problems []string
	// Missing lists the ids of records without a scenario.
	Missing []string
	// Late lists the ids of records that are not proven for want of time alone.
	Late []string
}

// Proven counts the records that are proven.
func (r *Result) Proven() int {
	n := 0
	for _, e := range r.Proof.Records {
		if e.Proven {
			n++
		}
	}
	return n
}

// OK reports whether there is nothing to complain about.
func (r *Result) OK() bool {
	return r.Proven() == len(r.Proof.Records) && len(r.Problems) == 0 && len(r.Missing) == 0
}

// DefaultLimit is how long one run of a scenario may take. All take a few
// seconds on an idle machine.
const DefaultLimit = time.Minute

// Prove runs the scenarios and reads the source of the runtime. The error is
// that of ctx or of a broken set-up; what is not proven stands in the result.
func Prove(ctx context.Context, c Config) (*Result, error) {
	p, err := newProver(c)
	if err != nil {
		return nil, err
	}
	result := &Result{Proof: &kb.Proof{SchemaVersion: kb.EvidenceVersion,
		Records: []kb.Evidence{}, Places: []kb.RaisePlace{}, Operations: []kb.Operation{}, Siblings: []kb.Sibling{}}}
	var chosen []*kb.Record
	for _, r := range c.Records.Records {
		switch {
		case c.Only != nil && !slices.Contains(c.Only, r.ID):
		case r.Scenario == nil:
			result.Missing = append(result.Missing, r.ID)
		default:
			chosen = append(chosen, r)
		}
	}
	result.Proof.Records, result.Late, err = p.runAll(ctx, chosen)
	if err != nil {
		return nil, err
	}
	if c.Only == nil && len(chosen) > 0 {
		// A set without any scenario says nothing about the runtime.
		p.whole(ctx, result)
	}
	return result, ctx.Err()
}

// prover is one run of Prove.
type prover struct {
	Config
	source *source
	engine *diagnose.Engine
	byID   map[string]*kb.Record
}

func newProver(c Config) (*prover, error) {
	source, err := readSource(reference.Source)
	if err != nil {
		return nil, err
	}
	if c.Limit <= 0 {
		c.Limit = DefaultLimit
	}
	p := &prover{Config: c, source: source, byID: map[string]*kb.Record{}}
	entries := make([]diagnose.Entry, len(c.Records.Records))
	for i, r := range c.Records.Records {
		p.byID[r.ID] = r
		entries[i] = entry.Of(r, "")
	}
	if p.engine, err = diagnose.New(c.Records.Version, entries); err != nil {
		return nil, fmt.Errorf("conformance: %w", err)
	}
	return p, nil
}

func (p *prover) runAll(ctx context.Context, records []*kb.Record) (evidence []kb.Evidence, late []string, err error) {
	evidence = make([]kb.Evidence, len(records))
	slow := make([]bool, len(records))
	parallel := p.Parallel
	if parallel <= 0 {
		parallel = 2 * goruntime.GOMAXPROCS(0)
	}
	slots := make(chan struct{}, parallel)
	var running sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for i, r := range records {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			running.Wait()
			return nil, nil, ctx.Err()
		}
		running.Go(func() {
			defer func() { <-slots }()
			evidence[i], slow[i] = p.prove(ctx, r)
			if p.Progress != nil {
				mu.Lock()
				defer mu.Unlock()
				done++
				p.Progress(done, len(records))
			}
		})
	}
	running.Wait()
	for i, r := range records {
		if slow[i] {
			late = append(late, r.ID)
		}
	}
	return evidence, late, ctx.Err()
}

// whole adds what concerns the set as a whole.
func (p *prover) whole(ctx context.Context, result *Result) {
	places, problems := p.source.cover(p.Records.Records, exemptPlaces)
	result.Proof.Places = places
	result.Problems = append(result.Problems, problems...)
	operations, problems := p.source.operations(places)
	result.Proof.Operations = operations
	result.Problems = append(result.Problems, problems...)
	siblings, problems := p.siblings(ctx, result.Proof.Records)
	result.Proof.Siblings = siblings
	result.Problems = append(result.Problems, problems...)
	result.Problems = append(result.Problems, unusedScenarios(p.Scenarios, p.Records.Records)...)
	result.Problems = append(result.Problems, unusedRemedyExemptions(p.Records.Records)...)
}
