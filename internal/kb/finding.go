package kb

import (
	"cmp"
	"fmt"
	"slices"
)

// FindingSeverity says what a finding does to loading.
type FindingSeverity string

// The severities of a finding: an error keeps the whole set from being loaded,
// a warning does not.
const (
	FindingError   FindingSeverity = "error"
	FindingWarning FindingSeverity = "warning"
)

// Finding is what a check says about a record: where, what is wrong, and what
// to do about it.
type Finding struct {
	File     string          `json:"file"`   // path below the records folder, with slashes
	Line     int             `json:"line"`   // from 1; 0 when the file as a whole is meant
	Column   int             `json:"column"` // in bytes, from 1; 0 when the file as a whole is meant
	Field    string          `json:"field"`  // like solutions[2] or examples.match[0]; "" for the whole record
	Code     string          `json:"code"`   // code of the check
	Severity FindingSeverity `json:"severity"`
	Message  string          `json:"message"`
	Advice   string          `json:"advice"`
}

// String gives the finding as one line: path:line:col: [code] field: message;
// advice. Place, field and advice are left out where the finding has none.
func (f Finding) String() string {
	s := f.File
	if f.Line > 0 {
		s = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	}
	s += ": [" + f.Code + "] "
	if f.Field != "" {
		s += f.Field + ": "
	}
	s += f.Message
	if f.Advice != "" {
		s += "; " + f.Advice
	}
	return s
}

// HasErrors reports whether any finding keeps the set from being loaded.
func HasErrors(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Severity == FindingError })
}

// SortFindings orders findings by file, line, column, field and code.
func SortFindings(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Field, b.Field),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message),
		)
	})
}
