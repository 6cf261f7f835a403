package diagnose

import (
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"errorkb/internal/pattern"
	"errorkb/internal/pattern/fault"
)

// draft is what New works out of a share of the entries, without the others.
type draft struct {
	owners   []owner
	patterns []*pattern.Pattern
	words    tableDraft // of the literals, by owner of the share
	probes   probeDraft
	slashes  bool
	err      error // the first
}

// minShare is how many entries are worth a processor of their own.
const minShare = 64

// draftAll works out all entries, in as many shares as there are processors. The
// result does not depend on their number.
func draftAll(entries []Entry) []*draft {
	shares := max(1, min(runtime.GOMAXPROCS(0), len(entries)/minShare))
	drafts := make([]*draft, shares)
	var group sync.WaitGroup
	for k := range drafts {
		d := &draft{}
		drafts[k] = d
		from, to := len(entries)*k/shares, len(entries)*(k+1)/shares
		work := func() {
			for i := from; i < to && d.err == nil; i++ {
				d.err = d.addEntry(i, &entries[i])
			}
		}
		if k == shares-1 {
			work()
		} else {
			group.Go(work)
		}
	}
	group.Wait()
	return drafts
}

// minPlain is what a message has to be worth of which no word is telling.
const minPlain = 1.5

func (d *draft) addEntry(i int, e *Entry) error {
	if err := d.add(i, e, Wording{Template: e.Template, Pattern: e.Pattern}, 0); err != nil {
		return err
	}
	for k, w := range e.History {
		if err := d.add(i, e, w, k+1); err != nil {
			return err
		}
	}
	return nil
}

// compile makes the pattern of a wording, nil when it has neither expression nor
// template.
func (w *Wording) compile() (*pattern.Pattern, error) {
	expr, template := squeezeExpr(plainTypography(w.Pattern, true)), ""
	if strings.TrimSpace(expr) == "" {
		template = squeezeExpr(plainTypography(w.Template, false))
		if strings.TrimSpace(template) == "" {
			return nil, nil
		}
	}
	return pattern.Compile(expr, template)
}

// add works out one wording of an entry.
func (d *draft) add(i int, e *Entry, wording Wording, earlier int) error {
	p, err := wording.compile()
	if err != nil {
		return fault.Of("record "+strconv.Quote(e.Ref.ID), err)
	}
	if p == nil {
		return nil
	}
	literals := p.Literals()
	if len(literals) == 0 {
		return nil // it would be found everywhere
	}
	id := int32(len(d.owners))
	o := owner{entry: i, historic: earlier > 0, earlier: uint32(earlier), stop: strings.HasSuffix(p.Expr(), `\.`), weak: p.Weak()}
	words := 0
	labels := true // it says nothing but how bad it is
	var small [maxTableWord]byte
	for _, l := range literals {
		d.slashes = d.slashes || strings.IndexByte(l, '\\') >= 0
		eachWord(l, func(from, to int) {
			worth := worthOfWord(l[from:to])
			words++
			o.worth += worth
			o.telling = o.telling || worth >= 1
			if labels {
				_, labels = levelOf([]byte(l[from:to]))
			}
			if n := to - from; n >= 2 && n <= len(small) {
				d.words.add(lowerIn(&small, l[from:to]), id)
			}
		})
	}
	o.words = uint16(min(words, math.MaxUint16))
	// A few common words of a program that puts a class before them.
	plain := e.Class != "" && !o.telling && o.worth < minPlain && len(p.Names()) == 0
	o.weak = o.weak || labels || plain
	if parts := segmentsFor(p); parts != nil {
		o.worth += worthOfShape(parts)
		o.head, o.tail = parts[0].gap != "", parts[len(parts)-1].gap != ""
		d.probes.add(id, parts)
	}
	d.owners = append(d.owners, o)
	d.patterns = append(d.patterns, p)
	return nil
}

// join makes the engine of the drafts of its entries.
func (e *Engine) join(drafts []*draft) {
	n := 0
	for _, d := range drafts {
		n += len(d.owners)
	}
	e.owners = make([]owner, 0, n)
	patterns := make([]*pattern.Pattern, 0, n)
	e.first = make([]int32, len(e.entries))
	for i := range e.first {
		e.first[i] = -1
	}
	words, probes, bases := make([]*tableDraft, len(drafts)), make([]*probeDraft, len(drafts)), make([]int32, len(drafts))
	for k, d := range drafts {
		words[k], probes[k], bases[k] = &d.words, &d.probes, int32(len(e.owners))
		for i := range d.owners {
			o := &d.owners[i]
			o.number = bases[k] + int32(i)
			if !o.historic {
				e.first[o.entry] = o.number
			}
		}
		e.owners = append(e.owners, d.owners...)
		patterns = append(patterns, d.patterns...)
		e.slashes = e.slashes || d.slashes
	}
	var group sync.WaitGroup
	group.Go(func() { e.index = pattern.Build(patterns) })
	e.words = newLexicon(n, newTable(words, bases))
	e.probes = newProbes(probes, bases)
	e.codes = newCodeTable(e.entries)
	group.Wait()
	e.caches()
}

// caches makes room for what is made when it is first asked for.
func (e *Engine) caches() {
	e.parts = make([]atomic.Pointer[[]segment], len(e.owners))
	e.patterns = make([]atomic.Pointer[pattern.Pattern], len(e.owners))
}
