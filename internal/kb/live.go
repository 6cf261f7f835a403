package kb

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// LiveEvent is one thing that a scenario tells of while it runs: a part that
// begins, or a step that was done. What was seen comes with the step that fails
// as it has to.
type LiveEvent struct {
	Part    *LivePart
	Step    *ProofStep
	Emitted *Emitted
}

// LivePart is a part of a run.
type LivePart struct {
	Heading  string `json:"heading"`
	Solution *int   `json:"solution"` // that the part carries out, from 1; null when it leads to the failure
}

// LiveEnd says how a run ended.
type LiveEnd string

// The ends of a run.
const (
	LiveComplete    LiveEnd = "complete"
	LiveTimeLimit   LiveEnd = "time-limit"
	LiveOutputLimit LiveEnd = "output-limit"
	LiveStopped     LiveEnd = "server-stopped"
	LiveFailed      LiveEnd = "failed" // for a reason that is not the record's
)

// LiveResult is what a run of a scenario came to.
type LiveResult struct {
	Ended        LiveEnd  `json:"ended"`
	Summary      string   `json:"summary"` // all of it in a sentence or two, for people
	Proven       bool     `json:"proven"`
	Problems     []string `json:"problems"`     // why it is not proven; empty when it is
	Agrees       *bool    `json:"agrees"`       // with the evidence of the data set; null when that has none, or the run is not complete
	Differs      []string `json:"differs"`      // members of the evidence that are not the same
	Milliseconds int64    `json:"milliseconds"` // that it took
}

// Result makes the result of a complete run out of the evidence that it gave
// and the one that the data set has, nil for none.
func (e *Evidence) Result(have *Evidence) LiveResult {
	r := LiveResult{Ended: LiveComplete, Proven: e.Proven, Problems: append([]string{}, e.Problems...), Differs: []string{}}
	if have == nil {
		return r
	}
	r.Differs = differing(e, have)
	same := len(r.Differs) == 0
	r.Agrees = &same
	return r
}

// differing lists the members in which two pieces of evidence differ, in
// alphabetical order.
func differing(a, b *Evidence) []string {
	list := []string{}
	left, right := members(a), members(b)
	for name := range right {
		if _, both := left[name]; !both {
			left[name] = nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		if !bytes.Equal(left[name], right[name]) {
			list = append(list, name)
		}
	}
	return list
}

// members takes evidence apart as its file has it.
func members(e *Evidence) map[string]json.RawMessage {
	text, err := json.Marshal(e)
	var all map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		panic("kb: evidence cannot be encoded: " + err.Error()) // it has only strings, numbers and lists
	}
	return all
}
