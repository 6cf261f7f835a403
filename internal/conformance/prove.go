package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"errorkb/internal/diagnose"
	"errorkb/internal/kb"
)

// proof is the proof of one record under way.
type proof struct {
	*prover
	record   *kb.Record
	scenario *Scenario
	then     []Then // what follows the failure; of a variant only
	expected string // message
	evidence kb.Evidence
	run      context.Context // of the run under way; nil before the first
	wrong    bool            // some problem is more than that a run took too long
}

func (p *prover) begin(r *kb.Record, s *Scenario) *proof {
	return &proof{prover: p, record: r, scenario: s, evidence: kb.Evidence{
		Record: r.ID, Scenario: *r.Scenario, Problems: []string{}, Steps: []kb.ProofStep{}, Remedies: []kb.Remedy{}, Captures: []kb.CaptureValue{},
		Emitted:   kb.Emitted{Chain: []kb.ChainLink{}, Place: kb.ProofPlace{Lines: []string{}}},
		Diagnosis: kb.PasteResult{Captures: []kb.CaptureValue{}},
	}}
}

func (p *proof) problem(format string, args ...any) { p.problemOf(nil, format, args...) }

// problemOf notes a problem that comes from an error.
func (p *proof) problemOf(err error, format string, args ...any) {
	late := p.run != nil && errors.Is(p.run.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
	p.note(fmt.Sprintf(format, args...), late)
}

// note adds a problem, and whether it is only that something took too long.
func (p *proof) note(text string, late bool) {
	p.wrong = p.wrong || !late
	if !slices.Contains(p.evidence.Problems, text) {
		p.evidence.Problems = append(p.evidence.Problems, text)
	}
}

// late reports whether the record is not proven for want of time alone.
func (p *proof) late() bool { return len(p.evidence.Problems) > 0 && !p.wrong }

func (p *proof) tell(e Event) {
	if p.Trace != nil {
		e.Record = p.record.ID
		p.Trace(e)
	}
}

func (p *proof) traced(step kb.ProofStep) kb.ProofStep {
	p.tell(Event{Step: step})
	return step
}

// prove runs the scenario of a record: once for each remedy, at least once, and
// then its variants. What follows a failure that did not come is not run. late says
// that nothing is wrong but that it took too long.
func (p *prover) prove(ctx context.Context, r *kb.Record) (e kb.Evidence, late bool) {
	x := p.begin(r, p.Scenarios.of(r))
	x.prove(ctx)
	return x.evidence, x.late()
}

func (p *proof) prove(ctx context.Context) {
	if p.scenario == nil {
		p.problem("there is no scenario %q", *p.record.Scenario)
		return
	}
	p.evidence.Title = p.scenario.Title
	if err := p.expect(); err != nil {
		p.problem("%v", err)
		return
	}
	for i := range max(1, len(p.scenario.Remedies)) {
		if !p.runOnce(ctx, i) {
			return
		}
	}
	p.remedyRules()
	for _, v := range p.scenario.Also {
		p.variant(ctx, v)
	}
	p.evidence.Proven = len(p.evidence.Problems) == 0
}

// expect makes the message that has to be seen from the record and the values.
func (p *proof) expect() (err error) {
	p.expected, p.evidence.Captures, err = filled(p.record, p.scenario.Values)
	return err
}

// filled is the message of a record with values, by the name of the capture.
func filled(r *kb.Record, values map[string]string) (string, []kb.CaptureValue, error) {
	holes := kb.Placeholders(r.ErrorMessage)
	if len(holes) != len(r.Captures) {
		return "", nil, fmt.Errorf("the message has %d placeholders, the record %d captures", len(holes), len(r.Captures))
	}
	captures := []kb.CaptureValue{}
	rest := maps.Clone(values)
	var b strings.Builder
	message := r.ErrorMessage
	for i, hole := range holes {
		name := r.Captures[i].Name
		value, ok := values[name]
		if !ok {
			return "", nil, fmt.Errorf("the scenario has no value for %q", name)
		}
		delete(rest, name)
		captures = append(captures, kb.CaptureValue{Name: name, Value: value})
		before, after, _ := strings.Cut(message, hole)
		b.WriteString(before + value)
		message = after
	}
	if len(rest) > 0 {
		return "", nil, fmt.Errorf("the record has no capture %q", slices.Sorted(maps.Keys(rest)))
	}
	return b.String() + message, captures, nil
}

// runOnce runs the scenario and its remedy with the index, if there is one. The
// first run is the one that is written down. It returns false when the
// operation did not fail as it has to.
func (p *proof) runOnce(ctx context.Context, index int) bool {
	ctx, cancel := context.WithTimeout(ctx, p.Limit)
	defer cancel()
	p.run = ctx
	w, err := newWorld(ctx, p.Program, p.scenario.Host)
	if err != nil {
		p.problemOf(err, "%v", err)
		return false
	}
	first := index == 0
	closed := false
	end := func() {
		if closed {
			return
		}
		closed = true
		if err := w.close(); err != nil {
			p.problemOf(err, "something is left: %v", err)
		}
	}
	defer end()

	if first {
		p.tell(Event{Heading: p.scenario.Title})
	} else {
		p.tell(Event{Heading: "The same again, with another remedy"})
	}
	var steps []kb.ProofStep
	if !p.steps(w, p.scenario.Steps, &steps) {
		if first {
			p.evidence.Steps = steps
		}
		return false
	}
	seen := w.marks()
	out := w.run(p.scenario.Fails)
	emitted, ok := p.emission(w, out, seen)
	step := kb.ProofStep{Text: p.scenario.Fails.words(), Result: resultWords(emitted, out)}
	if ok {
		p.tell(Event{Step: step, Emitted: &emitted})
	} else {
		step.Result = w.steady(failureWords(out))
		p.tell(Event{Step: step})
	}
	if first {
		p.evidence.Steps = append(append([]kb.ProofStep{}, steps...), step)
		p.evidence.Emitted = emitted
	}
	if !ok {
		if p.inOutput() {
			end()
			p.unseen(w)
		}
		return false
	}
	if first {
		p.compare(emitted)
		p.paste(ctx, emitted)
		p.follow(w, out)
	}
	if index < len(p.scenario.Remedies) {
		p.remedy(w, p.scenario.Remedies[index])
	}
	end()
	if n := p.count(w); p.inOutput() && n != 1 {
		p.problem("the message was seen %d times in the %s of the whole run, not once", n, p.channel())
	}
	return true
}

// steps runs steps that have to work, or to fail when they are marked.
func (p *proof) steps(w *world, list []Step, done *[]kb.ProofStep) bool {
	for _, s := range list {
		out := w.run(s)
		step := kb.ProofStep{Text: s.words(), Result: w.steady(out.result)}
		if !out.ok() {
			step.Result = w.steady(failureWords(out))
		}
		*done = append(*done, p.traced(step))
		if out.ok() == s.Refused {
			what := "did not work"
			if s.Refused {
				what = "worked, and should not have"
			}
			p.problemOf(out.err, "a step %s: %s. %s", what, s.words(), step.Result)
			return false
		}
	}
	return true
}

func (s Step) words() string { return verbs[s.Do].words(s) }

func failureWords(out outcome) string {
	switch {
	case out.err != nil:
		return "It fails: " + code(out.err.Error())
	case len(out.refusals) > 0:
		return strings.TrimSpace(out.result + " " + code(strings.Join(out.refusals, "`, `")))
	}
	return out.result
}

func resultWords(e kb.Emitted, out outcome) string {
	switch e.Channel {
	case kb.ChannelStderr:
		return strings.TrimPrefix(out.result+"; on the worker's error output stands "+code(e.Text), "; ")
	case kb.ChannelLog:
		return "In the log of the host stands " + code(e.Text)
	case kb.ChannelResult:
		return strings.TrimPrefix(out.result+": "+code(e.Text), ": ")
	}
	return "It fails: " + code(e.Text)
}

func (p *proof) channel() kb.Channel {
	if p.scenario.Seen == "" {
		return kb.ChannelError
	}
	return p.scenario.Seen
}

// compare holds what was seen against the record.
func (p *proof) compare(e kb.Emitted) {
	if e.Channel == kb.ChannelError || len(e.Chain) > 0 {
		differ(p, "code", p.record.ErrorCode, e.Code)
		differ(p, "class", p.record.ErrorClass, e.Class)
		differ(p, "HTTP status", p.record.HTTPStatus, e.Status)
	}
	fits := false
	for _, r := range p.source.of(p.record) {
		fits = fits || r.Place == e.Place.Place
	}
	if !fits {
		p.problem("%s:%d raised the message, and its template there is another", e.Place.File, e.Place.Line)
	}
}

func differ[T comparable](p *proof, what string, record, seen *T) {
	show := func(v *T) string {
		if v == nil {
			return "none"
		}
		return fmt.Sprint(*v)
	}
	if (record == nil) != (seen == nil) || record != nil && *record != *seen {
		p.problem("the %s is %s, the record says %s", what, show(seen), show(record))
	}
}

// paste gives the text that was seen to the diagnosis.
func (p *proof) paste(ctx context.Context, e kb.Emitted) {
	answer := p.engine.Diagnose(ctx, []byte(e.Text), diagnose.Options{})
	result := &p.evidence.Diagnosis
	result.Verdict = string(answer.Verdict)
	at := slices.IndexFunc(answer.Diagnoses, func(d diagnose.Diagnosis) bool { return d.Record.ID == p.record.ID })
	if at < 0 {
		p.problem("the diagnosis of %s does not find this record", code(e.Text))
		return
	}
	d := answer.Diagnoses[at]
	result.Kind, result.Confidence, result.First = string(d.Kind), d.Confidence, at == 0
	for _, c := range d.Evidence[0].Captures {
		result.Captures = append(result.Captures, kb.CaptureValue{Name: c.Name, Value: c.Value})
	}
	if at > 0 {
		before := answer.Diagnoses[at-1].Record.ID
		if at > 1 || !p.wraps(before) {
			p.problem("the diagnosis of %s puts %s first", code(e.Text), answer.Diagnoses[0].Record.ID)
		}
		result.Cause = &before
	}
	if !slices.Equal(result.Captures, p.evidence.Captures) {
		p.problem("the diagnosis reads the values %v, the scenario used %v", result.Captures, p.evidence.Captures)
	}
}

// wraps reports whether this record is a wrapper that carried the message of
// another record, which is the cause and comes before it.
func (p *proof) wraps(id string) bool {
	other := p.byID[id]
	if p.record.Role != kb.RoleWrapper || other == nil || other.Role == kb.RoleWrapper {
		return false
	}
	literal, _, _ := strings.Cut(skeletonOfMessage(other.ErrorMessage), gap)
	return slices.ContainsFunc(p.evidence.Captures, func(c kb.CaptureValue) bool { return strings.HasPrefix(c.Value, literal) })
}

// remedy runs a remedy after the failure.
func (p *proof) remedy(w *world, r Remedy) {
	p.tell(Event{Heading: fmt.Sprintf("Remedy: solution %d", r.Solution), Solution: r.Solution})
	done := kb.Remedy{Solution: r.Solution, Steps: []kb.ProofStep{}, Again: r.Instead == nil}
	if p.steps(w, r.Steps, &done.Steps) {
		last := p.scenario.Fails
		if r.Instead != nil {
			last = *r.Instead
		}
		out := w.run(last)
		step := kb.ProofStep{Text: last.words(), Result: w.steady(out.result)}
		if out.ok() {
			done.Works = true
			step.Result = strings.TrimSuffix("It succeeds. "+step.Result, " ")
		} else {
			step.Result = w.steady(failureWords(out))
			p.problem("solution %d does not help: %s", r.Solution, step.Result)
		}
		done.Steps = append(done.Steps, p.traced(step))
	}
	if r.Solution > len(p.record.Solutions) {
		p.problem("the record has no solution %d", r.Solution)
	}
	p.evidence.Remedies = append(p.evidence.Remedies, done)
}

// remedyRules makes sure that the same operation succeeds after some remedy, or
// that it is written down why it cannot.
func (p *proof) remedyRules() {
	again := slices.ContainsFunc(p.evidence.Remedies, func(r kb.Remedy) bool { return r.Again })
	reason, exempt := exemptRemedies[p.record.ID]
	switch {
	case again && exempt:
		p.problem("the exemption from a remedy is not needed any more")
	case !again && !exempt:
		p.problem("there is neither a remedy after which the operation succeeds nor an exemption")
	case exempt:
		p.evidence.NoRemedy = &reason
	}
	// Readers try the solutions from the top.
	for i := range p.record.Solutions {
		if !slices.ContainsFunc(p.evidence.Remedies, func(r kb.Remedy) bool { return r.Solution == i+1 }) {
			behind := slices.IndexFunc(p.evidence.Remedies, func(r kb.Remedy) bool { return r.Solution > i+1 })
			if behind >= 0 {
				p.problem("solution %d has a remedy and stands behind solution %d, which has none", p.evidence.Remedies[behind].Solution, i+1)
			}
			return
		}
	}
}
