package lint

import "errorkb/internal/kb"

// Codes of findings that come from reading and from the schema.
const (
	codeUnreadable = "unreadable"
	codeEmpty      = "empty"
	codeMissing    = "missing-field"
	codeType       = "type"
	codeValue      = "value"
	codeUnknown    = "unknown-field"
)

// readingChecks are made while files are read (package kb) and compared with
// the schema. They stand here to be listed and explained with the others.
var readingChecks = []*aCheck{
	{CheckInfo: CheckInfo{Code: codeUnreadable, Name: "file cannot be read", Severity: kb.FindingError,
		Description: "Every file below the records folder is opened and read as a whole; a folder, pipe or file without permission cannot be.",
		Advice:      "mend it or remove it"}},
	{CheckInfo: CheckInfo{Code: "too-large", Name: "file too large", Severity: kb.FindingError,
		Description: "A record file has at most 1 MiB.",
		Advice:      "shorten its excerpts and examples"}},
	{CheckInfo: CheckInfo{Code: "encoding", Name: "not UTF-8", Severity: kb.FindingError,
		Description: "A record file is UTF-8 without a byte order mark, NUL bytes or half surrogate pairs.",
		Advice:      "save the file as UTF-8"}},
	{CheckInfo: CheckInfo{Code: "syntax", Name: "not JSON", Severity: kb.FindingError,
		Description: "A record file is one JSON object: no comments, no trailing commas, nothing after its end, not nested deeply.",
		Advice:      "mend the JSON"}},
	{CheckInfo: CheckInfo{Code: "duplicate-key", Name: "key stands twice", Severity: kb.FindingError,
		Description: "JSON readers disagree about which of two equal keys counts.",
		Advice:      "keep one of them"}},
	{CheckInfo: CheckInfo{Code: "schema-version", Name: "schema version", Severity: kb.FindingError,
		Description: "A record says which version of the format it has; 2 and 3 are read.",
		Advice:      `write "schemaVersion": 3`}},
	{CheckInfo: CheckInfo{Code: codeUnknown, Name: "unknown field", Severity: kb.FindingError,
		Description: "A field that a record does not have is most often a misspelt one. In version 2 it is a warning, as others add fields there.",
		Advice:      "remove it, or mend its spelling"}},
	{CheckInfo: CheckInfo{Code: codeType, Name: "wrong type", Severity: kb.FindingError,
		Description: "Each field has one JSON type, given in the manual of the record format."}},
	{CheckInfo: CheckInfo{Code: codeMissing, Name: "field missing", Severity: kb.FindingError,
		Description: "Fields that each record needs are present, even when they are empty.",
		Advice:      "add it; the manual of the record format says what it holds"}},
	{CheckInfo: CheckInfo{Code: codeValue, Name: "value not allowed", Severity: kb.FindingError,
		Description: "A value has the form, range or choice that the schema gives for its field."}},
	{CheckInfo: CheckInfo{Code: codeEmpty, Name: "no record", Severity: kb.FindingWarning,
		Description: "A records folder holds at least one record; an empty one is often the wrong folder.",
		Advice:      "look whether it is the right folder"}},
}
