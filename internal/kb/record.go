// Package kb is the centre of the knowledge base: what a record is, how it is
// decoded and written, and how a set of records is read. It imports nothing but
// the standard library, so anyone can lift it out.
//
// Start with ReadDir, which reads a folder of records, and NewSet, which makes
// them a Set.
package kb

// SchemaVersion is the version of the record format that is written. Versions
// 2 and 3 are read.
const SchemaVersion = 3

// Status says whether a documented error still exists.
type Status string

// The statuses of a record. Anything but StatusActive carries a StatusReason.
const (
	StatusActive     Status = "active"
	StatusDeprecated Status = "deprecated"
	StatusRemoved    Status = "removed"
	StatusWithdrawn  Status = "withdrawn"
)

// Review says who has looked at the text of a record.
type Review string

// The review states of a record.
const (
	ReviewGenerated  Review = "generated"
	ReviewUnreviewed Review = "unreviewed"
	ReviewReviewed   Review = "reviewed"
)

// Severity is how bad the error is for the operation that raised it.
type Severity string

// The severities of a record, worst first.
const (
	SeverityFatal   Severity = "fatal"
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityInfo    Severity = "info"
)

// Role is the place of an error in a chain of errors. A wrapper never outranks
// a cause.
type Role string

// The roles of a record.
const (
	RoleCause   Role = "cause"
	RoleSymptom Role = "symptom"
	RoleWrapper Role = "wrapper"
)

// Retry says whether doing the same thing again can help.
type Retry string

// The retry advice of a record.
const (
	RetryNever    Retry = "never"
	RetrySafe     Retry = "safe"
	RetryAfterFix Retry = "after-fix"
)

// Record is one documented error. The order of its fields is the order of the
// keys in the canonical form. The manual is docs/records.md.
type Record struct {
	SchemaVersion int      `json:"schemaVersion"`
	ID            string   `json:"id"`   // 16 lower-case hex digits, opaque and for ever
	Repo          string   `json:"repo"` // owner/name
	Slug          string   `json:"slug"` // unique in its repo
	Aliases       []string `json:"aliases"`
	Status        Status   `json:"status"`
	StatusReason  *string  `json:"statusReason"`
	ReplacedBy    *string  `json:"replacedBy"` // id
	Review        Review   `json:"review"`

	ErrorCode      *string           `json:"errorCode"`      // code a caller can see at run time
	ErrorMessage   string            `json:"errorMessage"`   // as its source writes it, placeholders included
	MessagePattern string            `json:"messagePattern"` // RE2
	Captures       []Capture         `json:"captures"`       // one per placeholder, in order
	MessageHistory []HistoricMessage `json:"messageHistory"`
	ErrorType      string            `json:"errorType"` // exception, return, log, exit …
	ErrorClass     *string           `json:"errorClass"`
	HTTPStatus     *int              `json:"httpStatus"`
	Severity       Severity          `json:"severity"`
	Role           Role              `json:"role"`
	Retry          Retry             `json:"retry"`

	FilePath        string  `json:"filePath"`
	LineNumber      *int    `json:"lineNumber"`
	Symbol          *string `json:"symbol"`
	SourceCode      *string `json:"sourceCode"`
	SourceCodeStart *int    `json:"sourceCodeStart"`
	SourceCodeEnd   *int    `json:"sourceCodeEnd"`
	GithubURL       *string `json:"githubUrl"`

	Documentation    string   `json:"documentation"`    // Markdown
	TriggerScenarios string   `json:"triggerScenarios"` // Markdown
	CommonSituations string   `json:"commonSituations"` // Markdown
	Solutions        []string `json:"solutions"`        // inline Markdown, most helpful first
	ExampleFix       string   `json:"exampleFix"`       // code with "// before" and "// after"
	HandlingStrategy string   `json:"handlingStrategy"`
	ValidationCode   *string  `json:"validationCode"`
	TypeGuard        *string  `json:"typeGuard"`
	TryCatchPattern  *string  `json:"tryCatchPattern"`
	PreventionTips   []string `json:"preventionTips"`

	Tags          []string `json:"tags"` // kebab-case, sorted
	BackgroundTag *string  `json:"backgroundTag"`
	Related       []string `json:"related"` // ids chosen by the author
	Examples      Examples `json:"examples"`
	Scenario      *string  `json:"scenario"`

	AnalyzedSHA      string `json:"analyzedSha"`
	AnalyzedAt       string `json:"analyzedAt"`       // RFC 3339
	FirstPublishedAt string `json:"firstPublishedAt"` // RFC 3339
	ContentChangedAt string `json:"contentChangedAt"` // RFC 3339
}

// Capture describes one placeholder of the message. Name is the name of the
// group in MessagePattern.
type Capture struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Example     string `json:"example"`
}

// HistoricMessage is an earlier wording of the message.
type HistoricMessage struct {
	ErrorMessage   string `json:"errorMessage"`
	MessagePattern string `json:"messagePattern"`
	Until          string `json:"until"` // version or date
}

// Examples are texts that the pattern must and must not find.
type Examples struct {
	Match   []string `json:"match"`
	NoMatch []string `json:"noMatch"`
}
