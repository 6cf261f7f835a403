package lint

import (
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"errorkb/internal/kb"
)

// Codes of findings about the evidence.
const (
	codeEvidence = "evidence"
	codeStale    = "evidence-stale"
)

// evidenceChecks look at the file that kb prove writes beside the records.
var evidenceChecks = []*aCheck{
	{CheckInfo: CheckInfo{Code: codeEvidence, Name: "evidence cannot be read", Severity: kb.FindingError,
		Description: "The evidence beside the records is derived; a file that is not of the known form is not shown, not even in part.",
		Advice:      "write it again with kb prove, or delete it"}},
	{CheckInfo: CheckInfo{Code: codeStale, Name: "evidence does not fit", Severity: kb.FindingWarning,
		Description: "Evidence belongs to a record as it was when it was proven: its scenario, its message, its code, its class and its solutions. What does not fit any more is not shown.",
		Advice:      "write it again with kb prove"}},
}

// Evidence reads the evidence beside the records of a set. The proof is nil
// when there is none, or when a finding has severity error. Evidence that does
// not fit its record is a finding, and left out of the proof.
func Evidence(fsys fs.FS, set *kb.Set) (*kb.Proof, []kb.Finding) {
	finding := func(code, field, message string, args ...any) kb.Finding {
		return kb.Finding{File: kb.EvidenceFile, Field: field, Code: code, Severity: byCode[code].Severity,
			Message: fmt.Sprintf(message, args...), Advice: byCode[code].Advice}
	}
	proof, err := kb.ReadEvidence(fsys)
	if err != nil {
		return nil, []kb.Finding{finding(codeEvidence, "", "%v", err)}
	}
	if proof == nil {
		return nil, nil
	}
	byID := map[string]*kb.Record{}
	for _, r := range set.Records {
		byID[r.ID] = r
	}
	var findings []kb.Finding
	fitting := make([]kb.Evidence, 0, len(proof.Records))
	seen := map[string]bool{}
	for i := range proof.Records {
		e := &proof.Records[i]
		why := "there is no such record"
		switch r := byID[e.Record]; {
		case seen[e.Record]:
			why = "the record has evidence already"
		case r != nil:
			why = misfit(r, e)
		}
		seen[e.Record] = true
		if why == "" {
			fitting = append(fitting, *e)
			continue
		}
		findings = append(findings, finding(codeStale, element("records", i), "record %q: %s", e.Record, why))
	}
	proof.Records = fitting
	return proof, findings
}

// misfit says why evidence does not belong to a record as it is; "" when it
// does.
func misfit(r *kb.Record, e *kb.Evidence) string {
	differ := func(seen, said *string) bool { return seen != nil && (said == nil || *said != *seen) }
	pattern, err := regexp.Compile(r.MessagePattern)
	switch {
	case r.Scenario == nil || *r.Scenario != e.Scenario:
		return fmt.Sprintf("its scenario is not %q", e.Scenario)
	case e.Proven && !holds(e.Emitted.Text, e.Emitted.Message):
		return "the emitted text does not hold the message"
	case e.Proven && err == nil && !pattern.MatchString(e.Emitted.Message):
		return fmt.Sprintf("its pattern does not match the emitted message %q", e.Emitted.Message)
	case e.Proven && differ(e.Emitted.Code, r.ErrorCode):
		return fmt.Sprintf("its code is not %q", *e.Emitted.Code)
	case e.Proven && differ(e.Emitted.Class, r.ErrorClass):
		return fmt.Sprintf("its class is not %q", *e.Emitted.Class)
	}
	for _, remedy := range e.Remedies {
		if remedy.Solution < 1 || remedy.Solution > len(r.Solutions) {
			return fmt.Sprintf("it has no solution %d", remedy.Solution)
		}
	}
	return ""
}

// holds reports whether a text holds a message, as it is or inside a quoted
// value of a log line.
func holds(text, message string) bool {
	quoted := strconv.Quote(message)
	return strings.Contains(text, message) || strings.Contains(text, quoted[1:len(quoted)-1])
}
