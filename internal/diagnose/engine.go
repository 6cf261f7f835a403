package diagnose

import (
	"sync/atomic"

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

// Engine diagnoses texts. It is immutable and safe for use by many goroutines.
type Engine struct {
	version  string
	entries  []Entry
	owners   []owner // by pattern
	first    []int32 // by entry: the owner of today's wording, -1 when it has none
	index    *pattern.Index
	words    *lexicon
	spelling spelling
	probes   *probes
	parts    []atomic.Pointer[[]segment]       // by owner; made when they are first asked for
	patterns []atomic.Pointer[pattern.Pattern] // by owner; the same
	slashes  bool                              // some literal text holds a back slash
	codes    codeTable

	codeHeads atomic.Pointer[codeHeads] // made when they are first asked for
}

// owner says whose message a pattern is. It holds no pointer, so that a file of
// owners can be used as it is.
type owner struct {
	worth    float64 // how telling its literal text is; see worthOf
	entry    int
	number   int32  // its place in Engine.owners
	earlier  uint32 // 0 for today's wording, else one more than the place in the entry's History
	words    uint16 // in its literal text
	historic bool
	head     bool // it begins with a gap
	tail     bool // it ends with a gap
	stop     bool // it ends with a full stop
	telling  bool // one of its words is not common
	weak     bool // too little text to be told from others
}

// patternOf is the pattern of an owner, compiled when it is first asked for: the
// index finds messages without.
func (e *Engine) patternOf(o *owner) *pattern.Pattern {
	cached := &e.patterns[o.number]
	if p := cached.Load(); p != nil {
		return p
	}
	x := &e.entries[o.entry]
	w := Wording{Template: x.Template, Pattern: x.Pattern}
	if o.earlier > 0 {
		w = x.History[o.earlier-1]
	}
	p, err := w.compile()
	if err != nil || p == nil {
		panic("diagnose: entries differ from those that the engine was made of") // they compiled then
	}
	cached.Store(p)
	return p
}

// segmentsFor are the literals and gaps of a message, nil when it has more than
// those.
func segmentsFor(p *pattern.Pattern) []segment {
	parts := segmentsOf(p.Expr())
	if len(parts) == 0 || literalLen(parts) == 0 {
		return nil
	}
	return parts
}

// New makes an engine of a data set with the given version. The entries belong to the
// engine from then on. An entry whose pattern does not compile is an error that names
// its id.
func New(version string, entries []Entry) (*Engine, error) {
	e := &Engine{version: version, entries: entries}
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
