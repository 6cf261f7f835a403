package diagnose

// Answer is the result of a diagnosis. Its JSON form is the same, byte for
// byte, from page, API, command and browser: see Answer.AppendJSON.
type Answer struct {
	DatasetVersion string      `json:"datasetVersion"`
	Verdict        Verdict     `json:"verdict"`
	Partial        bool        `json:"partial"` // a deadline cut the work short
	Input          Input       `json:"input"`
	Diagnoses      []Diagnosis `json:"diagnoses"` // best first; never null in JSON
	RunnersUp      []RunnerUp  `json:"runnersUp"` // never null in JSON
	Unknown        *Unknown    `json:"unknown"`   // set exactly when Verdict is VerdictUnknown and Options.Brief is not
}

// Verdict says how far an answer can be trusted.
type Verdict string

// The verdicts, by the confidence of the first diagnosis.
const (
	VerdictKnown   Verdict = "known"
	VerdictLikely  Verdict = "likely"
	VerdictUnknown Verdict = "unknown"
)

// Input is the size of the text as given.
type Input struct {
	Bytes int `json:"bytes"`
	Lines int `json:"lines"`
}

// Ref identifies a record in an answer.
type Ref struct {
	ID       string `json:"id"`
	Repo     string `json:"repo"`
	Slug     string `json:"slug"`
	Title    string `json:"title"` // whole message
	URL      string `json:"url"`   // address of its page
	Severity string `json:"severity"`
	Role     string `json:"role"`
	Status   string `json:"status"`
}

// Kind says how a message was recognised, from best to weakest.
type Kind string

// The kinds of diagnosis.
const (
	KindExact      Kind = "exact"      // the bytes of the input as they are
	KindNormalized Kind = "normalized" // after undoing what was done to the text
	KindTruncated  Kind = "truncated"  // head or tail is missing
	KindHistoric   Kind = "historic"   // an earlier wording
	KindCode       Kind = "code"       // only the code or class
)

// Diagnosis is one record found in the text.
type Diagnosis struct {
	Record     Ref        `json:"record"`
	Kind       Kind       `json:"kind"`
	Confidence float64    `json:"confidence"` // 0 … 1, two decimals
	Count      int        `json:"count"`      // occurrences, at least len(Evidence)
	Evidence   []Evidence `json:"evidence"`
	Solutions  []string   `json:"solutions"` // inline Markdown, most helpful first
}

// Evidence is one place where the message stands. Offsets are bytes into the
// input as given; lines and columns count from 1, columns in bytes.
type Evidence struct {
	Start    int           `json:"start"`
	End      int           `json:"end"`
	Line     int           `json:"line"`
	Column   int           `json:"column"`
	Text     string        `json:"text"` // as understood, after undoing
	Captures []CaptureSpan `json:"captures"`
	Undone   []string      `json:"undone"` // names of the layers that were taken off
}

// CaptureSpan is the value of one placeholder.
type CaptureSpan struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// RunnerUp is a record that was considered and not chosen.
type RunnerUp struct {
	Record     Ref     `json:"record"`
	Confidence float64 `json:"confidence"`
	Why        string  `json:"why"`
}

// Unknown is what can be said about a text that holds no known error.
type Unknown struct {
	Template string       `json:"template"` // the telling line with its values replaced by gaps
	Line     *TellingLine `json:"line"`     // the line that a person would look at; null when the text is empty
	Near     []NearRecord `json:"near"`     // at most three
}

// TellingLine is a line of the input and the reason to look at it.
type TellingLine struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	Line  int    `json:"line"`
	Text  string `json:"text"`
	Why   string `json:"why"`
}

// NearRecord is a known record that resembles the text, with the words that
// differ.
type NearRecord struct {
	Record     Ref      `json:"record"`
	Similarity float64  `json:"similarity"`
	Missing    []string `json:"missing"` // words of the record that the text lacks
	Extra      []string `json:"extra"`   // words of the text that the record lacks
}
