package conformance

import (
	"strings"
	"testing"

	"errorkb/internal/kb"
)

// withVariant is a set of two records, the first with a variant behind which
// the second one waits.
func withVariant(t *testing.T) (Config, *kb.Record, *Scenario) {
	t.Helper()
	c := bundled(t)
	var chosen []*kb.Record
	for _, slug := range []string{"environment-is-not-active", "environment-driver-is-not-registered-in-the-environment-runtime-yet"} {
		for _, r := range c.Records.Records {
			if r.Slug == slug {
				chosen = append(chosen, r)
			}
		}
	}
	s, err := Decode([]byte(`{
		"schemaVersion": 1, "title": "An archived environment", "values": {"name": "Box"},
		"steps": [{"do": "environment", "environment": "e", "driver": "local", "name": "Box", "status": "archived"}],
		"fails": {"do": "acquire", "environment": "e", "lease": "l"},
		"remedies": [{"solution": 1, "steps": [{"do": "environment", "environment": "e", "driver": "local", "name": "Box"}]}],
		"also": [{"title": "Nobody has its driver either",
			"steps": [{"do": "environment", "environment": "e", "driver": "docker", "name": "Box", "status": "archived"}],
			"then": [{"record": "environment-driver-is-not-registered-in-the-environment-runtime-yet", "values": {"driverKey": "docker"},
				"steps": [{"do": "environment", "environment": "e", "driver": "docker", "name": "Box"}]}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	c.Records = kb.NewSetOf(chosen...)
	c.Scenarios[scenarioPath(chosen[0].Repo, *chosen[0].Scenario)] = s
	return c, chosen[0], s
}

// TestVariantFails spoils a variant in one place at a time.
func TestVariantFails(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(v *Variant)
		want  string // "" when it is proven
	}{
		{"nothing", func(*Variant) {}, ""},
		{"same values written again", func(v *Variant) { v.Values = map[string]string{"name": "Box"} }, ""},
		{"values", func(v *Variant) { v.Values = map[string]string{"name": "Other"} }, "Nobody has its driver either: the operation fails with"},
		{"no value", func(v *Variant) { v.Values = map[string]string{} }, `has no value for "name"`},
		{"a step that fails", func(v *Variant) { v.Steps = append(v.Steps, Step{Do: "release", Lease: "l"}) }, "a step did not work"},
		{"an operation that works", func(v *Variant) { v.Fails = &Step{Do: "install", Plugin: "p", Worker: "fixture"} }, "the operation does not fail"},
		{"seen elsewhere", func(v *Variant) { v.Seen = kb.ChannelResult }, "the result does not hold"},
		{"unknown record", func(v *Variant) { v.Then[0].Record = "nosuch" }, `there is no record "nosuch"`},
		{"values of what follows", func(v *Variant) { v.Then[0].Values = nil }, "environment-driver-is-not-registered-in-the-environment-runtime-yet: the scenario has no value"},
		{"another error follows", func(v *Variant) { v.Then[0].Values = map[string]string{"driverKey": "podman"} }, "does not come behind"},
		{"what follows is not there at once", func(v *Variant) { v.Then[0].Steps = nil }, "does not come behind"},
		{"the first is still there", func(v *Variant) { v.Then[0].Steps = v.Steps }, "does not come behind"},
		{"nothing follows", func(v *Variant) {
			v.Then[0].Steps = []Step{{Do: "environment", Environment: "e", Driver: "local", Name: "Box"}}
		}, "does not come behind"},
		{"a step to what follows fails", func(v *Variant) { v.Then[0].Steps[0] = Step{Do: "release", Lease: "l"} }, "a step did not work"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			config, r, s := withVariant(t)
			c.spoil(&s.Also[0])
			e, _ := newTestProver(t, config).prove(t.Context(), r)
			problems := strings.Join(e.Problems, "\n")
			if e.Proven != (c.want == "") || !strings.Contains(problems, c.want) {
				t.Errorf("proven %v, problems %q, want %q", e.Proven, problems, c.want)
			}
			if len(e.Also) != 1 || c.want == "" && (len(e.Also[0].Steps) != 2 || len(e.Also[0].Then) != 1 || len(e.Also[0].Then[0].Steps) != 2) {
				t.Errorf("the evidence is %+v", e.Also)
			}
		})
	}
}

// The order in one result counts.
func TestOrderInResult(t *testing.T) {
	c := bundled(t)
	for _, r := range c.Records.Records {
		s := c.Scenarios.of(r)
		if r.Slug != "daytona-image-cannot-be-empty" || len(s.Also) == 0 || len(s.Also[0].Then) < 2 {
			continue
		}
		then := s.Also[0].Then
		then[0], then[1] = then[1], then[0]
		e, _ := newTestProver(t, c).prove(t.Context(), r)
		if problems := strings.Join(e.Problems, "\n"); !strings.Contains(problems, "does not come behind") {
			t.Errorf("problems are %q", problems)
		}
		return
	}
	t.Error("no scenario has a variant in whose result several errors stand")
}
