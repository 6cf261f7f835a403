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
	byID := make(map[string]*Record, len(records))
	for _, r := range records {
		byID[r.ID] = r
	}
	shared := sharedIndex(records)
	namedBy := map[string][]string{}
	for _, r := range records {
		for _, id := range r.Related {
			namedBy[id] = append(namedBy[id], r.ID)
		}
		if r.ReplacedBy != nil {
			namedBy[*r.ReplacedBy] = append(namedBy[*r.ReplacedBy], r.ID)
		}
	}
	related := make(map[string][]Relation, len(records))
	for i, r := range records {
		taken := map[string]bool{r.ID: true}
		var out []Relation
		add := func(id, why string) {
			if len(out) < limit && !taken[id] && byID[id] != nil {
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
		for _, c := range candidates(i, r, records, shared, namedBy[r.ID], byID) {
			add(c.record.ID, c.why)
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

// sharedIndex maps each property to the records that have it, in order.
func sharedIndex(records []*Record) map[string][]int {
	index := map[string][]int{}
	for i, r := range records {
		for _, p := range propertiesOf(r) {
			index[p.key] = append(index[p.key], i)
		}
	}
	return index
}

type candidate struct {
	record *Record
	score  float64
	best   float64 // weight of the strongest reason
	why    string
	tags   []string
}

// candidates ranks the records that share something with record i.
func candidates(i int, r *Record, records []*Record, shared map[string][]int, namedBy []string, byID map[string]*Record) []*candidate {
	found := map[*Record]*candidate{}
	add := func(other *Record, weight float64, why string) *candidate {
		c := found[other]
		if c == nil {
			c = &candidate{record: other}
			found[other] = c
		}
		c.score += weight
		if weight > c.best && why != "" {
			c.best, c.why = weight, why
		}
		return c
	}
	for _, id := range namedBy {
		other := byID[id]
		if other.ReplacedBy != nil && *other.ReplacedBy == r.ID {
			add(other, weightReplaced, "replaced by this error")
		} else {
			add(other, weightNamedThere, "names this error as related")
		}
	}
	for _, p := range propertiesOf(r) {
		holders := shared[p.key]
		isTag := strings.HasPrefix(p.key, "tag\x00")
		if isTag {
			p.weight = weightTag / float64(max(1, len(holders)-1))
		}
		for _, j := range window(holders, i) {
			if j == i {
				continue
			}
			if isTag {
				c := add(records[j], p.weight, "")
				c.tags = append(c.tags, p.why)
			} else {
				add(records[j], p.weight, p.why)
			}
		}
	}
	list := make([]*candidate, 0, len(found))
	for _, c := range found {
		if c.why == "" {
			c.why = sharedTags(c.tags)
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), compareRecords(a.record, b.record))
	})
	return list
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

func sharedTags(tags []string) string {
	const shown = 3
	noun := "tags"
	if len(tags) == 1 {
		noun = "tag"
	}
	return fmt.Sprintf("shares the %s %s", noun, strings.Join(tags[:min(shown, len(tags))], ", "))
}
