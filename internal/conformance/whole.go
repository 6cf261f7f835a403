package conformance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"errorkb/internal/diagnose"
	"errorkb/internal/kb"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// siblings pastes instances of all messages: those that the scenarios emitted,
// the examples, and the messages with the values of the captures' examples.
// Each has to be diagnosed as itself.
func (p *prover) siblings(ctx context.Context, evidence []kb.Evidence) ([]kb.Sibling, []string) {
	list := []kb.Sibling{}
	var problems []string
	for _, r := range p.Records.Records {
		if r.Scenario == nil {
			continue
		}
		texts := append([]string{rendered(r)}, r.Examples.Match...)
		if i := slices.IndexFunc(evidence, func(e kb.Evidence) bool { return e.Record == r.ID }); i >= 0 && evidence[i].Emitted.Message != "" {
			texts = append(texts, evidence[i].Emitted.Message)
		}
		slices.Sort(texts)
		for _, text := range slices.Compact(texts) {
			answer := p.engine.Diagnose(ctx, []byte(text), diagnose.Options{})
			s := kb.Sibling{Record: r.ID, Text: text, Found: []string{}}
			for _, d := range answer.Diagnoses {
				s.Found = append(s.Found, d.Record.ID)
			}
			list = append(list, s)
			if why := p.mistaken(r, s, answer); why != "" {
				problems = append(problems, fmt.Sprintf("%s %s: %s %s", r.ID, r.Slug, code(text), why))
			}
		}
	}
	return list, problems
}

// mistaken says what an instance is taken for when it is not itself. A wrapper
// comes behind the cause that it carries, and a symptom or wrapper in the same
// text behind the cause that stands in it too.
func (p *prover) mistaken(r *kb.Record, s kb.Sibling, answer diagnose.Answer) string {
	at := slices.Index(s.Found, r.ID)
	switch {
	case at < 0:
		return fmt.Sprintf("is not diagnosed as itself, but as %v", s.Found)
	case at == 0:
		return ""
	}
	first := p.byID[s.Found[0]]
	if r.Role == kb.RoleCause || first == nil || first.Role == r.Role {
		return "is diagnosed as " + s.Found[0]
	}
	// Both stand in the text; only their order differs.
	if !strings.Contains(s.Text, literalOf(first)) {
		return "is diagnosed as " + s.Found[0]
	}
	return ""
}

// literalOf is the text in front of the first value of a message.
func literalOf(r *kb.Record) string {
	longest := ""
	for part := range strings.SplitSeq(skeletonOfMessage(r.ErrorMessage), gap) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// rendered is the message with the values of the captures' examples.
func rendered(r *kb.Record) string {
	message := r.ErrorMessage
	for i, hole := range kb.Placeholders(message) {
		if i < len(r.Captures) {
			message = strings.Replace(message, hole, r.Captures[i].Example, 1)
		}
	}
	return message
}

// unusedScenarios lists scenarios that no record names.
func unusedScenarios(scenarios Scenarios, records []*kb.Record) []string {
	named := map[string]bool{}
	for _, r := range records {
		if r.Scenario != nil {
			named[scenarioPath(r.Repo, *r.Scenario)] = true
		}
	}
	var problems []string
	for _, name := range sortedKeys(scenarios) {
		if !named[name] {
			problems = append(problems, fmt.Sprintf("scenario %s: no record names it", name))
		}
	}
	return problems
}

// unusedRemedyExemptions lists exemptions of records that do not exist.
func unusedRemedyExemptions(records []*kb.Record) []string {
	var problems []string
	for _, id := range sortedKeys(exemptRemedies) {
		if !slices.ContainsFunc(records, func(r *kb.Record) bool { return r.ID == id }) {
			problems = append(problems, fmt.Sprintf("record %s: exempt from a remedy, and does not exist", id))
		}
	}
	return problems
}
