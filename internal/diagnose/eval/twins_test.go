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

// near reports whether fewer than three tenths of the letters have to be changed to
// make b of a.
func (a *twin) near(b *twin, rows *[2][]int) bool {
	longer := max(len(a.text), len(b.text))
	most := (3*longer - 1) / 10 // the largest distance below 30 %
	if longer == 0 || max(len(a.text), len(b.text))-min(len(a.text), len(b.text)) > most {
		return false
	}
	n := len(b.text)
	for k := range rows {
		if cap(rows[k]) < n+1 {
			rows[k] = make([]int, 2*n+2)
		}
		rows[k] = rows[k][:n+1]
	}
	last, row := rows[0], rows[1]
	for j := range last {
		last[j] = j
	}
	for i, c := range a.text {
		from, to := max(1, i+1-most), min(n, i+1+most) // outside, it is more anyway
		row[0] = i + 1
		if from > 1 {
			row[from-1] = most + 1
		}
		least := most + 1
		for j := from; j <= to; j++ {
			d := last[j-1]
			if c != b.text[j-1] {
				d++
			}
			if j < i+1+most {
				d = min(d, last[j]+1)
			}
			d = min(d, row[j-1]+1)
			row[j] = d
			least = min(least, d)
		}
		if least > most {
			return false
		}
		last, row = row, last
	}
	return last[n] <= most
}

// letters counts the letters of a text by kind: two texts whose counts differ by more
// than twice a distance are further apart.
func letters(text []rune) (count [32]int16) {
	for _, c := range text {
		count[c&31]++
	}
	return count
}

func apart(a, b *[32]int16) int {
	n := 0
	for i := range a {
		if d := int(a[i] - b[i]); d > 0 {
			n += d
		} else {
			n -= d
		}
	}
	return n / 2
}

// nearTwins are the messages that have a near one in their catalogue, by index, and
// the number of pairs.
func nearTwins(list []twin) (near map[int][]int, pairs int) {
	order := make([]int, len(list))
	counts := make([][32]int16, len(list))
	for i := range list {
		order[i] = i
		counts[i] = letters(list[i].text)
	}
	slices.SortFunc(order, func(i, j int) int { return len(list[i].text) - len(list[j].text) })
	near = map[int][]int{}
	var rows [2][]int
	for x, i := range order {
		for _, j := range order[x+1:] {
			if 10*(len(list[j].text)-len(list[i].text)) >= 3*len(list[j].text) {
				break
			}
			if 10*apart(&counts[i], &counts[j]) >= 3*len(list[j].text) || !list[i].near(&list[j], &rows) {
				continue
			}
			near[i], near[j] = append(near[i], j), append(near[j], i)
			pairs++
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
