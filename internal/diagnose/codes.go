package diagnose

import (
	"bytes"
	"math/bits"
	"strings"
)

// codeTable finds records by the codes under which they appear. Numbers are
// codes only where the text says so ("ERROR 1698 (28000)").
type codeTable struct{ table }

// Limits of the search for codes in one text.
const (
	maxCodes   = 10_000 // mentions that are looked up
	maxMention = 50     // mentions of one code that are read
	nearby     = 200    // bytes before a message in which its class may stand
)

func newCodeTable(entries []Entry) codeTable {
	var d tableDraft
	for i := range entries {
		e := &entries[i]
		for k, code := range append([]string{e.Code}, e.Aliases...) {
			keys := []string{code}
			if k == 0 && isNumber(code) {
				// A number is told apart by what it is a number of.
				repo := e.Ref.Repo[strings.LastIndexByte(e.Ref.Repo, '/')+1:]
				keys = append(keys, repo+"-"+code)
			}
			for _, key := range keys {
				if key != "" && (isCode([]byte(key)) || isNumber(key) || isMinifiedKey(key)) {
					d.add([]byte(key), int32(i))
				}
			}
		}
	}
	return codeTable{newTable([]*tableDraft{&d}, []int32{0})}
}

// isCode reports whether a word has the shape of an error code: capitals with
// digits or underscores ("TS2307", "ERR_MODULE_NOT_FOUND", "E0382", "42P01").
func isCode(t []byte) bool {
	if len(t) < 4 || len(t) > 80 {
		return false
	}
	capitals, others := 0, 0
	for _, c := range t {
		switch {
		case c >= 'A' && c <= 'Z':
			capitals++
		case isDigit(c) || c == '_' || c == '-':
			others++
		default:
			return false
		}
	}
	return capitals > 0 && (others > 0 || len(t) >= 5)
}

// isNumber reports whether a code is a number: "1045", "-32601".
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return len(s) >= 2 && len(s) <= 6 && digits([]byte(s), 0) == len(s)
}

// isMinifiedKey reports whether a key names a numbered message of a library
// whose production build leaves the text out: "react-418".
func isMinifiedKey(s string) bool {
	i := strings.LastIndexByte(s, '-')
	return i > 0 && i+1 < len(s) && digits([]byte(s), i+1) == len(s) && s[0] >= 'a' && s[0] <= 'z'
}

// isErrno reports whether a code names an error of the operating system.
func isErrno(s string) bool {
	if len(s) < 4 || s[0] != 'E' {
		return false
	}
	for i := 0; i < len(s); i++ {
		if (s[i] < 'A' || s[i] > 'Z') && !isDigit(s[i]) {
			return false
		}
	}
	return !isDigit(s[1])
}

// mention is a code that stands in a text.
type mention struct {
	reading  *reading
	from, to int // in the text of the reading
	code     string
	args     []string // values that came with it
	hasArgs  bool
}

// findCodes notes which hits have their code or class beside them, and adds the
// records of codes that stand alone.
func (w *work) findCodes() {
	if w.engine.codes.len() == 0 && len(w.hits) == 0 {
		return
	}
	var mentions []mention
	known := map[string]bool{}
	placed := map[int]int{} // mentions by their place in the input
	for _, r := range w.texts {
		if w.engine.codes.len() == 0 || r.joined || w.late() {
			continue
		}
		w.engine.eachCode(r.m.text, func(m mention) bool {
			m.reading = r
			known[m.code] = true
			from, _ := r.m.span(m.from, m.to)
			if k, ok := placed[from]; ok {
				if r.enclosed || r.unwrapped {
					mentions[k] = m // the innermost string has its own end
				}
				return true
			}
			placed[from] = len(mentions)
			mentions = append(mentions, m)
			return len(mentions) < maxCodes
		})
	}
	for i := range w.hits {
		h := &w.hits[i]
		e := &w.engine.entries[h.entry]
		for k, code := range append([]string{e.Code}, e.Aliases...) {
			if code == "" || !known[code] || k == 0 && isNumber(code) {
				continue
			}
			// A code that is part of the message is no second witness.
			h.code = h.code || !bytes.Contains(h.reading.m.text[h.start:h.end], []byte(code))
		}
		h.beside = w.lookBeside(h)
	}
	w.codeShort(known)
	w.addCodes(mentions)
}

// addCodes adds the records of codes whose message is not in the text. Where
// the line of the code holds the message of another record, the words decide.
func (w *work) addCodes(mentions []mention) {
	count := map[string]int{}
	byEntry := map[int]bool{}
	for i := range w.hits {
		byEntry[w.hits[i].entry] = true
	}
	for i := range w.short {
		byEntry[w.short[i].entry] = true
	}
	for _, m := range mentions {
		entries := w.engine.codes.of(m.code)
		if len(entries) == 0 || !m.stands() || count[m.code] >= maxMention {
			continue
		}
		count[m.code]++
		found := false
		for _, i := range entries {
			found = found || byEntry[int(i)]
		}
		if found {
			continue
		}
		w.addCode(m, entries)
	}
}

// stands reports whether a code is used as one, not as a name in source code.
func (m *mention) stands() bool {
	t := m.reading.m.text
	l := m.reading.lineAt(m.from)
	if l.frame {
		return false
	}
	return m.to >= len(t) || t[m.to] != '(' && t[m.to] != '.' || m.to+1 < len(t) && t[m.to] == '.' && !isWord(t[m.to+1])
}

// addCode adds a hit for a code that stands alone.
func (w *work) addCode(m mention, entries []int32) {
	l := m.reading.lineAt(m.from)
	text := m.reading.m.text[max(l.body, m.from-maxCutLine):min(l.end, m.to+maxCutLine)]
	best, rank := int(entries[0]), -1.0
	if len(entries) > 1 {
		for _, i := range entries {
			if s := w.similarity(int(i), text, m.code); s > rank {
				best, rank = int(i), s
			}
		}
	}
	h := hit{
		owner: -1, entry: best, reading: m.reading, start: m.from, end: m.to,
		kind: KindCode, share: 1, code: true, line: l, mention: m.code,
	}
	h.several = len(entries) > 1 && rank <= 0.3 && !w.sayTheSame(entries)
	if names := w.namesOf(best); len(names) > 0 {
		if m.hasArgs {
			h.given = zip(names, m.args)
		} else {
			h.captures = w.valuesOf(best, &m, l)
			for _, c := range h.captures {
				h.start, h.end = min(h.start, c.Start), max(h.end, c.End)
			}
		}
	}
	w.add(h, false)
}

// sayTheSame reports whether all of some messages have the same words, whatever
// their gaps are.
func (w *work) sayTheSame(entries []int32) bool {
	first := w.ownerOf(int(entries[0]))
	if first == nil {
		return false
	}
	text := []byte(strings.Join(w.engine.patternOf(first).Literals(), " "))
	for _, i := range entries[1:] {
		o := w.ownerOf(int(i))
		if o == nil || w.similarity(int(i), text, "") < 0.99 || o.words != first.words {
			return false
		}
	}
	return true
}

func zip(names, values []string) []CaptureSpan {
	var out []CaptureSpan
	for i, v := range values {
		if i < len(names) {
			out = append(out, CaptureSpan{Name: names[i], Value: v})
		}
	}
	return out
}

// ownerOf is the owner of today's wording of an entry, nil if it has none.
func (w *work) ownerOf(entry int) *owner {
	if k := w.engine.first[entry]; k >= 0 {
		return &w.engine.owners[k]
	}
	return nil
}

func (w *work) namesOf(entry int) []string {
	if o := w.ownerOf(entry); o != nil {
		return w.engine.patternOf(o).Names()
	}
	return nil
}

// similarity is the share of the words of a message, but for one, that a text
// holds.
func (w *work) similarity(entry int, text []byte, but string) float64 {
	o := w.ownerOf(entry)
	if o == nil {
		return 0
	}
	have := map[string]bool{}
	eachWord(text, func(from, to int) { have[lower(text[from:to])] = true })
	shared, all := 0.0, 0.0
	for _, l := range w.engine.patternOf(o).Literals() {
		eachWord(l, func(from, to int) {
			if l[from:to] == but {
				return
			}
			weight := worthOfWord(l[from:to])
			all += weight
			if have[lower([]byte(l[from:to]))] {
				shared += weight
			}
		})
	}
	if all == 0 {
		return 0
	}
	return shared / all
}

// eachCode calls f for every code of a record that stands in a text, until it returns
// false. It looks at few words.
func (e *Engine) eachCode(t []byte, f func(mention) bool) {
	const window = 2 << 10
	var words, first [window / 64]uint64
	heads, next, carry := e.heads(), 0, uint64(0)
	for from := 0; from < len(t); from += window {
		part := t[from:min(from+window, len(t))]
		classes(part, wordClass, words[:])
		classes(part, codeClass, first[:])
		for k := range windowsOf(len(part)) {
			starts := first[k] &^ (words[k]<<1 | carry)
			carry = words[k] >> 63
			for ; starts != 0; starts &= starts - 1 {
				i := from + 64*k + bits.TrailingZeros64(starts)
				if i < next || !heads.may(t, i) {
					continue
				}
				var m mention
				var ok bool
				if m, ok, next = codeAt(t, i); ok && len(e.codes.of(m.code)) > 0 && !f(m) {
					return
				}
			}
		}
	}
}

// codeHeads are the first three bytes of the words that codes of records begin with.
type codeHeads [1 << 10]uint64

func headSlot(a, b, c byte) uint64 {
	return (uint64(a) | uint64(b)<<8 | uint64(c)<<16) * mixer >> 48
}

func (h *codeHeads) add(a, b, c byte) { k := headSlot(a, b, c); h[k>>6] |= 1 << (k & 63) }

// may reports whether a code of a record may stand at i.
func (h *codeHeads) may(t []byte, i int) bool {
	var head [3]byte
	if i+3 <= len(t) {
		head = [3]byte(t[i:])
	} else {
		copy(head[:], t[i:])
	}
	k := headSlot(head[0], head[1], head[2])
	return h[k>>6]>>(k&63)&1 != 0
}

// heads are made when the first text comes.
func (e *Engine) heads() *codeHeads {
	if h := e.codeHeads.Load(); h != nil {
		return h
	}
	h := &codeHeads{}
	for _, other := range []string{"Minified", "https", "ts("} {
		h.add(other[0], other[1], other[2]) // see codeAt
	}
	for i := range e.codes.len() {
		key := e.codes.word(i)
		if len(key) > 1 && key[0] == '-' {
			key = key[1:]
		}
		switch {
		case len(key) > 2:
			h.add(key[0], key[1], key[2])
		case len(key) == 2:
			for c := range 256 {
				h.add(key[0], key[1], byte(c))
			}
		}
	}
	e.codeHeads.Store(h)
	return h
}

// codeAt reads the word at i, which begins there, as a code. The next word begins at
// next or later.
func codeAt(t []byte, i int) (m mention, ok bool, next int) {
	c := t[i]
	j := i
	for j < len(t) && isWord(t[j]) {
		j++
	}
	if !(c >= 'A' && c <= 'Z') && !isDigit(c) {
		switch string(t[i:j]) {
		case "https":
			m, ok = minifiedLink(t, i)
		case "ts":
			m, ok = editorCode(t, i, j)
		}
		return m, ok, j
	}
	minus := i > 0 && t[i-1] == '-' && isDigit(c) && (i == 1 || !isWord(t[i-2]))
	if i > 0 && (t[i-1] == '-' || t[i-1] == '/') && !minus {
		return m, false, j
	}
	if j+1 < len(t) && t[j] == '-' && isDigit(t[j+1]) && isLetter(c) {
		// "ORA-00942"
		if k := digits(t, j+1); k == len(t) || !isWord(t[k]) {
			j = k
		}
	}
	word := t[i:j]
	switch {
	case string(word) == "Minified":
		m, ok = minified(t, i, j)
	case isDigit(c) && j-i <= 6 && digits(t, i) == j:
		if minus {
			i--
		}
		if isNumberedError(t, i, j) {
			m, ok = mention{from: i, to: j, code: string(t[i:j])}, true
		}
	case isCode(word):
		// "E0704 09:12:01.1" is the level and the day of a log line.
		if !isLogDay(t, i, j) {
			m, ok = mention{from: i, to: j, code: string(word)}, true
		}
	}
	return m, ok, j
}

// isLogDay reports whether a word is what a line of klog or glog begins with: the
// letter of its level and the day, before the time.
func isLogDay(t []byte, i, j int) bool {
	return j-i == 5 && (i == 0 || t[i-1] != '[') && digits(t, i+1) == j && j < len(t) && t[j] == ' ' && clockLen(t[j+1:]) > 0
}

// isNumberedError reports whether the number at text[i:j] is called the number
// of an error: "ERROR 1698 (28000)", "SQLSTATE[HY000] [1045]", "code: 23505".
func isNumberedError(t []byte, i, j int) bool {
	if j+1 < len(t) && (t[j] == ':' || t[j] == '.' || t[j] == '-' || t[j] == '/') && isWord(t[j+1]) {
		return false // of an address, a time, a version
	}
	before := t[lineStartOf(t, i, nearby):i]
	for len(before) > 0 && bytes.IndexByte([]byte(" :=#[('\""), before[len(before)-1]) >= 0 {
		before = before[:len(before)-1]
	}
	k := len(before)
	for k > 0 && isLetter(before[k-1]) {
		k--
	}
	switch lower(before[k:]) {
	case "error", "errno", "code", "sqlstate", "err":
		return true
	}
	return j-i >= 4 && bytes.Contains(before, []byte("SQLSTATE"))
}
