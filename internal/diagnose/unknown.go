package diagnose

import (
	"bytes"
	"math"
	"sort"
)

// Limits of what is said about an unknown text.
const (
	maxNear       = 3
	minSimilarity = 0.25
	maxWords      = 8         // of a list of differing words
	maxTemplate   = 400       // bytes
	MaxTelling    = 200 << 10 // lines that are weighed
	maxMistyped   = 8         // words that are looked for among those of the messages
)

// unknown says what can be said about a text that holds no known error.
func (w *work) unknown() *Unknown { return w.unknownLine(w.tellingLine()) }

// unknownLine says what can be said about its telling line.
func (w *work) unknownLine(t telling) *Unknown {
	u := &Unknown{Near: []NearRecord{}}
	r, best := t.in, t.line
	if best == nil {
		return u
	}
	from, to := r.m.span(best.body, best.end)
	line, _ := w.place(from)
	text := r.m.text[best.body:best.end]
	u.Line = &TellingLine{Start: from, End: to, Line: line, Text: string(clip(text, 1000)), Why: t.why}
	message := r.m.text[min(best.message, best.end):best.end]
	if len(message) == 0 {
		message = text
	}
	u.Template = templateOf(clip(message, maxTemplate))
	u.Near = w.near(clip(message, maxCutLine))
	return u
}

// clip is the first n bytes of t, not cut inside a character.
func clip(t []byte, n int) []byte {
	if len(t) <= n {
		return t
	}
	for n > 0 && t[n]&0xc0 == 0x80 {
		n--
	}
	return t[:n]
}

// troubles are words by which a person finds the line that matters.
var troubles = setOf(`abort aborted cannot can't couldn corrupt crash crashed denied died error exception expired fail
	failed failure fatal forbidden illegal invalid killed lost missing not panic refused rejected segfault timeout
	unable undefined unexpected unhandled unknown unreachable unresolved violation wrong`)

// mayTrouble knows the first two letters of troubles, in either case.
var mayTrouble = func() (may [32][32]bool) {
	for w := range troubles {
		may[w[0]&31][w[1]&31] = true
	}
	return may
}()

// What a line counts with a word of trouble, and what the name of an exception adds.
const (
	troubled = 4
	classed  = 3
)

// weighLine says how much a line looks like the one that matters. Below least it
// may stop weighing.
func weighLine(t []byte, l *line, least int) (int, string) {
	if l.frame {
		return 0, "it is a stack frame"
	}
	score, why := 1, "it is the first line with text"
	said, sayWhy := 0, ""
	switch l.level {
	case levelFatal:
		said, sayWhy = 6, "it is the first line that says it is fatal"
	case levelError:
		said, sayWhy = 4, "it is the first line that says it is an error"
	case levelWarning:
		said, sayWhy = 1, "it is the first line that says it is a warning"
	}
	most := troubled + said
	if l.message > l.body {
		most += classed
	}
	if most < least {
		return most, ""
	}
	text := t[l.body:l.end]
	trouble := ""
	words := 0
	eachWord(text, func(from, to int) {
		words++
		if trouble == "" && to-from > 2 && mayTrouble[text[from]&31][text[from+1]&31] {
			if w := lower(text[from:to]); troubles[w] {
				trouble = w
			}
		}
	})
	if trouble != "" {
		score, why = troubled, "it is the first line with the word “"+trouble+"”"
	}
	if said > 0 {
		score, why = score+said, sayWhy
	}
	if class := classIn(t[l.body:l.message]); class != "" {
		score, why = score+classed, "it names the exception "+class
	}
	if words < 2 {
		score -= 3
	}
	if score >= least && isConsequence(text) {
		score -= 4
	}
	return score, why
}

// classIn is the exception class among the labels of a line.
func classIn(labels []byte) string {
	for _, word := range bytes.Fields(labels) {
		word = bytes.TrimRight(word, ":")
		if len(word) > 5 && isClass(word) {
			return string(word)
		}
	}
	return ""
}

// consequences are phrases of lines that only report that something before them
// failed.
var consequences = [][]byte{
	[]byte("exit status"), []byte("exit code"), []byte("exited with code"), []byte("exited with exit"),
	[]byte("elifecycle"), []byte("command failed"), []byte("lifecycle script"), []byte("a complete log of this run"),
	[]byte("process completed with"), []byte("errored while running script"), []byte("failed at the "),
	[]byte("returned a non-zero code"), []byte("did not complete successfully"),
}

// mayConsequence knows pairs of letters, in either case, of which every one of the
// consequences holds one and most other lines hold none.
var mayConsequence = func() (may [32][32]bool) {
	const pairs = "xicymmplwhfa-z"
	for i := 0; i < len(pairs); i += 2 {
		may[pairs[i]&31][pairs[i+1]&31] = true
	}
	return may
}()

// isConsequence reports whether a text only says that something else failed.
func isConsequence(t []byte) bool {
	may := false
	for i := 1; i < len(t) && !may; i++ {
		may = mayConsequence[t[i-1]&31][t[i]&31]
	}
	if !may {
		return false
	}
	var buf [300]byte
	low := append(buf[:0], clip(t, len(buf))...)
	for i, c := range low {
		if c >= 'A' && c <= 'Z' {
			low[i] = c + 'a' - 'A'
		}
	}
	for _, c := range consequences {
		if bytes.Contains(low, c) {
			return true
		}
	}
	return false
}

// near are the records whose words are most like those of a message.
func (w *work) near(message []byte) []NearRecord {
	out := []NearRecord{}
	have := map[string]float64{} // words, and how sure it is that they are meant
	var order []string
	eachWord(message, func(from, to int) {
		word := lower(message[from:to])
		if word != "" && have[word] == 0 && !isNumberLike(word) {
			have[word] = 1
			order = append(order, word)
		}
	})
	words := w.engine.words
	meant := map[string]string{} // by word: what was mistyped, or another form of it
	for _, word := range order {
		other := otherForm(words, word)
		if !words.has(word) && other == "" && len(meant) < maxMistyped {
			other = w.engine.spelling.closest(words, word)
		}
		if other != "" {
			meant[word] = other
			have[other] = max(have[other], 0.9)
			message = append(append(message[:len(message):len(message)], ' '), other...)
		}
	}
	seen := map[int]bool{}
	for _, like := range words.like(message, 12*maxNear) {
		o := &w.engine.owners[like.owner]
		if seen[o.entry] {
			continue
		}
		seen[o.entry] = true
		said := map[string]bool{}
		shared, all := 0.0, 0.0
		var missing []string
		for _, l := range w.engine.patternOf(o).Literals() {
			eachWord(l, func(from, to int) {
				word := lower([]byte(l[from:to]))
				if word == "" || said[word] {
					return
				}
				said[word] = true
				weight := words.weightOf(word)
				all += weight
				if sure := have[word]; sure > 0 {
					shared += sure * weight
				} else {
					missing = append(missing, word)
				}
			})
		}
		extra := 0.0
		var more []string
		for _, word := range order {
			if !said[word] && !said[meant[word]] {
				more = append(more, word)
				extra += words.weightOf(word)
			}
		}
		// Values are extra words that no message knows: they weigh nothing.
		similarity := shared / max(all+extra/2, 0.001)
		if similarity < minSimilarity {
			continue
		}
		out = append(out, NearRecord{
			Record: w.engine.entries[o.entry].Ref, Similarity: math.Round(similarity*100) / 100,
			Missing: first(missing, maxWords), Extra: first(more, maxWords),
		})
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Similarity > out[j].Similarity })
	return first(out, maxNear)
}

// first is the first n of a list, never nil.
func first[T any](list []T, n int) []T {
	if list == nil {
		return []T{}
	}
	return list[:min(len(list), n)]
}

func isNumberLike(word string) bool {
	for i := 0; i < len(word); i++ {
		if isDigit(word[i]) {
			return true
		}
	}
	return false
}

// templateOf puts gaps in the place of what looks like a value: quoted text,
// paths, links, numbers, ids.
func templateOf(t []byte) string {
	out := make([]byte, 0, len(t))
	for i := 0; i < len(t); {
		c := t[i]
		if isQuote(c) && (i == 0 || !isWord(t[i-1])) {
			if k := bytes.IndexByte(t[i+1:], c); k > 0 && k < 200 && (i+k+2 == len(t) || !isWord(t[i+k+2])) {
				out = append(out, c)
				out = append(out, "${text}"...)
				out = append(out, c)
				i += k + 2
				continue
			}
		}
		if c == ' ' {
			out = append(out, c)
			i++
			continue
		}
		j := i
		for j < len(t) && t[j] != ' ' {
			j++
		}
		word := t[i:j]
		open := 0
		for open < len(word) && bytes.IndexByte([]byte("([{<"), word[open]) >= 0 {
			open++
		}
		end := len(word)
		for end > open && bytes.IndexByte([]byte(")]}>.,;:!?"), word[end-1]) >= 0 {
			end--
		}
		out = append(out, word[:open]...)
		if kind := kindOfValue(word[open:end]); kind != "" {
			out = append(out, "${"+kind+"}"...)
		} else {
			out = append(out, word[open:end]...)
		}
		out = append(out, word[end:]...)
		i = j
	}
	return string(out)
}

// kindOfValue names what a word is a value of, "" when it is a word.
func kindOfValue(w []byte) string {
	digitsIn, letters, hex, slashes, dots := 0, 0, true, 0, 0
	for _, c := range w {
		switch {
		case isDigit(c):
			digitsIn++
		case isLetter(c):
			letters++
			hex = hex && hexDigit(c) >= 0
		case c == '/' || c == '\\':
			slashes++
			hex = false
		case c == '.':
			dots++
			hex = false
		case c != '-':
			hex = false
		}
	}
	switch {
	case len(w) == 0:
		return ""
	case bytes.Contains(w, []byte("://")):
		return "url"
	case digitsIn > 0 && letters == 0 && slashes == 0:
		if dots == 3 {
			return "host"
		}
		return "number"
	case hex && digitsIn > 0 && len(w) >= 7:
		return "id"
	case slashes > 1 || slashes == 1 && (w[0] == '/' || dots > 0):
		return "path"
	case digitsIn > 0 && !isCode(w):
		return "value"
	case dots > 0 && letters > 0 && bytes.IndexByte(w, '(') < 0:
		return "name"
	}
	return ""
}
