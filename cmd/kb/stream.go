package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"errorkb/internal/diagnose"
)

// Text of any length is diagnosed in parts, so that memory stays bounded. A
// text that the API would take is always one part: there the two answers are
// the same, byte for byte.
const (
	partSize = 16 << 20
	// seamSize is how far before the end of a part a line is looked for that
	// starts something new.
	seamSize = 256 << 10
	// evidenceKept bounds the places that are listed for one record, over all
	// parts. The count goes on.
	evidenceKept = 20
	runnersKept  = 5
)

// diagnoser is the engine, as far as it is needed here.
type diagnoser interface {
	Diagnose(ctx context.Context, text []byte, options diagnose.Options) diagnose.Answer
}

// diagnoseStream diagnoses everything that can be read from r.
func diagnoseStream(ctx context.Context, engine diagnoser, r io.Reader) (diagnose.Answer, error) {
	return diagnoseParts(ctx, engine, r, partSize, seamSize)
}

func diagnoseParts(ctx context.Context, engine diagnoser, r io.Reader, size, seam int) (diagnose.Answer, error) {
	var whole joined
	var buffer bytes.Buffer
	for {
		// One byte beyond the part tells whether it is the last one.
		_, err := io.CopyN(&buffer, r, int64(size+1-buffer.Len()))
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return diagnose.Answer{}, fmt.Errorf("read the text: %w", err)
		}
		text := buffer.Bytes()
		if !last {
			text = text[:cutPoint(text[:size], seam)]
		}
		part := engine.Diagnose(ctx, text, diagnose.Options{})
		if err := ctx.Err(); err != nil {
			return diagnose.Answer{}, err
		}
		whole.add(part, bytes.Count(text, []byte("\n")))
		if last {
			return whole.Answer, nil
		}
		buffer.Next(len(text))
	}
}

// cutPoint is where a part ends so that no message is cut in two: before the
// last line that starts something new. Lines of a stack trace are indented, so
// a line that is not starts something; failing that any line end is taken, and
// in one endless line the cut falls where it must.
func cutPoint(text []byte, seam int) int {
	from := max(0, len(text)-seam)
	lineEnd := 0
	for end := len(text); ; {
		i := bytes.LastIndexByte(text[from:end], '\n')
		if i < 0 {
			break
		}
		at := from + i + 1
		if lineEnd == 0 {
			lineEnd = at
		}
		if at < len(text) && text[at] != ' ' && text[at] != '\t' && text[at] != '\r' && text[at] != '\n' {
			return at
		}
		end = from + i
	}
	if lineEnd > 0 {
		return lineEnd
	}
	return len(text)
}

// joined is the answer about several parts of one text.
type joined struct {
	diagnose.Answer
	parts    int
	newlines int // in the parts so far
}

func (j *joined) add(part diagnose.Answer, newlines int) {
	bytes, lines := j.Input.Bytes, j.newlines
	j.newlines += newlines
	j.parts++
	if j.parts == 1 {
		j.Answer = part
		return
	}
	shift(&part, bytes, lines)
	j.Input = diagnose.Input{Bytes: bytes + part.Input.Bytes, Lines: lines + part.Input.Lines}
	j.Partial = j.Partial || part.Partial
	j.addDiagnoses(part)
	j.addRunners(part)
	switch {
	case j.Verdict != diagnose.VerdictUnknown:
		j.Unknown = nil
	case j.Unknown == nil || j.Unknown.Line == nil:
		j.Unknown = part.Unknown
	}
}

func (j *joined) addDiagnoses(part diagnose.Answer) {
	for _, d := range part.Diagnoses {
		i := slices.IndexFunc(j.Diagnoses, func(known diagnose.Diagnosis) bool { return known.Record.ID == d.Record.ID })
		if i < 0 {
			j.Diagnoses = append(j.Diagnoses, d)
			continue
		}
		known := &j.Diagnoses[i]
		known.Count += d.Count
		room := max(0, evidenceKept-len(known.Evidence))
		known.Evidence = append(known.Evidence, d.Evidence[:min(room, len(d.Evidence))]...)
		if d.Confidence > known.Confidence {
			known.Kind, known.Confidence = d.Kind, d.Confidence
		}
	}
	slices.SortStableFunc(j.Diagnoses, func(a, b diagnose.Diagnosis) int {
		return cmp.Or(
			order(a.Record.Role, "cause", "symptom", "wrapper")-order(b.Record.Role, "cause", "symptom", "wrapper"),
			cmp.Compare(b.Confidence, a.Confidence),
		)
	})
	verdicts := []diagnose.Verdict{diagnose.VerdictKnown, diagnose.VerdictLikely, diagnose.VerdictUnknown}
	if order(part.Verdict, verdicts...) < order(j.Verdict, verdicts...) {
		j.Verdict = part.Verdict
	}
}

func (j *joined) addRunners(part diagnose.Answer) {
	seen := map[string]bool{}
	for _, d := range j.Diagnoses {
		seen[d.Record.ID] = true
	}
	runners := []diagnose.RunnerUp{}
	for _, r := range append(j.RunnersUp, part.RunnersUp...) {
		if !seen[r.Record.ID] && len(runners) < runnersKept {
			seen[r.Record.ID] = true
			runners = append(runners, r)
		}
	}
	j.RunnersUp = runners
}

// order is the place of a value in a list, the end for one that is missing.
func order[T comparable](value T, list ...T) int {
	if i := slices.Index(list, value); i >= 0 {
		return i
	}
	return len(list)
}

// shift moves every place of an answer by what stood before its part.
func shift(a *diagnose.Answer, bytes, lines int) {
	for i := range a.Diagnoses {
		for k := range a.Diagnoses[i].Evidence {
			e := &a.Diagnoses[i].Evidence[k]
			e.Start, e.End, e.Line = e.Start+bytes, e.End+bytes, e.Line+lines
			for c := range e.Captures {
				e.Captures[c].Start += bytes
				e.Captures[c].End += bytes
			}
		}
	}
	if a.Unknown != nil && a.Unknown.Line != nil {
		line := a.Unknown.Line
		line.Start, line.End, line.Line = line.Start+bytes, line.End+bytes, line.Line+lines
	}
}
