package eval

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// PasteScore counts how pastes were answered.
type PasteScore struct {
	Right, Total  int // pastes
	Missing       int // first or other planted messages that were not reported
	Wrong         int // something else was reported first
	Extra         int // something else was reported as well
	Equal, Values int // values, where they can be read in one way only
}

// PasteReport is the score by class.
type PasteReport struct {
	Classes  []string
	ByClass  map[string]*PasteScore
	Positive PasteScore // of all classes that hold messages
	Negative PasteScore
	Stated   [10]Count // of what was reported, by tenths of its confidence: how much was right
	Details  io.Writer // every wrong paste, when not nil
}

// Score answers pastes and counts.
func (p *Pool) Score(ctx context.Context, report *PasteReport, pastes []Paste, find func(Paste) Finder) {
	if report.ByClass == nil {
		report.ByClass = map[string]*PasteScore{}
	}
	for _, paste := range pastes {
		s := report.ByClass[paste.Class]
		if s == nil {
			s = &PasteScore{}
			report.ByClass[paste.Class] = s
			report.Classes = append(report.Classes, paste.Class)
		}
		one := p.score(paste, find(paste)(ctx, []byte(paste.Text)), report)
		s.add(one)
		if paste.Negative {
			report.Negative.add(one)
		} else {
			report.Positive.add(one)
		}
	}
}

func (s *PasteScore) add(o PasteScore) {
	s.Right, s.Total, s.Missing, s.Wrong, s.Extra = s.Right+o.Right, s.Total+o.Total, s.Missing+o.Missing, s.Wrong+o.Wrong, s.Extra+o.Extra
	s.Equal, s.Values = s.Equal+o.Equal, s.Values+o.Values
}

// score is that of one paste. A negative is right when nothing is reported but
// what is there by right.
func (p *Pool) score(paste Paste, got []Got, report *PasteReport) PasteScore {
	s := PasteScore{Total: 1}
	var notes []string
	wanted := map[string]bool{}
	for _, m := range paste.Planted {
		for _, id := range p.Same(m.ID) {
			wanted[id] = true
		}
	}
	reported := map[string]bool{}
	flat := strings.Join(strings.Fields(paste.Text), " ")
	for i, g := range got {
		if reported[g.ID] {
			continue
		}
		reported[g.ID] = true
		if right := wanted[g.ID]; right || !p.Holds(g.ID, flat) {
			n := &report.Stated[min(int(g.Confidence*10), 9)]
			n.Total++
			if right {
				n.Right++
			}
		}
		if wanted[g.ID] || i > 0 && p.Holds(g.ID, flat) || paste.Negative && p.Holds(g.ID, flat) {
			continue
		}
		if i == 0 {
			s.Wrong++
		} else {
			s.Extra++
		}
		notes = append(notes, fmt.Sprintf("#%d %s (%s %.2f): %s", i+1, strings.ReplaceAll(g.ID, separator, " "), g.Kind, g.Confidence, p.exprs[g.ID]))
	}
	for _, m := range paste.Planted {
		var best *Got
		for i := range got {
			for _, id := range p.Same(m.ID) {
				if got[i].ID == id && (best == nil || id == m.ID && best.ID != id) {
					best = &got[i]
				}
			}
		}
		if best == nil {
			if inside(m, paste.Planted) {
				continue // folded into what quotes it
			}
			s.Missing++
			notes = append(notes, fmt.Sprintf("missing %s: %s", strings.ReplaceAll(m.ID, separator, " "), p.exprs[m.ID]))
			continue
		}
		if !m.Values || !m.Unique || best.ID != m.ID {
			continue
		}
		for name, want := range m.Filled.Values {
			s.Values++
			if have := best.Variables[name]; squeeze(have) == squeeze(want) {
				s.Equal++
			} else {
				notes = append(notes, fmt.Sprintf("value %s of %s is %q, want %q", name, p.exprs[m.ID], have, want))
			}
		}
	}
	if s.Missing+s.Wrong+s.Extra == 0 {
		s.Right = 1
	}
	if report.Details != nil && len(notes) > 0 {
		fmt.Fprintf(report.Details, "== %s\n%s\n-- %s\n", paste.Class, paste.Text, strings.Join(notes, "\n-- "))
	}
	return s
}

// inside reports whether a message is a value of another one of a paste.
func inside(m Planted, all []Planted) bool {
	for _, o := range all {
		if o.ID == m.ID {
			continue
		}
		for _, v := range o.Filled.Values {
			if v == m.Text {
				return true
			}
		}
	}
	return false
}

// WriteText writes a line for each class and the sums.
func (r *PasteReport) WriteText(out io.Writer) error {
	var b strings.Builder
	line := func(name string, s *PasteScore) {
		fmt.Fprintf(&b, "%-28s right %4d/%-4d %6.2f %%  missing %3d  wrong %3d  extra %3d  values %4d/%-4d %6.2f %%\n", name, s.Right, s.Total,
			percent(s.Right, s.Total), s.Missing, s.Wrong, s.Extra, s.Equal, s.Values, percent(s.Equal, s.Values))
	}
	for _, c := range r.Classes {
		line(c, r.ByClass[c])
	}
	line("all with a message", &r.Positive)
	line("all without", &r.Negative)
	for k, n := range r.Stated {
		if n.Total > 0 {
			fmt.Fprintf(&b, "stated 0.%d  right %d/%d %.1f %%\n", k, n.Right, n.Total, percent(n.Right, n.Total))
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(max(whole, 1)) }
