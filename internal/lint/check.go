package lint

import (
	"fmt"
	"slices"

	"errorkb/internal/kb"
	"errorkb/internal/pattern"
)

// CheckInfo says what a check is about. Help, manual and findings are made from
// the same value.
type CheckInfo struct {
	Code        string             `json:"code"`        // stands in findings; never changes its meaning
	Name        string             `json:"name"`        // a few words
	Description string             `json:"description"` // what is looked at and why
	Advice      string             `json:"advice"`      // what to do about a finding; "" when the message says it
	Severity    kb.FindingSeverity `json:"severity"`
	Strict      bool               `json:"strict"` // a warning that is an error in a record whose review is "reviewed"
}

// aCheck is one rule that records keep. One of record and set does the work; a
// check of reading or of the schema has neither, its findings come from there.
type aCheck struct {
	CheckInfo
	record func(*subject, reporter)
	set    func(*collection, setReporter)
}

// reporter takes what a check found in a field of its subject.
type reporter func(field, message string, args ...any)

// setReporter does the same for checks that compare records.
type setReporter func(s *subject, field, message string, args ...any)

// Checks lists all checks: of reading and of the schema, then of one record,
// then of the set.
func Checks() []CheckInfo {
	list := make([]CheckInfo, len(checks))
	for i, c := range checks {
		list[i] = c.CheckInfo
	}
	return list
}

// checks is filled in init, as checks use byCode.
var (
	checks []*aCheck
	byCode map[string]*aCheck
)

func init() {
	for _, group := range [][]*aCheck{
		readingChecks, formChecks, identityChecks, patternChecks, placeChecks, textChecks, setChecks, evidenceChecks,
	} {
		checks = append(checks, group...)
	}
	byCode = make(map[string]*aCheck, len(checks))
	for _, c := range checks {
		if byCode[c.Code] != nil {
			panic("lint: two checks have the code " + c.Code)
		}
		byCode[c.Code] = c
	}
}

// subject is one record under the checks.
type subject struct {
	record *kb.Record
	source *kb.Source
	bad    []string // fields with findings of reading and schema
	found  []kb.Finding

	positions func(field string) (line, column int) // made when first needed

	pattern    *pattern.Pattern // nil when the expression is missing or does not compile
	patternErr error
	cover      coverage // of errorMessage by the pattern
	prose      []section
	addresses  []address
}

// collection is all subjects under the checks that compare records.
type collection struct {
	subjects []*subject
	unread   bool // some file gave no record
}

// prepare computes what several checks look at.
func (s *subject) prepare() {
	if s.record.MessagePattern != "" {
		s.pattern, s.patternErr = pattern.Compile(s.record.MessagePattern, s.record.ErrorMessage)
	}
	if s.pattern != nil && !s.hasBad("errorMessage") {
		s.cover = bestCover(s.pattern, s.record.ErrorMessage, s.record.Captures)
	}
	s.prose = sectionsOf(s.record)
	s.addresses = s.findAddresses()
}

// reporter adds the findings of a check. A field that reading or the schema has
// complained about is not complained about again: one mistake, one finding.
func (s *subject) reporter(c *aCheck) reporter {
	return func(field, message string, args ...any) {
		if len(s.found) >= kb.MaxFindings {
			return
		}
		if s.hasBad(field) {
			return
		}
		severity := c.Severity
		if c.Strict && s.record.Review == kb.ReviewReviewed {
			severity = kb.FindingError
		}
		s.add(kb.Finding{Field: field, Code: c.Code, Severity: severity,
			Message: fmt.Sprintf(message, args...), Advice: c.Advice})
	}
}

// hasBad reports whether reading or the schema has complained about a field, a
// part of it, or what it is part of.
func (s *subject) hasBad(field string) bool {
	return slices.ContainsFunc(s.bad, func(b string) bool { return overlaps(b, field) })
}

// add completes a finding with its place.
func (s *subject) add(f kb.Finding) {
	if len(s.found) >= kb.MaxFindings {
		return
	}
	if s.positions == nil {
		s.positions = s.source.Positions()
	}
	f.File = s.source.Path
	f.Line, f.Column = s.positions(f.Field)
	s.found = append(s.found, f)
}
