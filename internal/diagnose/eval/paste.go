package eval

import (
	"math/rand/v2"
	"regexp"
	"strings"
)

// Paste is a text of our own making, and what is in it.
type Paste struct {
	Class    string // how it came to be pasted
	Text     string
	Planted  []Planted // the messages in it, the first one first; none in a negative
	Negative bool
}

// Planted is a message in a paste.
type Planted struct {
	ID string // as EntryOf makes it
	Filled
	Values bool // its values are as they were filled in
}

// Pool makes pastes of the messages of catalogues. It makes the same ones on every
// run.
type Pool struct {
	messages []poolMessage
	byWorld  map[string][]int
	keys     map[string]string         // by id
	exprs    map[string]string         // by id
	words    map[string]int            // by id: words of literal text
	same     map[string][]string       // by key: ids
	compiled map[string]*regexp.Regexp // by expression, made when needed
}

type poolMessage struct {
	planted
	pattern string
}

// NewPool is the pool of all messages of the catalogues.
func NewPool(catalogues map[string][]Message) *Pool {
	p := &Pool{
		byWorld: map[string][]int{}, keys: map[string]string{}, exprs: map[string]string{}, words: map[string]int{},
		same: map[string][]string{}, compiled: map[string]*regexp.Regexp{},
	}
	for _, name := range names(catalogues) {
		for _, m := range catalogues[name] {
			e := EntryOf(name, m)
			id := e.Ref.ID
			f := Fill(m.Pattern, rand.New(rand.NewPCG(0, 0)), func(string) string { return "" })
			p.keys[id], p.exprs[id] = f.Key, m.Pattern
			p.same[f.Key] = append(p.same[f.Key], id)
			words, letters := 0, 0
			for _, w := range strings.FieldsFunc(f.Key, func(c rune) bool { return !(c >= 'a' && c <= 'z') }) {
				words++
				letters += len(w)
			}
			p.words[id] = words
			if words < 3 || letters < 16 || len(m.Pattern) > 600 {
				continue // too little to be told from ordinary text, or a page
			}
			p.byWorld[name] = append(p.byWorld[name], len(p.messages))
			p.messages = append(p.messages, poolMessage{planted{name, id, e.Code, e.Class}, m.Pattern})
		}
	}
	return p
}

// choose is one of the messages met at a place, every catalogue as often as another.
func (p *Pool) choose(r filler, worlds []string) poolMessage {
	if worlds == nil {
		worlds = sortedKeys(p.byWorld)
	}
	var some []string
	for _, w := range worlds {
		if len(p.byWorld[w]) > 0 {
			some = append(some, w)
		}
	}
	if len(some) == 0 {
		return p.messages[r.IntN(len(p.messages))]
	}
	list := p.byWorld[r.pick(some)]
	return p.messages[list[r.IntN(len(list))]]
}

func (p *Pool) plant(r filler, m poolMessage) Planted {
	return Planted{ID: m.id, Filled: Fill(m.pattern, r.Rand, r.value), Values: true}
}

// Pastes makes n pastes for each place that holds a message, and as many for each
// that holds none.
func (p *Pool) Pastes(n int, seed uint64) []Paste {
	var out []Paste
	for k, a := range arounds {
		r := filler{rand.New(rand.NewPCG(seed, uint64(k)))}
		for range n {
			m := p.choose(r, a.only)
			planted := p.plant(r, m)
			out = append(out, Paste{Class: a.class, Text: a.wrap(r, planted.Text, m.planted), Planted: []Planted{planted}})
		}
	}
	for k, s := range special {
		r := filler{rand.New(rand.NewPCG(seed, uint64(1000+k)))}
		for range n {
			paste := s.make(p, r)
			paste.Class = s.class
			out = append(out, paste)
		}
	}
	for k, s := range strangers {
		r := filler{rand.New(rand.NewPCG(seed, uint64(2000+k)))}
		for i := range n * s.times {
			a := &arounds[i%len(arounds)]
			m := p.choose(r, a.only)
			text, ok := s.make(p, r, m)
			if !ok {
				continue
			}
			m.code, m.class = "", "" // a code or a class would be in the text by right
			out = append(out, Paste{Class: s.class, Text: a.wrap(r, text, planted{catalogue: m.catalogue}), Negative: true})
		}
	}
	return out
}

// special are pastes that are more than one message in a place.
var special = []struct {
	class string
	make  func(p *Pool, r filler) Paste
}{
	{"two errors", func(p *Pool, r filler) Paste {
		m := p.choose(r, nil)
		a := p.plant(r, m)
		b := a
		for b.Key == a.Key {
			b = p.plant(r, p.choose(r, []string{m.catalogue}))
		}
		text := r.write(quietLog+"{{iso}} ERROR ") + a.Text + r.write("\n"+quietLog+"{{iso}} ERROR ") + b.Text + r.write("\n{{iso}} ERROR giving up after {{d}} tries\n")
		return Paste{Text: text, Planted: []Planted{a, b}}
	}},
	{"error and cascade", func(p *Pool, r filler) Paste {
		a := p.plant(r, p.choose(r, nil))
		text := r.write("> {{name}}@{{ver}} build\n> {{verb}} --all\n\n") + a.Text + r.write("\nnpm ERR! code ELIFECYCLE\nnpm ERR! errno 2\nnpm ERR! {{name}}@{{ver}} build: `{{verb}} --all`\nnpm ERR! Exit status 2\nmake: *** [Makefile:{{n}}: build] Error 1\n##[error]Process completed with exit code 2.\n")
		return Paste{Text: text, Planted: []Planted{a}}
	}},
	{"message in a message", func(p *Pool, r filler) Paste {
		inner := p.plant(r, p.choose(r, nil))
		for range 200 {
			m := p.choose(r, nil)
			if !strings.HasSuffix(m.pattern, ": (?P<"+lastGap(m.pattern)+">.+?)") {
				continue
			}
			first := true
			outer := Planted{ID: m.id, Values: true, Filled: Fill(m.pattern, r.Rand, func(literal string) string {
				if first && strings.Count(m.pattern, "(?P<") > 1 {
					first = false
					return r.pick(pasteNames)
				}
				return inner.Text
			})}
			return Paste{Text: r.write("{{iso}} ERROR ") + outer.Text + "\n", Planted: []Planted{outer, inner}}
		}
		return Paste{Text: inner.Text, Planted: []Planted{inner}}
	}},
	{"cut with dots", func(p *Pool, r filler) Paste {
		a, text := p.cut(r)
		return Paste{Text: text + r.pick([]string{"...", "\u2026", " ..."}), Planted: []Planted{a}}
	}},
	{"cut title", func(p *Pool, r filler) Paste {
		a, text := p.cut(r)
		return Paste{Text: text, Planted: []Planted{a}}
	}},
	{"head lost", func(p *Pool, r filler) Paste {
		a := p.plant(r, p.choose(r, nil))
		for len(strings.Fields(a.Text)) < 8 {
			a = p.plant(r, p.choose(r, nil))
		}
		a.Values = false
		words := strings.Fields(a.Text)
		return Paste{Text: strings.Join(words[len(words)/5:], " "), Planted: []Planted{a}}
	}},
	{"value of several lines", func(p *Pool, r filler) Paste {
		m := p.choose(r, nil)
		for range 200 {
			if g := lastGap(m.pattern); g != "" && strings.HasSuffix(m.pattern, "(?P<"+g+">.+?)") {
				break
			}
			m = p.choose(r, nil)
		}
		a := p.plant(r, m)
		a.Values = false
		return Paste{Text: r.write("{{iso}} ERROR ") + a.Text + r.write("\n  {{thing}} {{n}}\n  {{thing}} {{n}}\n"), Planted: []Planted{a}}
	}},
}

// lastGap is the name of the last gap of an expression, "" when it has none.
func lastGap(expr string) string {
	k := strings.LastIndex(expr, "(?P<")
	if k < 0 {
		return ""
	}
	name, _, _ := strings.Cut(expr[k+4:], ">")
	return name
}

// cut is a message that is longer than a title may be, and what is left of it: at
// least half.
func (p *Pool) cut(r filler) (Planted, string) {
	width := 60 + 10*r.IntN(5)
	for {
		a := p.plant(r, p.choose(r, nil))
		a.Values = false
		if text := []rune(a.Text); len(text) > width+4 && len(text) <= 2*width {
			return a, string(text[:width])
		}
	}
}

// strangers are texts that no catalogue knows, to be put where messages are met.
var strangers = []struct {
	class string
	times int
	make  func(p *Pool, r filler, m poolMessage) (string, bool)
}{
	{"stranger: own words", 20, func(p *Pool, r filler, _ poolMessage) (string, bool) {
		return r.write(r.pick(ownErrors)), true
	}},
	{"stranger: one word changed", 20, func(p *Pool, r filler, m poolMessage) (string, bool) {
		return p.nearMiss(r, m, 1)
	}},
	{"stranger: two words changed", 10, func(p *Pool, r filler, m poolMessage) (string, bool) {
		return p.nearMiss(r, m, 2)
	}},
	{"stranger: negated", 5, func(p *Pool, r filler, m poolMessage) (string, bool) {
		text := p.plant(r, m).Text
		for _, pair := range [][2]string{{" is not ", " is "}, {" is ", " is not "}, {"cannot ", "can "}, {" must not ", " must "}, {" must ", " need not "}, {" does not ", " does "}} {
			if strings.Contains(text, pair[0]) {
				return strings.Replace(text, pair[0], pair[1], 1), true
			}
		}
		return "", false
	}},
	{"stranger: shuffled", 5, func(p *Pool, r filler, m poolMessage) (string, bool) {
		words := strings.Fields(p.plant(r, m).Text)
		if len(words) < 5 || m.code != "" && strings.Contains(strings.Join(words, " "), m.code) {
			return "", false
		}
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		return strings.Join(words, " "), true
	}},
}

// nearMiss fills a message and puts other words in the place of some of its own.
// The words it changes are those that carry meaning.
func (p *Pool) nearMiss(r filler, m poolMessage, n int) (string, bool) {
	f := p.plant(r, m)
	type place struct{ part, from, to int }
	var places []place
	for i, part := range f.parts {
		if part.gap != "" {
			continue
		}
		for from := 0; from < len(part.text); {
			if c := part.text[from] | 0x20; c < 'a' || c > 'z' {
				from++
				continue
			}
			to := from
			for to < len(part.text) && part.text[to]|0x20 >= 'a' && part.text[to]|0x20 <= 'z' {
				to++
			}
			if to-from >= 4 {
				places = append(places, place{i, from, to})
			}
			from = to
		}
	}
	if len(places) < n+1 || p.words[m.id] < 4 || m.code != "" && strings.Contains(f.Text, m.code) {
		return "", false
	}
	r.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	change := map[int][]place{}
	for _, at := range places[:n] {
		change[at.part] = append(change[at.part], at)
	}
	var b strings.Builder
	for i, part := range f.parts {
		text := part.text
		list := change[i]
		if len(list) == 2 && list[0].from < list[1].from {
			list[0], list[1] = list[1], list[0]
		}
		for _, at := range list {
			text = text[:at.from] + r.pick(otherPasteWords) + text[at.to:]
		}
		b.WriteString(text)
	}
	return b.String(), true
}

// otherPasteWords take the place of a word of a message.
var otherPasteWords = strings.Fields("shipment roster duplicated archived harvest quorum wanted coloured brittle printed voucher overdue sealed ripe unlocked mirrored")

// ownErrors are errors of programs that nobody knows.
var ownErrors = []string{
	"{{thing}} {{n}} has no owner in {{name}}, ask {{person}} to claim it",
	"the courier gave up on shipment {{n}} near {{path}}",
	"cannot print the {{thing}} label: paper tray {{d}} is jammed",
	"failed to water the plants in greenhouse {{d}}: pump {{name}} reports {{frac}} bar",
	"unable to seat {{n}} guests at table {{d}}",
	"{{Thing}}Mismatch: wanted {{n}} crates, counted {{n}}",
	"brewing aborted, kettle '{{name}}' is dry",
	"no bicycle left at dock {{n}} ({{url}})",
	"the gate \"{{name}}\" refused badge {{hex}} of {{person}}",
	"signal lamp {{d}} blinks although the track is empty",
	"tide table for harbour {{name}} ends on {{date}}",
	"could not weigh the {{thing}}: scale answered {{frac}} instead of a weight",
	"song {{n}} skipped, needle lifted at {{clock}}",
	"museum ticket {{uuid}} was torn before entry",
	"{{name}}: oven door open while baking {{thing}}",
	"Zutat {{thing}} fehlt im Rezept {{n}}",
	"invalid loyalty card {{hex}}: wrong hologram",
	"elevator {{d}} stuck between floors {{d}} and {{d}}",
	"bad weather at {{name}}, drone {{n}} stays grounded",
	"lost contact with buoy {{n}} after {{frac}} hours",
	"wrong key for piano room {{n}}",
	"unexpected passenger on flight {{name}} {{n}}",
	"error: choir rehearsal {{n}} has no conductor",
	"timeout while waiting for the {{thing}} to cool down to {{n}} degrees",
	"permission to land denied by tower {{name}}",
}

// Same are the ids of the messages that have the very words of one.
func (p *Pool) Same(id string) []string { return p.same[p.keys[id]] }

// Holds reports whether the expression of a message, which has a few words at
// least, fits a stretch of a text: it is there by right, though nobody put it there.
func (p *Pool) Holds(id, text string) bool {
	if p.words[id] < 3 {
		return false
	}
	expr := strings.TrimSuffix(strings.ReplaceAll(p.exprs[id], ".+?", ".*?"), `\.`)
	re := p.compiled[expr]
	if re == nil {
		re = regexp.MustCompile(expr)
		p.compiled[expr] = re
	}
	return re.MatchString(text)
}
