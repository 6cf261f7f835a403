package main

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"errorkb/internal/diagnose"
)

const runnersKept = 5

// joined is the answer about several regions of one text, in their order.
type joined struct {
	diagnose.Answer
	begun   bool
	last    map[string]int // by record: where its last evidence ends
	telling []byte         // the lines of Unknown.Line
}

// add takes the answer about the next region.
func (j *joined) add(part diagnose.Answer) {
	if !j.begun {
		j.begun, j.last = true, map[string]int{}
		j.Answer = part
		j.Diagnoses, j.RunnersUp, j.Unknown = []diagnose.Diagnosis{}, nil, nil
	}
	j.Input = part.Input
	j.Partial = j.Partial || part.Partial
	for _, d := range part.Diagnoses {
		j.addDiagnosis(d)
	}
	slices.SortStableFunc(j.Diagnoses, func(a, b diagnose.Diagnosis) int { return a.Compare(&b) })
	switch {
	case len(j.Diagnoses) == 0:
		j.Verdict = diagnose.VerdictUnknown
	case j.Diagnoses[0].Confidence >= diagnose.KnownConfidence:
		j.Verdict = diagnose.VerdictKnown
	default:
		j.Verdict = diagnose.VerdictLikely
	}
	j.addRunners(part)
}

func (j *joined) addDiagnosis(d diagnose.Diagnosis) {
	// What another region began with reaches into this one.
	d.Evidence = slices.DeleteFunc(d.Evidence, func(e diagnose.Evidence) bool { return e.Start < j.last[d.Record.ID] })
	if d.Count = len(d.Evidence); d.Count == 0 {
		return
	}
	j.last[d.Record.ID] = d.Evidence[d.Count-1].End
	i := slices.IndexFunc(j.Diagnoses, func(known diagnose.Diagnosis) bool { return known.Record.ID == d.Record.ID })
	if i < 0 {
		d.Evidence = slices.Clone(d.Evidence[:min(d.Count, diagnose.DefaultMaxEvidence)])
		j.Diagnoses = append(j.Diagnoses, d)
		return
	}
	known := &j.Diagnoses[i]
	// A code counts only where the message is nowhere.
	switch byCode := known.Kind == diagnose.KindCode; {
	case byCode && d.Kind != diagnose.KindCode:
		d.Evidence = slices.Clone(d.Evidence[:min(d.Count, diagnose.DefaultMaxEvidence)])
		*known = d
		return
	case !byCode && d.Kind == diagnose.KindCode:
		return
	}
	room := max(0, diagnose.DefaultMaxEvidence-len(known.Evidence))
	evidence := append(known.Evidence, d.Evidence[:min(room, len(d.Evidence))]...)
	count := known.Count + d.Count
	if d.Surer(known) {
		*known = d
	}
	known.Evidence, known.Count = evidence, count
}

func (j *joined) addRunners(part diagnose.Answer) {
	seen := map[string]bool{}
	for _, d := range j.Diagnoses {
		seen[d.Record.ID] = true
	}
	best := map[string]int{}
	var runners []diagnose.RunnerUp
	for _, r := range append(j.RunnersUp, part.RunnersUp...) {
		if i, ok := best[r.Record.ID]; ok {
			if r.Confidence > runners[i].Confidence {
				runners[i] = r
			}
		} else if !seen[r.Record.ID] {
			best[r.Record.ID] = len(runners)
			runners = append(runners, r)
		}
	}
	slices.SortStableFunc(runners, func(a, b diagnose.RunnerUp) int { return cmp.Compare(b.Confidence, a.Confidence) })
	j.RunnersUp = append([]diagnose.RunnerUp{}, runners[:min(len(runners), runnersKept)]...)
}

// addUnknown keeps the more telling of two lines. The engine is asked which
// one that is, by a text of the two.
func (j *joined) addUnknown(ctx context.Context, s *session, u *diagnose.Unknown) {
	switch {
	case j.Verdict != diagnose.VerdictUnknown:
		j.Unknown, j.telling = nil, nil
		return
	case u == nil || u.Line == nil && j.Unknown != nil:
		return
	case j.Unknown == nil || j.Unknown.Line == nil:
		j.Unknown = u
		if u.Line != nil {
			j.telling = bytes.Clone(s.linesAround(u.Line.Start, u.Line.End))
		}
		return
	}
	lines := s.linesAround(u.Line.Start, u.Line.End)
	if lines == nil || j.telling == nil {
		return
	}
	pair := append(append(bytes.Clone(j.telling), '\n'), lines...)
	choice := s.engine.Diagnose(ctx, pair, diagnose.Options{}).Unknown
	if choice != nil && choice.Line != nil && choice.Line.Start > len(j.telling) {
		j.Unknown, j.telling = u, bytes.Clone(lines)
	}
}

// answer is the answer about everything that was added.
func (j *joined) answer() diagnose.Answer {
	a := j.Answer
	a.Diagnoses = a.Diagnoses[:min(len(a.Diagnoses), diagnose.DefaultMaxDiagnoses)]
	return a
}
