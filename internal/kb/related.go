package kb

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Relation points from one record to another one.
type Relation struct {
	ID  string // of the other record
	Why string // a short phrase for people
}

// How strongly a shared property relates two records. The reasons of one pair
// add up; the strongest gives the phrase.
const (
	weightReplaced   = 1000 // the other is what replaced this one, or the reverse
	weightNamedThere = 100  // the other's author names this one
	weightCode       = 60
	weightSymbol     = 50
	weightBackground = 40
	weightFile       = 20
	weightClass      = 4
	weightTag        = 8 // divided among tags that many records share
)

// maxShared bounds how many holders of one property are looked at for each
// record, so that a tag on every record costs no square.
const maxShared = 64

// Related finds, for each record's id, at most limit other records: those its
// author named, in the author's order, then computed ones, best first. The
// same records give the same answer in whatever order they come.
func Related(records []*Record, limit int) map[string][]Relation {
	records = slices.Clone(records)
	slices.SortStableFunc(records, compareRecords)
	known := make(map[string]bool, len(records))
	for _, r := range records {
		known[r.ID] = true
	}
	f := newFinder(records)
	related := make(map[string][]Relation, len(records))
	for i, r := range records {
		taken := map[string]bool{r.ID: true}
		var out []Relation
		add := func(id, why string) {
			if len(out) < limit && !taken[id] && known[id] {
				taken[id] = true
				out = append(out, Relation{id, why})
			}
		}
		if r.ReplacedBy != nil {
			add(*r.ReplacedBy, "replaces this error")
		}
		for _, id := range r.Related {
			add(id, "named by the author")
		}
		for _, c := range f.candidates(i) {
			if len(out) >= limit {
				break
			}
			if c.why == "" {
				c.why = f.sharedTags(i, c.place)
			}
			add(records[c.place].ID, c.why)
		}
		if len(out) > 0 {
			related[r.ID] = out
		}
	}
	return related
}

// property is something that records share, with the weight and the phrase it
// gives.
type property struct {
	key    string
	weight float64
	why    string
}

func propertiesOf(r *Record) []property {
	var ps []property
	add := func(kind, value string, weight float64, why string) {
		if value != "" {
			ps = append(ps, property{kind + "\x00" + value, weight, why})
		}
	}
	add("code", text(r.ErrorCode), weightCode, "same code: "+text(r.ErrorCode))
	if s := text(r.Symbol); s != "" {
		add("symbol", r.Repo+"\x00"+r.FilePath+"\x00"+s, weightSymbol, "raised in the same place: "+s)
	}
	add("background", text(r.BackgroundTag), weightBackground, "same concept: "+text(r.BackgroundTag))
	if r.FilePath != "" {
		add("file", r.Repo+"\x00"+r.FilePath, weightFile, "raised in the same file")
	}
	if c := text(r.ErrorClass); c != "" {
		add("class", c, weightClass, "same class: "+c)
	}
	for _, tag := range r.Tags {
		add("tag", tag, weightTag, tag)
	}
	return ps
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// finder looks for what one record after the other is related to.
type finder struct {
	records    []*Record // in order
	properties [][]property
	shared     map[string][]int // the records that have a property, in order
	namedBy    map[string][]int // the records that name one as related or as what replaced them
	list       []candidate
	at         []int // by record: one more than its place in the list, 0 when it is not there
}

type candidate struct {
	place int // of the record, in order
	score float64
	best  float64 // weight of the strongest reason
	why   string  // "" when there are only tags
}

func newFinder(records []*Record) *finder {
	f := &finder{records: records, properties: make([][]property, len(records)),
		shared: map[string][]int{}, namedBy: map[string][]int{}, at: make([]int, len(records))}
	for i, r := range records {
		f.properties[i] = propertiesOf(r)
		for _, p := range f.properties[i] {
			f.shared[p.key] = append(f.shared[p.key], i)
		}
		for _, id := range r.Related {
			f.namedBy[id] = append(f.namedBy[id], i)
		}
		if r.ReplacedBy != nil {
			f.namedBy[*r.ReplacedBy] = append(f.namedBy[*r.ReplacedBy], i)
		}
	}
	return f
}

// candidates ranks the records that share something with record i, or name it. The
// list is valid until the next call.
func (f *finder) candidates(i int) []candidate {
	for _, c := range f.list {
		f.at[c.place] = 0
	}
	f.list = f.list[:0]
	r := f.records[i]
	for _, other := range f.namedBy[r.ID] {
		if by := f.records[other].ReplacedBy; by != nil && *by == r.ID {
			f.add(other, weightReplaced, "replaced by this error")
		} else {
			f.add(other, weightNamedThere, "names this error as related")
		}
	}
	for _, p := range f.properties[i] {
		holders := f.shared[p.key]
		if isTag(p) {
			p.weight, p.why = weightTag/float64(max(1, len(holders)-1)), ""
		}
		for _, j := range window(holders, i) {
			if j != i {
				f.add(j, p.weight, p.why)
			}
		}
	}
	slices.SortFunc(f.list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.place, b.place))
	})
	return f.list
}

// add gives a record one more reason.
func (f *finder) add(other int, weight float64, why string) {
	if f.at[other] == 0 {
		f.list = append(f.list, candidate{place: other})
		f.at[other] = len(f.list)
	}
	c := &f.list[f.at[other]-1]
	c.score += weight
	if weight > c.best && why != "" {
		c.best, c.why = weight, why
	}
}

// window gives the holders around record i when there are too many of them;
// neighbours in order are of the same repository.
func window(holders []int, i int) []int {
	if len(holders) <= maxShared {
		return holders
	}
	at, _ := slices.BinarySearch(holders, i)
	from := min(max(0, at-maxShared/2), len(holders)-maxShared)
	return holders[from : from+maxShared]
}

func isTag(p property) bool { return strings.HasPrefix(p.key, "tag\x00") }

// sharedTags says which tags relate record i to another one.
func (f *finder) sharedTags(i, other int) string {
	const shown = 3
	var tags []string
	for _, p := range f.properties[i] {
		if isTag(p) && slices.Contains(window(f.shared[p.key], i), other) {
			tags = append(tags, p.why)
		}
	}
	noun := "tags"
	if len(tags) == 1 {
		noun = "tag"
	}
	return fmt.Sprintf("shares the %s %s", noun, strings.Join(tags[:min(shown, len(tags))], ", "))
}
