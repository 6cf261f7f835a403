package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// twin is a message of a catalogue and its gapless text, as runes.
type twin struct {
	id, pattern string
	text        []rune // the template with one sign for each gap
}

// alphabet gives every letter a number.
type alphabet map[rune]int

func (a alphabet) encode(text []rune) []int {
	out := make([]int, len(text))
	for i, c := range text {
		k, ok := a[c]
		if !ok {
			k = len(a)
			a[c] = k
		}
		out[i] = k
	}
	return out
}

// ruler measures how many letters of one text have to be changed to make others of
// it, 64 rows of the table of distances at a time (Myers 1999).
type ruler struct {
	size       int
	places     [][]uint64 // by letter: where it stands in the text
	more, less []uint64   // rows whose distance is one more, one less than that above
}

func newRuler(text []int, letters int) *ruler {
	blocks := (len(text) + 63) / 64
	r := &ruler{size: len(text), places: make([][]uint64, letters), more: make([]uint64, blocks), less: make([]uint64, blocks)}
	for i, c := range text {
		if r.places[c] == nil {
			r.places[c] = make([]uint64, blocks)
		}
		r.places[c][i/64] |= 1 << (i % 64)
	}
	return r
}

// distance is the number of changes that make another text.
func (r *ruler) distance(other []int) int {
	for k := range r.more {
		r.more[k], r.less[k] = ^uint64(0), 0
	}
	score := r.size
	last := uint64(1) << ((r.size - 1) % 64)
	for _, c := range other {
		carry := 1
		for k := range r.more {
			var at uint64
			if r.places[c] != nil {
				at = r.places[c][k]
			}
			more, less := r.more[k], r.less[k]
			xv := at | less
			if carry < 0 {
				at |= 1
			}
			xh := ((at & more) + more) ^ more | at
			up, down := less|^(xh|more), more&xh
			if k == len(r.more)-1 {
				if up&last != 0 {
					score++
				} else if down&last != 0 {
					score--
				}
			}
			next := int(up>>63) - int(down>>63)
			up, down = up<<1, down<<1
			if carry < 0 {
				down |= 1
			} else if carry > 0 {
				up |= 1
			}
			r.more[k], r.less[k] = down|^(xv|up), up&xv
			carry = next
		}
	}
	return score
}

// The ruler gives the distances of the plain table.
func TestRuler(t *testing.T) {
	r := filler{rand.New(rand.NewPCG(1, 1))}
	for range 500 {
		make := func() []int {
			out := []int{r.IntN(3)}
			for range r.IntN(200) {
				out = append(out, r.IntN(3))
			}
			return out
		}
		a, b := make(), make()
		row := []int{}
		for j := range len(b) + 1 {
			row = append(row, j)
		}
		for i, c := range a {
			corner := row[0]
			row[0] = i + 1
			for j := range b {
				d := corner
				if c != b[j] {
					d++
				}
				corner = row[j+1]
				row[j+1] = min(d, row[j]+1, row[j+1]+1)
			}
		}
		if got := newRuler(a, 3).distance(b); got != row[len(b)] {
			t.Fatalf("%v %v: %d, want %d", a, b, got, row[len(b)])
		}
	}
}

// nearTwins are the messages that have a near one in their catalogue, by index, and
// the number of pairs.
func nearTwins(list []twin) (near map[int][]int, pairs int) {
	order := make([]int, len(list))
	texts := make([][]int, len(list))
	letters := alphabet{}
	for i := range list {
		order[i] = i
		texts[i] = letters.encode(list[i].text)
	}
	slices.SortFunc(order, func(i, j int) int { return len(texts[i]) - len(texts[j]) })
	near = map[int][]int{}
	for x, i := range order {
		if len(texts[i]) == 0 {
			continue
		}
		ruler := newRuler(texts[i], len(letters))
		for _, j := range order[x+1:] {
			if 10*(len(texts[j])-len(texts[i])) >= 3*len(texts[j]) {
				break
			}
			if 10*ruler.distance(texts[j]) < 3*len(texts[j]) {
				near[i], near[j] = append(near[i], j), append(near[j], i)
				pairs++
			}
		}
	}
	return near, pairs
}

var gapExpr = regexp.MustCompile(`\(\?P<\w+>(?:[^()\[\]]|\[[^\]]*\]|\([^()]*\))*\)`)

// plainPattern is an expression without what a text does not show: the names of its
// gaps, how many stand side by side, how wide its blanks are, the kind of its quotes.
func plainPattern(expr string) string {
	expr = gapExpr.ReplaceAllString(expr, "\x00")
	for strings.Contains(expr, "\x00\x00") {
		expr = strings.ReplaceAll(expr, "\x00\x00", "\x00")
	}
	return strings.NewReplacer(`\s+`, " ", "  ", " ", "\u2019", "'", "\u2018", "'").Replace(expr)
}

// fits reports whether an expression matches a whole text and has as much literal text
// as another one that does: the text does not tell which of them was meant.
func fits(expr, other, text string) bool {
	re := regexp.MustCompile("^(?s:" + strings.ReplaceAll(expr, ".+?", ".*?") + ")$")
	bare := func(s string) int { return len(strings.ReplaceAll(plainPattern(s), "\x00", "")) }
	return bare(expr) >= bare(other) && re.MatchString(text)
}

// TestTwins renders every message that has a near twin in its catalogue, and sees that
// the twin is not reported in its place. Twins with the same words cannot be told
// apart, nor can a text be that both fit whole; such texts are listed.
func TestTwins(t *testing.T) {
	dir := Shared(t)
	catalogues, err := LoadCatalogues(filepath.Join(dir, "eval", "catalogues"))
	if err != nil {
		t.Fatal(err)
	}
	pairs, same, tried, silent := 0, 0, 0, 0
	var wrong, both []string
	for _, name := range names(catalogues) {
		engine, err := EngineFinder(entries(catalogues, []string{name}))
		if err != nil {
			t.Fatal(err)
		}
		list := make([]twin, len(catalogues[name]))
		for i, m := range catalogues[name] {
			list[i] = twin{EntryOf(name, m).Ref.ID, m.Pattern, []rune(plainPattern(m.Pattern))}
		}
		near, n := nearTwins(list)
		pairs += n
		r := filler{rand.New(rand.NewPCG(21, 22))}
		for i := range list {
			if len(near[i]) == 0 {
				continue
			}
			f := Fill(list[i].pattern, r.Rand, func(string) string { return r.write(r.pick(plainValues)) })
			got := engine(context.Background(), []byte(f.Text))
			for _, j := range near[i] {
				if string(list[i].text) == string(list[j].text) {
					if i < j {
						same++
					}
					continue
				}
				tried++
				switch {
				case len(got) == 0:
					silent++
				case got[0].ID == list[j].id && fits(list[j].pattern, list[i].pattern, f.Text):
					both = append(both, fmt.Sprintf("%q is %s and %s", f.Text, list[i].pattern, list[j].pattern))
				case got[0].ID == list[j].id:
					wrong = append(wrong, fmt.Sprintf("%q is taken for %s, is %s", f.Text, list[j].pattern, list[i].pattern))
				}
			}
		}
	}
	t.Logf("%d pairs, %d of them with the same words; of %d renderings beside a twin %d are silent and %d are taken for it\n%s",
		pairs, same, tried, silent, len(wrong), strings.Join(wrong, "\n"))
	t.Logf("%d are instances of both, with no less text in the twin:\n%s", len(both), strings.Join(both, "\n"))
	if pairs == 0 || tried == 0 {
		t.Error("no twins")
	}
	if len(wrong) > 0 {
		t.Errorf("%d of %d are taken for their twin", len(wrong), tried)
	}
}

// plainValues are values in which no message stands.
var plainValues = []string{"{{name}}", "{{thing}}_{{n}}", "{{path}}", "{{ip}}:{{port}}", "v{{ver}}", "{{Thing}}", "{{uuid}}"}
