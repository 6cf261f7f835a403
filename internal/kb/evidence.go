package kb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// EvidenceFile is where the proof of a set of records lies, below its folder.
const EvidenceFile = "evidence.json"

// EvidenceVersion is the version of the form of the evidence file.
const EvidenceVersion = 1

// Proof is what kb prove found out about a set of records: the content of the
// evidence file. It is derived, never written by hand, and the same for every
// run: times, ports, process numbers and random ids are replaced by fixed words.
type Proof struct {
	SchemaVersion int          `json:"schemaVersion"`
	Records       []Evidence   `json:"records"`    // of the records that have a scenario, in the order of the set
	Places        []RaisePlace `json:"places"`     // every place of the runtime that can raise an error, by file and line
	Operations    []Operation  `json:"operations"` // of the runtime, with their guards
	Siblings      []Sibling    `json:"siblings"`   // instances of messages and what they are taken for
}

// Evidence is the proof of one record.
type Evidence struct {
	Record    string         `json:"record"`   // id
	Scenario  string         `json:"scenario"` // name
	Title     string         `json:"title"`    // what the scenario shows, one sentence
	Proven    bool           `json:"proven"`
	Problems  []string       `json:"problems"` // why it is not proven; empty when it is
	Steps     []ProofStep    `json:"steps"`    // the last one is the operation that fails
	Emitted   Emitted        `json:"emitted"`
	Diagnosis PasteResult    `json:"diagnosis"`
	Remedies  []Remedy       `json:"remedies"`
	NoRemedy  *string        `json:"noRemedy"`       // why no remedy lets the same operation succeed; null when one does
	Also      []Variant      `json:"also,omitempty"` // other ways to the message
	Captures  []CaptureValue `json:"captures"`       // the values that the scenario used, in the order of the record
}

// ProofStep is one step of a scenario in words.
type ProofStep struct {
	Text   string `json:"text"`   // inline Markdown, an imperative sentence without full stop
	Result string `json:"result"` // what came of it, "" when nothing is to be said
}

// Channel is where a message was seen.
type Channel string

// The channels of a message.
const (
	ChannelError  Channel = "error"  // the error of the call
	ChannelResult Channel = "result" // a text in the result of a call that did not fail
	ChannelStderr Channel = "stderr" // a line on the worker's error output
	ChannelLog    Channel = "log"    // a line in the log of the host
)

// Emitted is what the caller of the runtime saw.
type Emitted struct {
	Channel Channel     `json:"channel"`
	Text    string      `json:"text"`    // whole, as it was seen
	Message string      `json:"message"` // the part of it that is the record's
	Code    *string     `json:"code"`
	Class   *string     `json:"class"`
	Status  *int        `json:"status"` // HTTP
	Chain   []ChainLink `json:"chain"`  // of wrapped errors, outermost first
	Place   ProofPlace  `json:"place"`  // that raised the message
}

// ChainLink is one error of a chain.
type ChainLink struct {
	Message string  `json:"message"`
	Code    *string `json:"code"`
	Class   *string `json:"class"`
	Place   *Place  `json:"place"` // null when it is not an error of the runtime's own
}

// Place is a place in the source of the runtime.
type Place struct {
	File   string `json:"file"` // below internal/runtime, slash-separated
	Line   int    `json:"line"` // from 1
	Symbol string `json:"symbol"`
}

// ProofPlace is a place with the lines around it.
type ProofPlace struct {
	Place
	Start int      `json:"start"` // number of the first line
	Lines []string `json:"lines"`
}

// PasteResult is what the diagnosis says about the emitted text.
type PasteResult struct {
	Verdict    string         `json:"verdict"`
	Kind       string         `json:"kind"`
	Confidence float64        `json:"confidence"`
	First      bool           `json:"first"` // this record comes first
	Cause      *string        `json:"cause"` // id of the record that comes first because this one wraps it
	Captures   []CaptureValue `json:"captures"`
}

// CaptureValue is the value of a placeholder.
type CaptureValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Remedy is a way out that was run after the failure.
type Remedy struct {
	Solution int         `json:"solution"` // of the record, from 1
	Steps    []ProofStep `json:"steps"`    // the last one is the operation again, or what takes its place
	Again    bool        `json:"again"`    // the last step is the operation that failed, not another in its place
	Works    bool        `json:"works"`
}

// Variant is another way to a message that was run: to another place that
// raises it, or with other errors waiting behind it.
type Variant struct {
	Title   string      `json:"title"`   // one sentence
	Steps   []ProofStep `json:"steps"`   // the last one is the operation that fails
	Emitted string      `json:"emitted"` // whole text, as it was seen
	Place   Place       `json:"place"`   // that raised the message
	Then    []Then      `json:"then"`    // the errors behind it, in their order
}

// Then is an error that was waiting behind another one.
type Then struct {
	Record  string      `json:"record"`  // id
	Message string      `json:"message"` // as it was seen
	Steps   []ProofStep `json:"steps"`   // after which it came; none when it stood behind the other in the same result
}

// RaisePlace is a place in the runtime that can raise an error.
type RaisePlace struct {
	Place
	Message   string  `json:"message"`   // template as the source has it, "" when it has none
	Record    *string `json:"record"`    // id of the record that documents it
	Exemption *string `json:"exemption"` // why it needs none
}

// Operation is an operation of the runtime.
type Operation struct {
	Name   string  `json:"name"`  // kebab-case
	Title  string  `json:"title"` // for people
	Guards []Guard `json:"guards"`
}

// Guard is one condition of an operation, in the order in which they are tried.
type Guard struct {
	Place
	Message string  `json:"message"`
	Record  *string `json:"record"`
}

// Sibling is an instance of a message and the records that the diagnosis finds
// in it, best first.
type Sibling struct {
	Record string   `json:"record"`
	Text   string   `json:"text"`
	Found  []string `json:"found"`
}

// Of returns the evidence of a record, nil when there is none. A nil proof has
// none at all.
func (p *Proof) Of(id string) *Evidence {
	if p == nil {
		return nil
	}
	for i := range p.Records {
		if p.Records[i].Record == id {
			return &p.Records[i]
		}
	}
	return nil
}

// IsProven reports whether there is evidence and it proves the record.
func (e *Evidence) IsProven() bool { return e != nil && e.Proven }

// ReadEvidence reads the evidence file of a records folder. A folder without
// one gives nil and no error.
func ReadEvidence(fsys fs.FS) (*Proof, error) {
	data, err := fs.ReadFile(fsys, EvidenceFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	return DecodeEvidence(data)
}

// DecodeEvidence decodes an evidence file.
func DecodeEvidence(data []byte) (*Proof, error) {
	var p Proof
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, fmt.Errorf("%s: %w", EvidenceFile, err)
	}
	if p.SchemaVersion != EvidenceVersion {
		return nil, fmt.Errorf("%s: version %d is not known, only %d", EvidenceFile, p.SchemaVersion, EvidenceVersion)
	}
	return &p, nil
}

// Canonical gives the canonical form of the file.
func (p *Proof) Canonical() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(p); err != nil {
		panic("kb: a proof cannot be encoded: " + err.Error()) // it has only strings, numbers and lists
	}
	return b.Bytes()
}
