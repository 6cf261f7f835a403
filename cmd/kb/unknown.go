package main

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"errorkb/internal/diagnose"
)

const runnersKept = 5

// unknown is the answer about a text in which nothing is known, made of the answers
// about its regions in their order.
type unknown struct {
	diagnose.Answer
	begun   bool
	known   bool   // something was found, so no answer is needed
	telling []byte // the lines of Unknown.Line
}

// add takes the answer about the next region.
func (j *unknown) add(ctx context.Context, s *session, part diagnose.Answer) {
	if j.known = j.known || len(part.Diagnoses) > 0; j.known {
		*j = unknown{begun: true, known: true}
		return
	}
	runners := append(j.RunnersUp, part.RunnersUp...)
	line, partial := j.Unknown, j.Partial
	j.begun, j.Answer = true, part
	j.addRunners(runners)
	j.Unknown, j.Partial = line, partial || part.Partial
	j.addLine(ctx, s, part.Unknown)
}

// addRunners keeps the best of the records that were not chosen, each once.
func (j *unknown) addRunners(all []diagnose.RunnerUp) {
	slices.SortStableFunc(all, func(a, b diagnose.RunnerUp) int { return cmp.Compare(b.Confidence, a.Confidence) })
	j.RunnersUp = []diagnose.RunnerUp{}
	for _, r := range all {
		same := func(known diagnose.RunnerUp) bool { return known.Record.ID == r.Record.ID }
		if len(j.RunnersUp) < runnersKept && !slices.ContainsFunc(j.RunnersUp, same) {
			j.RunnersUp = append(j.RunnersUp, r)
		}
	}
}

// addLine keeps the more telling of two lines. The engine is asked which one that is,
// by a text of the two.
func (j *unknown) addLine(ctx context.Context, s *session, u *diagnose.Unknown) {
	switch {
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
