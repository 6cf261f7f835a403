package lint

import (
	"context"
	"fmt"
	"slices"

	"errorkb/internal/kb"
	"errorkb/internal/pattern"
)

// Matrix is the confusion of a set of records: every instance against every
// pattern. An instance is a text that a record says it is found in: its
// examples, and its message with the examples of its captures.
type Matrix struct {
	Records   int    `json:"records"`
	Instances int    `json:"instances"`
	Cells     []Cell `json:"cells"` // off the diagonal, and not empty; by record, then other
	// Wrong are the instances that the diagnosis gives to another record, or to
	// none.
	Wrong []Wrong `json:"wrong"`
}

// MatrixRecord names a record in a matrix.
type MatrixRecord struct {
	ID   string `json:"id"`
	Repo string `json:"repo"`
	Slug string `json:"slug"`
}

// String is the name under which commands find the record.
func (r MatrixRecord) String() string { return r.Repo + "/" + r.Slug }

// Cell says how many instances of one record are found by the pattern of
// another, and what tells the two apart.
type Cell struct {
	Record MatrixRecord `json:"record"`
	Other  MatrixRecord `json:"other"`
	Count  int          `json:"count"`
	First  MatrixRecord `json:"first"` // comes first in the diagnosis of these instances
	Why    string       `json:"why"`   // it does
}

// Wrong is an instance with a diagnosis that is not its record.
type Wrong struct {
	Record MatrixRecord  `json:"record"`
	Field  string        `json:"field"` // examples.match[0] or errorMessage
	Text   string        `json:"text"`
	Got    *MatrixRecord `json:"got"` // nil when the text is unknown
}

// instance is a text of a record.
type instance struct {
	field, text string
}

func instancesOf(r *kb.Record) []instance {
	var list []instance
	for i, example := range r.Examples.Match {
		list = append(list, instance{element("examples.match", i), example})
	}
	if r.ErrorMessage != "" {
		list = append(list, instance{"errorMessage", fillings(r.ErrorMessage, r.Captures)[0]})
	}
	return list
}

// NewMatrix computes the matrix of a set. Diagnose gives the ids of the records
// that a text is diagnosed as, the best first. When ctx ends, so does the work,
// with its error.
func NewMatrix(ctx context.Context, set *kb.Set, diagnose func(text []byte) []string) (*Matrix, error) {
	m := &Matrix{Records: len(set.Records), Cells: []Cell{}, Wrong: []Wrong{}}
	var patterns []*pattern.Pattern
	var owners []int // records, by pattern
	byID := map[string]int{}
	for i, r := range set.Records {
		byID[r.ID] = i
		for _, expr := range expressionsOf(r) {
			p, err := pattern.Compile(expr[0], expr[1])
			if err != nil {
				return nil, fmt.Errorf("record %q: %w", r.ID, err)
			}
			patterns, owners = append(patterns, p), append(owners, i)
		}
	}
	index := pattern.Build(patterns)
	for i, r := range set.Records {
		cells := map[int]*Cell{}
		for _, in := range instancesOf(r) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			m.Instances++
			text := []byte(in.text)
			literal := map[int]int{} // the most literal text of a record's matches
			index.Find(text, func(id int, match pattern.Match) bool {
				literal[owners[id]] = max(literal[owners[id]], literalText(match))
				return true
			})
			ids := diagnose(text)
			if got := firstOther(set, byID, i, ids); got != i {
				w := Wrong{Record: matrixRecord(r), Field: in.field, Text: in.text}
				if got >= 0 {
					other := matrixRecord(set.Records[got])
					w.Got = &other
				}
				m.Wrong = append(m.Wrong, w)
			}
			for k, n := range literal {
				if k == i {
					continue
				}
				if cells[k] == nil {
					other := set.Records[k]
					cells[k] = &Cell{Record: matrixRecord(r), Other: matrixRecord(other)}
					cells[k].First, cells[k].Why = orderOf(r, other, literal[i], n, ids)
				}
				cells[k].Count++
			}
		}
		for k := range set.Records {
			if c := cells[k]; c != nil {
				m.Cells = append(m.Cells, *c)
			}
		}
	}
	return m, nil
}

func matrixRecord(r *kb.Record) MatrixRecord { return MatrixRecord{r.ID, r.Repo, r.Slug} }

// expressionsOf are the patterns of a record and the messages they stand for,
// today's and those of earlier wordings.
func expressionsOf(r *kb.Record) [][2]string {
	var list [][2]string
	add := func(expr, template string) {
		if expr != "" {
			list = append(list, [2]string{expr, template})
		}
	}
	add(r.MessagePattern, r.ErrorMessage)
	for _, h := range r.MessageHistory {
		add(h.MessagePattern, h.ErrorMessage)
	}
	return list
}

func literalText(m pattern.Match) int {
	n := m.End - m.Start
	for _, c := range m.Captures {
		n -= c.End - c.Start
	}
	return n
}

// roleRank orders causes before symptoms before wrappers.
func roleRank(r *kb.Record) int {
	return slices.Index([]kb.Role{kb.RoleSymptom, kb.RoleWrapper}, r.Role)
}

// firstOther is the record that an instance of record i is diagnosed as, -1 for
// none. A cause that stands in the text of what it causes may come before it.
func firstOther(set *kb.Set, byID map[string]int, i int, ids []string) int {
	if len(ids) == 0 {
		return -1
	}
	got, known := byID[ids[0]]
	if !known {
		return -1
	}
	own := set.Records[i]
	if slices.Contains(ids, own.ID) && roleRank(set.Records[got]) < roleRank(own) {
		return i
	}
	return got
}

// orderOf says which of two records that find the same text comes first, and
// why.
func orderOf(r, other *kb.Record, own, others int, ids []string) (first MatrixRecord, why string) {
	at := func(id string) int {
		if i := slices.Index(ids, id); i >= 0 {
			return i
		}
		return len(ids)
	}
	a, b := r, other
	if at(other.ID) < at(r.ID) {
		a, b = other, r
		own, others = others, own
	}
	switch {
	case at(a.ID) == len(ids):
		why = "the text is diagnosed as neither"
	case at(b.ID) < len(ids) && a.Role != b.Role && roleRank(a) < roleRank(b):
		why = fmt.Sprintf("a %s comes before a %s", a.Role, b.Role)
	case own > others:
		why = fmt.Sprintf("it has more text of its own in it, %d to %d bytes", own, others)
	case own == others:
		why = fmt.Sprintf("both have %d bytes of their own text in it; the patterns do not tell them apart", own)
	default:
		why = fmt.Sprintf("it has less text of its own in it, %d to %d bytes; what stands around it decides", own, others)
	}
	return matrixRecord(a), why
}

// Unreduced names the files of the records with a pattern that is more than
// literals and gaps, earlier wordings included, in a set that was read from
// files. Such a pattern is searched for as a regular expression.
func Unreduced(set *kb.Set) []string {
	var files []string
	for i, r := range set.Records {
		for _, expr := range expressionsOf(r) {
			p, err := pattern.Compile(expr[0], expr[1])
			if err != nil || p.Reduced() {
				continue
			}
			files = append(files, set.Sources[i].Path)
			break
		}
	}
	return files
}
