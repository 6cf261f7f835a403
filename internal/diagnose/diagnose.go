// Package diagnose reads a pasted text and says which documented errors it
// holds. It does no input or output, so the same code runs in server, command
// line and browser.
//
// New makes an Engine of the records; Engine.Diagnose answers for a text;
// Answer.AppendJSON writes the answer.
package diagnose

import (
	"context"
	"sync/atomic"

	"errorkb/internal/pattern"
)

// Defaults of Options.
const (
	DefaultMaxDiagnoses = 50
	DefaultMaxEvidence  = 20
)

// Options bound an answer. Zero values mean the defaults.
type Options struct {
	MaxDiagnoses int // records in the answer
	MaxEvidence  int // places per record; Diagnosis.Count still counts all

	// Brief leaves out what could be said about an unknown text.
	Brief bool
}

func (o Options) orDefault() Options {
	if o.MaxDiagnoses <= 0 {
		o.MaxDiagnoses = DefaultMaxDiagnoses
	}
	if o.MaxEvidence <= 0 {
		o.MaxEvidence = DefaultMaxEvidence
	}
	return o
}

// work is one diagnosis in the making.
type work struct {
	engine    *Engine
	ctx       context.Context
	input     []byte
	arena     *arena
	texts     []*reading // every reading of the input, the input's own lines first
	hits      []hit
	short     []hit  // of entries that were read the short way, settled and weighed
	tally     *tally // of all hits
	partial   bool
	before    int                 // bytes of the text before the input, when that is a part of it
	unwrapped bool                // what is being read is lines that were put together again
	large     bool                // only what may hold something was read
	lines     []int               // line ends before each step of the input; made when needed
	telling   map[*reading][]span // where messages stand; made when needed

	ends []atomic.Int32 // of a large text that is kept: line ends in each step

	finding *reading                           // patterns are being laid on it
	found   int                                // matches in it
	visit   func(id int, m pattern.Match) bool // visitMatch
}

// Diagnose finds the documented errors in a text of any bytes. When ctx ends
// first, the answer holds what was found until then and is marked as partial.
func (e *Engine) Diagnose(ctx context.Context, text []byte, opts Options) Answer {
	opts = opts.orDefault()
	w := e.newWork(ctx, text, opts.MaxEvidence)
	defer w.release()
	w.search()
	answer := w.answer(Input{Bytes: len(text), Lines: w.countLines()}, opts)
	if answer.Verdict == VerdictUnknown && !opts.Brief {
		answer.Unknown = w.unknown()
	}
	answer.Partial = w.partial
	return answer
}

// answer is what was found in a text.
func (w *work) answer(input Input, opts Options) Answer {
	a := Answer{DatasetVersion: w.engine.version, Input: input, Diagnoses: []Diagnosis{}, RunnersUp: []RunnerUp{}}
	w.rank(&a, opts)
	return a
}

// newWork begins a diagnosis that tells so many places of each record.
func (e *Engine) newWork(ctx context.Context, text []byte, places int) *work {
	a := arenas.Get().(*arena)
	w := &a.work
	*w = work{
		engine: e, ctx: ctx, input: text, arena: a, tally: &a.tally, visit: w.visit,
		hits: w.hits[:0], texts: w.texts[:0], lines: w.lines[:0],
	}
	a.tally = tally{most: places, cause: -1, groups: a.tally.groups[:0]}
	return w
}

// release gives back what the diagnosis was made with.
func (w *work) release() { w.arena.release() }

// search fills the work with everything that is found.
func (w *work) search() {
	if len(w.input) >= largeText {
		w.searchLarge()
	} else {
		w.searchWhole()
	}
}

// searchWhole is search for a text all of which is undone.
func (w *work) searchWhole() {
	w.read(part(w.arena, w.input, 0, len(w.input)), 0, false)
	for _, r := range w.texts {
		w.find(r)
	}
	w.findCodes()
	w.findCut()
	w.judge()
	w.tally.addAll(w.hits)
}

// late reports whether the time is up, and remembers it.
func (w *work) late() bool {
	if !w.partial && w.ctx.Err() != nil {
		w.partial = true
	}
	return w.partial
}

// countLines counts lines as an editor does: a line end at the very end begins
// no new line.
func (w *work) countLines() int {
	if len(w.input) == 0 {
		return 0
	}
	n, _ := w.place(len(w.input) - 1)
	return n
}
