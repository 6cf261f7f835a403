package diagnose

import (
	"errorkb/internal/kb"
	"errorkb/internal/pattern"
)

// Entry is what the engine knows of one record.
type Entry struct {
	Ref       Ref
	Code      string   // visible at run time; "" when there is none
	Class     string   // exception class; "" when there is none
	Aliases   []string // other codes and names under which it appears
	Template  string   // message as its source writes it
	Pattern   string   // RE2 expression; made from the template when empty
	History   []Wording
	Solutions []string
}

// Wording is an earlier wording of a message.
type Wording struct {
	Template, Pattern, Until string
}

// EntryOf is the entry of a record whose page is at url.
func EntryOf(r *kb.Record, url string) Entry {
	e := Entry{
		Ref: Ref{
			ID: r.ID, Repo: r.Repo, Slug: r.Slug, Title: r.ErrorMessage, URL: url,
			Severity: string(r.Severity), Role: string(r.Role), Status: string(r.Status),
		},
		Aliases:   r.Aliases,
		Template:  r.ErrorMessage,
		Pattern:   r.MessagePattern,
		Solutions: r.Solutions,
	}
	if r.ErrorCode != nil {
		e.Code = *r.ErrorCode
	}
	if r.ErrorClass != nil {
		e.Class = *r.ErrorClass
	}
	for _, h := range r.MessageHistory {
		e.History = append(e.History, Wording{Template: h.ErrorMessage, Pattern: h.MessagePattern, Until: h.Until})
	}
	return e
}

// Engine diagnoses texts. It is immutable and safe for use by many goroutines.
type Engine struct {
	version  string
	entries  []entry
	owners   []owner // by pattern
	first    []int   // by entry: the owner of today's wording, -1 when it has none
	index    *pattern.Index
	words    *lexicon
	spelling spelling
	probes   *probes
	parts    partsCache // by owner
	slashes  bool       // some literal text holds a back slash
	codes    codeTable
}

// entry is an Entry with what was computed from it.
type entry struct {
	Entry
}

// owner says whose message a pattern is.
type owner struct {
	entry    int
	historic bool
	pattern  *pattern.Pattern
	worth    float64 // how telling its literal text is; see worthOf
	words    int     // words in its literal text
	expr     string
	head     bool // it begins with a gap
	tail     bool // it ends with a gap
	telling  bool // one of its words is not common
	weak     bool // too little text to be told from others
}

// segments are the literals and gaps of the message, nil when it has more than
// those. They are made anew each time: few messages are ever looked at so.
func (o *owner) segments() []segment {
	parts := segmentsOf(o.expr)
	if len(parts) == 0 || literalLen(parts) == 0 {
		return nil
	}
	return parts
}

// New makes an engine of a data set with the given version. An entry whose
// pattern does not compile is an error that names its id.
func New(version string, entries []Entry) (*Engine, error) {
	e := &Engine{version: version, entries: make([]entry, len(entries))}
	for i := range entries {
		e.entries[i].Entry = entries[i]
	}
	drafts := draftAll(e.entries)
	for _, d := range drafts {
		if d.err != nil {
			return nil, d.err
		}
	}
	e.join(drafts)
	return e, nil
}

// Len is the number of records that the engine knows.
func (e *Engine) Len() int { return len(e.entries) }

// Version is the version of the data set.
func (e *Engine) Version() string { return e.version }
