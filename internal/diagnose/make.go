package diagnose

import (
	"fmt"
	"runtime"
	"strings"
	"sync"

	"errorkb/internal/pattern"
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
func draftAll(entries []entry) []*draft {
	shares := max(1, min(runtime.GOMAXPROCS(0), len(entries)/minShare))
	drafts := make([]*draft, shares)
	var group sync.WaitGroup
	for k := range drafts {
		d := &draft{}
		drafts[k] = d
		from, to := len(entries)*k/shares, len(entries)*(k+1)/shares
		work := func() {
			for i := from; i < to && d.err == nil; i++ {
				d.err = d.addEntry(i, &entries[i].Entry)
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

func (d *draft) addEntry(i int, e *Entry) error {
	if err := d.add(i, e, e.Pattern, e.Template, false); err != nil {
		return err
	}
	for _, h := range e.History {
		if err := d.add(i, e, h.Pattern, h.Template, true); err != nil {
			return err
		}
	}
	return nil
}

// add works out one wording of an entry.
func (d *draft) add(i int, e *Entry, expr, template string, historic bool) error {
	expr = squeezeExpr(plainTypography(expr, true))
	if strings.TrimSpace(expr) == "" {
		template = squeezeExpr(plainTypography(template, false))
		if strings.TrimSpace(template) == "" {
			return nil
		}
	}
	p, err := pattern.Compile(expr, template)
	if err != nil {
		return fmt.Errorf("record %q: %w", e.Ref.ID, err)
	}
	literals := p.Literals()
	if len(literals) == 0 {
		return nil // it would be found everywhere
	}
	id := int32(len(d.owners))
	o := owner{entry: i, historic: historic, pattern: p, expr: p.Expr(), weak: p.Weak()}
	var small [maxTableWord]byte
	for _, l := range literals {
		d.slashes = d.slashes || strings.IndexByte(l, '\\') >= 0
		eachWord(l, func(from, to int) {
			worth := worthOfWord(l[from:to])
			o.words++
			o.worth += worth
			o.telling = o.telling || worth >= 1
			if n := to - from; n >= 2 && n <= len(small) {
				d.words.add(lowerIn(&small, l[from:to]), id)
			}
		})
	}
	if parts := o.segments(); parts != nil {
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
	e.first = make([]int, len(e.entries))
	for i := range e.first {
		e.first[i] = -1
	}
	words, probes, bases := make([]*tableDraft, len(drafts)), make([]*probeDraft, len(drafts)), make([]int32, len(drafts))
	for k, d := range drafts {
		words[k], probes[k], bases[k] = &d.words, &d.probes, int32(len(e.owners))
		for i := range d.owners {
			if o := &d.owners[i]; !o.historic {
				e.first[o.entry] = len(e.owners) + i
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
	e.parts = make(partsCache, n)
	e.codes = newCodeTable(e.entries)
	group.Wait()
}
