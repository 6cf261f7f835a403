package conformance

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"errorkb/internal/kb"
)

func bundled(t *testing.T) Config {
	t.Helper()
	fsys := os.DirFS(recordsDir)
	sources, findings := kb.ReadDir(fsys)
	if kb.HasErrors(findings) {
		t.Fatal(findings)
	}
	scenarios, err := Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Config{Records: kb.NewSet(sources), Scenarios: scenarios, Program: self}
}

// TestProve proves the bundled records, and that nothing is left of it.
func TestProve(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	result, err := Prove(t.Context(), bundled(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range result.Proof.Records {
		for _, problem := range e.Problems {
			t.Errorf("%s: %s", e.Scenario, problem)
		}
	}
	for _, problem := range result.Problems {
		t.Error(problem)
	}
	if len(result.Missing) > 0 {
		t.Errorf("records without a scenario: %v", result.Missing)
	}
	proven := func(id string) bool { e := result.Proof.Of(id); return e != nil && e.Proven }
	for _, seed := range []string{"76cd561cc94f654d", "2cc91d4b712d79f6", "fbc48e17530ae3db", "ec727a874bad4398", "aac633ea169db74f"} {
		if !proven(seed) {
			t.Errorf("%s is not proven", seed)
		}
	}
	if result.Proven() < 72 {
		t.Errorf("only %d records are proven", result.Proven())
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
	committed, err := kb.ReadEvidence(os.DirFS(recordsDir))
	if err != nil || committed == nil {
		t.Fatalf("evidence: %v", err)
	}
	if string(committed.Canonical()) != string(result.Proof.Canonical()) {
		t.Error("records/evidence.json is stale; run: go run ./cmd/kb prove")
	}
}

// one is a set of one record with a short scenario, to be spoilt by a test.
func one(t *testing.T) (Config, *kb.Record, *Scenario) {
	t.Helper()
	c := bundled(t)
	i := slices.IndexFunc(c.Records.Records, func(r *kb.Record) bool { return r.ID == "701ecdf67fd614e2" })
	r := *c.Records.Records[i]
	s, err := Decode([]byte(`{
		"schemaVersion": 1, "title": "A local lease is destroyed", "values": {"driver": "local"},
		"steps": [{"do": "environment", "environment": "e", "driver": "local"}, {"do": "acquire", "environment": "e", "lease": "l"}],
		"fails": {"do": "destroy", "lease": "l"},
		"remedies": [{"solution": 1, "steps": [
			{"do": "install", "plugin": "p", "worker": "fixture"}, {"do": "start-worker", "plugin": "p"},
			{"do": "environment", "environment": "e", "driver": "sandbox", "config": {"provider": "fixture"}},
			{"do": "acquire", "environment": "e", "lease": "l"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	c.Records = kb.NewSetOf(&r)
	c.Scenarios = Scenarios{scenarioPath(r.Repo, *r.Scenario): s}
	c.Only = []string{r.ID}
	return c, &r, s
}

// TestProofFails spoils a record or its scenario in one place at a time: the
// proof has to notice, and to say what is wrong.
func TestProofFails(t *testing.T) {
	text := func(s string) *string { return &s }
	number := func(n int) *int { return &n }
	for _, c := range []struct {
		name  string
		spoil func(r *kb.Record, s *Scenario)
		want  string // "" when it is proven
	}{
		{"nothing", func(*kb.Record, *Scenario) {}, ""},
		{"message", func(r *kb.Record, _ *Scenario) { r.ErrorMessage = strings.Replace(r.ErrorMessage, "does", "did", 1) }, "the operation fails with"},
		{"full stop", func(r *kb.Record, _ *Scenario) { r.ErrorMessage = strings.TrimSuffix(r.ErrorMessage, ".") }, "the operation fails with"},
		{"code", func(r *kb.Record, _ *Scenario) { r.ErrorCode = text("-32002") }, "the code is none, the record says -32002"},
		{"class", func(r *kb.Record, _ *Scenario) { r.ErrorClass = text("JsonRpcCallError") }, "the class is none"},
		{"status", func(r *kb.Record, _ *Scenario) { r.HTTPStatus = number(422) }, "the HTTP status is none"},
		{"pattern", func(r *kb.Record, _ *Scenario) { r.MessagePattern = "something else entirely" }, "does not find this record"},
		{"narrow capture", func(r *kb.Record, _ *Scenario) {
			r.MessagePattern = strings.Replace(r.MessagePattern, `"(?P<driver>.+?)"`, `"(?P<driver>.).+?"`, 1)
		}, "the diagnosis reads the values"},
		{"scenario's name", func(r *kb.Record, _ *Scenario) { r.Scenario = text("another") }, `there is no scenario "another"`},
		{"solutions", func(r *kb.Record, _ *Scenario) { r.Solutions = nil }, "the record has no solution 1"},
		{"value", func(_ *kb.Record, s *Scenario) { s.Values["driver"] = "ssh" }, "the operation fails with"},
		{"no value", func(_ *kb.Record, s *Scenario) { s.Values = nil }, `has no value for "driver"`},
		{"one value too many", func(_ *kb.Record, s *Scenario) { s.Values["lease"] = "l" }, "the record has no capture"},
		{"a step that fails", func(_ *kb.Record, s *Scenario) { s.Steps = s.Steps[1:] }, "did not work"},
		{"a step that should fail", func(_ *kb.Record, s *Scenario) { s.Steps[1].Refused = true }, "worked, and should not have"},
		{"no service to break", func(_ *kb.Record, s *Scenario) { s.Steps = append(s.Steps, Step{Do: "mend-service"}) }, "there is no service yet"},
		{"no workers to start", func(_ *kb.Record, s *Scenario) {
			s.Host = &Host{NoWorkers: true}
			s.Steps = append(s.Steps, Step{Do: "start-worker", Plugin: "p"})
		}, "the server process has no workers"},
		{"an operation that works", func(_ *kb.Record, s *Scenario) { s.Fails.Do = "release" }, "the operation does not fail"},
		{"another operation", func(_ *kb.Record, s *Scenario) { s.Fails.Do = "resume" }, "does not support lease resume"},
		{"seen in the result", func(_ *kb.Record, s *Scenario) { s.Seen = kb.ChannelResult }, "the result does not hold"},
		{"seen on the error output", func(_ *kb.Record, s *Scenario) { s.Seen = kb.ChannelStderr }, "the operation fails"},
		{"seen in the log", func(_ *kb.Record, s *Scenario) {
			s.Seen, s.Fails.Do = kb.ChannelLog, "release"
		}, "does not stand in the log of the whole run"},
		{"a remedy that does not help", func(_ *kb.Record, s *Scenario) { s.Remedies[0].Steps = nil }, "solution 1 does not help"},
		{"a remedy of a later solution only", func(_ *kb.Record, s *Scenario) { s.Remedies[0].Solution = 2 }, "solution 2 has a remedy and stands behind solution 1"},
		{"no remedy", func(_ *kb.Record, s *Scenario) { s.Remedies = nil }, "neither a remedy"},
		{"another operation instead", func(_ *kb.Record, s *Scenario) {
			s.Remedies[0].Instead = &Step{Do: "release", Lease: "l"}
		}, "neither a remedy"},
		{"exempt without need", func(r *kb.Record, _ *Scenario) { r.ID = sortedKeys(exemptRemedies)[0] }, "the exemption from a remedy is not needed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			config, r, s := one(t)
			c.spoil(r, s)
			config.Only, config.Limit = nil, 20*time.Second
			config.Records = kb.NewSetOf(r)
			p := newTestProver(t, config)
			e, late := p.prove(t.Context(), r)
			problems := strings.Join(e.Problems, "\n")
			if e.Proven != (c.want == "") || !strings.Contains(problems, c.want) || late {
				t.Errorf("proven %v, late %v, problems %q, want %q", e.Proven, late, problems, c.want)
			}
		})
	}
}

// That there was no time is told from what is wrong.
func TestProofIsLate(t *testing.T) {
	c, r, _ := one(t)
	for _, limit := range []time.Duration{1, time.Millisecond, 10 * time.Millisecond} {
		c.Limit = limit
		e, late := newTestProver(t, c).prove(t.Context(), r)
		if late == e.Proven || limit == 1 && !late {
			t.Errorf("%v: proven %v, late %v, problems %q", limit, e.Proven, late, e.Problems)
		}
	}
	c.Limit = 1
	result, err := Prove(t.Context(), c)
	if err != nil || !slices.Equal(result.Late, []string{r.ID}) || result.OK() {
		t.Errorf("late are %v, %v", result.Late, err)
	}
}

func newTestProver(t *testing.T, c Config) *prover {
	t.Helper()
	p, err := newProver(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A message that another record's pattern takes for itself is noticed, and so is
// a scenario that nobody names.
func TestSetFails(t *testing.T) {
	c, r, s := one(t)
	thief := *r
	thief.ID, thief.Slug, thief.Scenario = "ffffffffffffffff", "thief", nil
	thief.ErrorMessage = `Environment driver "local" does not support lease destroy.`
	thief.MessagePattern = `Environment driver "local" does not support lease destroy\.`
	thief.Captures = nil
	c.Records = kb.NewSetOf(r, &thief)
	p := newTestProver(t, c)
	_, problems := p.siblings(t.Context(), nil)
	if !strings.Contains(strings.Join(problems, "\n"), "is not diagnosed as itself, but as [ffffffffffffffff") {
		t.Errorf("problems are %q", problems)
	}
	c.Scenarios["acme/web/scenarios/lost"] = s
	if problems := unusedScenarios(c.Scenarios, c.Records.Records); len(problems) != 1 || !strings.Contains(problems[0], "lost") {
		t.Errorf("problems are %q", problems)
	}
	if problems := unusedRemedyExemptions(c.Records.Records); len(problems) != len(exemptRemedies) {
		t.Errorf("problems are %q", problems)
	}
	result, err := Prove(t.Context(), Config{Records: kb.NewSetOf(&thief), Scenarios: Scenarios{}, Program: c.Program})
	if err != nil || result.OK() || !slices.Equal(result.Missing, []string{thief.ID}) {
		t.Errorf("a record without a scenario: %+v, %v", result, err)
	}
}

// A transcript tells of every step as it happens.
func TestTrace(t *testing.T) {
	c, _, _ := one(t)
	var told []string
	var seen []*kb.Emitted
	var solutions []int
	c.Trace = func(e Event) {
		told = append(told, e.Heading+e.Step.Text+" → "+e.Step.Result)
		if e.Emitted != nil {
			seen = append(seen, e.Emitted)
		}
		if e.Heading != "" {
			solutions = append(solutions, e.Solution)
		}
	}
	result, err := Prove(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if e := result.Proof.Records[0]; len(seen) != 1 || !reflect.DeepEqual(*seen[0], e.Emitted) || !slices.Equal(solutions, []int{0, 1}) {
		t.Errorf("told of %+v and the solutions %v, found %+v", seen, solutions, e.Emitted)
	}
	got := strings.Join(told, "\n")
	want := "A local lease is destroyed → \n" +
		"Let environment `e` have the driver `local` → \n" +
		"Acquire lease `l` of environment `e` → Lease `lease-1`\n" +
		"Destroy lease `l` → It fails: `Environment driver \"local\" does not support lease destroy.`\n" +
		"Remedy: solution 1 → \n"
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "Destroy lease `l` → It succeeds. The lease is `expired`, its clean-up a `success`") {
		t.Errorf("told\n%s", got)
	}
}
