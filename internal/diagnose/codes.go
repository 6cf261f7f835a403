package diagnose

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"errorkb/internal/pattern"
)

// codeTable finds records by the codes under which they appear. Numbers are
// codes only where the text says so ("ERROR 1698 (28000)").
type codeTable map[string][]int

// Limits of the search for codes in one text.
const (
	maxCodes   = 10_000 // mentions that are looked up
	maxMention = 50     // mentions of one code that are read
	nearby     = 200    // bytes before a message in which its class may stand
)

func newCodeTable(entries []entry) codeTable {
	t := codeTable{}
	for i := range entries {
		e := &entries[i]
		seen := map[string]bool{}
		for k, code := range append([]string{e.Code}, e.Aliases...) {
			keys := []string{code}
			if k == 0 && isNumber(code) {
				// A number is told apart by what it is a number of.
				repo := e.Ref.Repo[strings.LastIndexByte(e.Ref.Repo, '/')+1:]
				keys = append(keys, repo+"-"+code)
			}
			for _, key := range keys {
				if key != "" && !seen[key] && (isCode([]byte(key)) || isNumber(key) || isMinifiedKey(key)) {
					seen[key] = true
					t[key] = append(t[key], i)
				}
			}
		}
	}
	return t
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

func isNumber(s string) bool {
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
	if len(w.engine.codes) == 0 && len(w.hits) == 0 {
		return
	}
	var mentions []mention
	known := map[string]bool{}
	placed := map[int]int{} // mentions by their place in the input
	for _, r := range w.texts {
		if r.joined || w.late() {
			continue
		}
		r.eachCode(func(m mention) bool {
			if len(w.engine.codes[m.code]) == 0 {
				return true
			}
			known[m.code] = true
			from, _ := r.m.span(m.from, m.to)
			if k, ok := placed[from]; ok {
				if r.enclosed {
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
		h.class, h.otherClass = h.classBefore(e.Class)
	}
	w.addCodes(mentions)
}

// classBefore reports whether the class of a record stands in front of a hit,
// and whether another one does.
func (h *hit) classBefore(class string) (own, other bool) {
	r := h.reading
	start, _, _ := r.lineOf(h.start)
	before := r.m.text[max(start, h.start-nearby):max(start, h.start)]
	if class != "" {
		if k := bytes.LastIndex(before, []byte(class)); k >= 0 && len(before)-k <= len(class)+40 {
			end := k + len(class)
			if (k == 0 || !isWord(before[k-1])) && (end == len(before) || !isWord(before[end])) {
				return true, false
			}
		}
	}
	trimmed := bytes.TrimRight(before, " ")
	if !bytes.HasSuffix(trimmed, []byte(":")) {
		return false, false
	}
	trimmed = trimmed[:len(trimmed)-1]
	word := trimmed[bytes.LastIndexByte(trimmed, ' ')+1:]
	word = word[bytes.LastIndexByte(word, '.')+1:]
	return false, len(word) > 6 && isClass(word) && class != ""
}

// addCodes adds the records of codes whose message is not in the text. Where
// the line of the code holds the message of another record, the words decide.
func (w *work) addCodes(mentions []mention) {
	count := map[string]int{}
	byEntry := map[int]bool{}
	for i := range w.hits {
		byEntry[w.hits[i].entry] = true
	}
	for _, m := range mentions {
		entries := w.engine.codes[m.code]
		if len(entries) == 0 || !m.stands() || count[m.code] >= maxMention {
			continue
		}
		count[m.code]++
		found := false
		for _, i := range entries {
			found = found || byEntry[i]
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
func (w *work) addCode(m mention, entries []int) {
	l := m.reading.lineAt(m.from)
	text := m.reading.m.text[max(l.body, m.from-maxCutLine):min(l.end, m.to+maxCutLine)]
	best, rank := entries[0], -1.0
	if len(entries) > 1 {
		for _, i := range entries {
			if s := w.similarity(i, text, m.code); s > rank {
				best, rank = i, s
			}
		}
	}
	h := hit{
		owner: -1, entry: best, reading: m.reading, start: m.from, end: m.to,
		kind: KindCode, share: 1, code: true, line: l, mention: m.code,
	}
	h.several = len(entries) > 1 && rank <= 0.3
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
		return o.pattern.Names()
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
	for _, l := range o.pattern.Literals() {
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

// valuesOf reads the values of a message out of a line that holds only its code
// and words of another language or version: either the line ends with the
// values as the message ends, or it holds as many value-like words as the
// message has gaps.
func (w *work) valuesOf(entry int, m *mention, l *line) []pattern.Capture {
	o := w.ownerOf(entry)
	parts := o.segments()
	if parts == nil {
		return nil
	}
	end := min(l.end, m.to+maxCutLine)
	t := m.reading.m.text[:end]
	at := m.to
	if isNumber(m.code) {
		// "ERROR 1045 (28000): "
		if k := bytes.Index(t[at:min(end, at+12)], []byte("):")); k > 0 {
			at += k + 2
		}
	}
	for at < end && (t[at] == ' ' || t[at] == ':' || t[at] == ']') {
		at++
	}
	// The end of the message: gaps with nothing but punctuation between them.
	k := len(parts)
	gaps := 0
	for k > 0 && (parts[k-1].gap != "" || !hasLetter(parts[k-1].text)) {
		k--
		if parts[k].gap != "" {
			gaps++
		}
	}
	for k < len(parts) && parts[k].gap == "" {
		k++
	}
	if gaps > 1 && gaps == len(o.pattern.Names()) {
		if p, err := pattern.Compile(exprOfParts(parts[k:]), ""); err == nil {
			if found, ok := p.Match(t[at:]); ok && found.Start == 0 && bytes.IndexByte(t[at+found.Start:at+found.End], ' ') < 0 {
				for i := range found.Captures {
					found.Captures[i].Start += at
					found.Captures[i].End += at
				}
				return found.Captures
			}
		}
	}
	if captures := skeletonValues(parts, t, at); captures != nil {
		return captures
	}
	names := o.pattern.Names()
	values := valueWords(t, at, end, o.pattern.Literals())
	if len(values) != len(names) {
		return nil
	}
	out := make([]pattern.Capture, len(names))
	for i, v := range values {
		out[i] = pattern.Capture{Name: names[i], Start: v[0], End: v[1]}
	}
	return out
}

// skeletonValues reads values by the punctuation around them, which a
// translation keeps: "'…'@'…' (…: …)". Every gap has to have some on both sides.
func skeletonValues(parts []segment, t []byte, at int) []pattern.Capture {
	var b strings.Builder
	for i, p := range parts {
		if p.gap != "" {
			if i == 0 || i+1 == len(parts) || !isMark(parts[i-1].text, true) || !isMark(parts[i+1].text, false) {
				return nil
			}
			b.WriteString("(.*?)")
			continue
		}
		words := false
		for k := 0; k < len(p.text); k++ {
			switch c := p.text[k]; {
			case isWord(c) || c == ' ' || c == '-' || c == ',' || c == '.':
				words = words || isWord(c)
			default:
				if words {
					b.WriteString(".*?")
					words = false
				}
				b.WriteString(regexp.QuoteMeta(string(c)) + " ?")
			}
		}
		if words {
			b.WriteString(".*?")
		}
	}
	expr, err := regexp.Compile(b.String())
	if err != nil {
		return nil
	}
	m := expr.FindSubmatchIndex(t[at:])
	if m == nil {
		return nil
	}
	var out []pattern.Capture
	for _, p := range parts {
		if p.gap != "" {
			k := len(out) + 1
			out = append(out, pattern.Capture{Name: p.gap, Start: at + m[2*k], End: at + m[2*k+1]})
		}
	}
	return out
}

// isMark reports whether a literal has punctuation at its end or its start, a
// blank not counted.
func isMark(s string, atEnd bool) bool {
	s = strings.Trim(s, " ")
	if s == "" {
		return false
	}
	c := s[0]
	if atEnd {
		c = s[len(s)-1]
	}
	return !isWord(c) && c != ',' && c != '.' && c != '-'
}

func hasLetter(s string) bool {
	for i := 0; i < len(s); i++ {
		if isLetter(s[i]) {
			return true
		}
	}
	return false
}

// exprOfParts is the expression of segments, each gap holding no blank.
func exprOfParts(parts []segment) string {
	var b strings.Builder
	for _, p := range parts {
		if p.gap != "" {
			b.WriteString("(?P<" + p.gap + ">" + p.expr + ")")
			continue
		}
		for i := 0; i < len(p.text); i++ {
			if !isWord(p.text[i]) && p.text[i] != ' ' {
				b.WriteByte('\\')
			}
			b.WriteByte(p.text[i])
		}
	}
	return b.String()
}

// valueWords are the words of a line that look like values, not like language:
// names with a dot, a slash, a digit or an underscore in them, and what stands
// in quotes. What the message says itself is none.
func valueWords(t []byte, from, to int, literals []string) [][2]int {
	said := strings.Join(literals, "\x00")
	var out [][2]int
	for i := from; i < to; {
		if isQuote(t[i]) {
			if k := bytes.IndexByte(t[i+1:to], t[i]); k > 0 {
				if !strings.Contains(said, string(t[i+1:i+1+k])) {
					out = append(out, [2]int{i + 1, i + 1 + k})
				}
				i += k + 2
				continue
			}
		}
		if t[i] >= 0x80 || !isWord(t[i]) && t[i] != '/' && t[i] != '@' {
			i++
			continue
		}
		j := i
		odd := false
		for j < to && t[j] < 0x80 && (isWord(t[j]) || bytes.IndexByte([]byte("./-@:\\"), t[j]) >= 0) {
			odd = odd || t[j] == '.' || t[j] == '/' || t[j] == '_' || isDigit(t[j])
			j++
		}
		end := j
		for end > i && (t[end-1] == '.' || t[end-1] == ':') {
			end--
		}
		if odd && hasInner(t[i:end]) && !strings.Contains(said, string(t[i:end])) {
			out = append(out, [2]int{i, end})
		}
		i = max(j, i+1)
	}
	return out
}

// hasInner reports whether a word still has what makes it a value.
func hasInner(t []byte) bool {
	for _, c := range t {
		if c == '.' || c == '/' || c == '_' || isDigit(c) {
			return true
		}
	}
	return false
}

// eachCode calls f for every word of a reading that has the shape of a code.
func (r *reading) eachCode(f func(mention) bool) {
	t := r.m.text
	for i := 0; i < len(t); {
		c := t[i]
		if !(c >= 'A' && c <= 'Z') && !isDigit(c) {
			if !isWord(c) {
				i++
				continue
			}
			from := i
			for i < len(t) && isWord(t[i]) {
				i++
			}
			m, ok := mention{}, false
			switch string(t[from:i]) {
			case "https":
				m, ok = r.minifiedLink(from)
			case "ts":
				m, ok = r.editorCode(from, i)
			}
			if ok && !f(m) {
				return
			}
			continue
		}
		j := i
		for j < len(t) && isWord(t[j]) {
			j++
		}
		if i > 0 && (t[i-1] == '-' || t[i-1] == '/') {
			i = j
			continue
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
			if m, ok := r.minified(i, j); ok && !f(m) {
				return
			}
		case isDigit(c) && j-i <= 6 && digits(t, i) == j:
			if r.isNumberedError(i, j) && !f(mention{reading: r, from: i, to: j, code: string(word)}) {
				return
			}
		case isCode(word):
			if !f(mention{reading: r, from: i, to: j, code: string(word)}) {
				return
			}
		}
		i = j
	}
}

// isNumberedError reports whether the number at text[i:j] is called the number
// of an error: "ERROR 1698 (28000)", "SQLSTATE[HY000] [1045]", "code: 23505".
func (r *reading) isNumberedError(i, j int) bool {
	t := r.m.text
	l := r.lineAt(i)
	before := bytes.TrimRight(t[max(l.start, i-nearby):i], " :=#[('\"")
	k := len(before)
	for k > 0 && isLetter(before[k-1]) {
		k--
	}
	switch lower(before[k:]) {
	case "error", "errno", "code", "sqlstate", "err":
		return true
	}
	return bytes.Contains(before, []byte("SQLSTATE")) && j-i >= 4
}

// minified reads "Minified React error #418; visit https://…?args[]=HTML" from
// its first word on.
func (r *reading) minified(from, to int) (mention, bool) {
	t := r.m.text
	end := r.lineAt(from).end
	rest := t[to:end]
	hash := bytes.IndexByte(rest[:min(len(rest), 60)], '#')
	if hash < 0 {
		return mention{}, false
	}
	n := digits(rest, hash+1)
	name := bytes.TrimSpace(rest[:hash])
	if k := bytes.IndexByte(name, ' '); k > 0 {
		name = name[:k]
	}
	if n == hash+1 || len(name) == 0 {
		return mention{}, false
	}
	m := mention{reading: r, from: from, to: to + n, code: lower(name) + "-" + string(rest[hash+1:n])}
	link := bytes.Index(rest, []byte("http"))
	if link < 0 {
		return m, true
	}
	stop := link
	for stop < len(rest) && rest[stop] != ' ' && rest[stop] != '"' && rest[stop] != '>' {
		stop++
	}
	m.args = linkArgs(string(rest[link:stop]))
	m.hasArgs = true
	m.to = to + stop
	return m, true
}

// minifiedLink reads a link to React's decoder that stands without the sentence
// around it.
func (r *reading) minifiedLink(from int) (mention, bool) {
	t := r.m.text
	stop := from
	for stop < len(t) && t[stop] > ' ' && bytes.IndexByte([]byte("\"'<>)"), t[stop]) < 0 {
		stop++
	}
	link := string(t[from:stop])
	number := ""
	switch {
	case strings.HasPrefix(link, "https://react.dev/errors/"):
		number = link[len("https://react.dev/errors/"):]
	case strings.Contains(link, "reactjs.org/docs/error-decoder.html"):
		_, number, _ = strings.Cut(link, "invariant=")
	}
	n := digits([]byte(number), 0)
	if n == 0 || bytes.HasSuffix(bytes.TrimRight(t[r.lineAt(from).start:from], " "), []byte("visit")) {
		return mention{}, false
	}
	return mention{reading: r, from: from, to: stop, code: "react-" + number[:n], args: linkArgs(link), hasArgs: true}, true
}

// editorCode reads the form in which an editor shows a code of TypeScript:
// "ts(2532)".
func (r *reading) editorCode(from, to int) (mention, bool) {
	t := r.m.text
	if to >= len(t) || t[to] != '(' {
		return mention{}, false
	}
	n := digits(t, to+1)
	if n == to+1 || n >= len(t) || t[n] != ')' || n-to > 6 {
		return mention{}, false
	}
	return mention{reading: r, from: from, to: n + 1, code: "TS" + string(t[to+1:n])}, true
}

// linkArgs are the values of the args[] parameters of a link.
func linkArgs(link string) []string {
	q := strings.IndexByte(link, '?')
	if q < 0 {
		return nil
	}
	var args []string
	for _, part := range strings.Split(link[q+1:], "&") {
		key, value, ok := strings.Cut(part, "=")
		if ok && (key == "args[]" || strings.EqualFold(key, "args%5B%5D")) {
			args = append(args, percentDecode(value))
		}
	}
	return args
}

func percentDecode(s string) string {
	if !strings.ContainsAny(s, "%+") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '+':
			out = append(out, ' ')
		case s[i] == '%' && i+2 < len(s):
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				out = append(out, byte(v))
				i += 2
				continue
			}
			out = append(out, s[i])
		default:
			out = append(out, s[i])
		}
	}
	return string(out)
}
