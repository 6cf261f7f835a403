package diagnose

import "bytes"

// line is one line of a normalized text. What stands before body is the
// furniture of the medium (quote marks, boxes, times, container names); what
// stands between body and message is said by the program that logs or throws
// (levels, classes, places), and a pattern may well include it.
type line struct {
	start, end    int
	body, message int
	level         severity
	frame         bool // a stack frame or a line of quoted source code
	fence         bool // a Markdown fence or a ruler: nothing to read
	stamped       bool // it begins with a time
	layers        layerSet
	gapped        bool // it ended with a blank
	trimmed       bool // the blank that it ended with may be gone
	indented      bool // it began with one
	indent        int  // blanks at its start, before they were squeezed
	width         int  // characters, prefix and all, before blanks were squeezed
}

// severity is how bad a line says it is.
type severity uint8

const (
	levelNone severity = iota
	levelInfo
	levelWarning
	levelError
	levelFatal
)

// splitLines cuts a normalized text into lines. The last line need not end.
func splitLines(m *mapped) []line {
	text := m.text
	lines := m.arena.lines.take(bytes.Count(text, newline) + 1)
	for start := 0; start <= len(text); {
		end := bytes.IndexByte(text[start:], '\n')
		if end < 0 {
			end = len(text)
		} else {
			end += start
		}
		lines = append(lines, readLine(text, start, end))
		start = end + 1
	}
	return lines
}

// readLine takes the prefixes off a line.
func readLine(text []byte, start, end int) line {
	l := line{start: start, end: end, indented: start < end && text[start] == ' '}
	boxed := false
	i := skipBlank(text, start, end)
	if n := jobLen(text[i:end]); n > 0 {
		i += n
		l.layers |= 1 << layerPrefix
	}
	for i < end {
		n := l.prefixLen(text[i:end], &boxed)
		if n == 0 {
			break
		}
		i = skipBlank(text, i+n, end)
	}
	l.body = i
	if boxed {
		// The right side of a box.
		for l.end > l.body {
			n := boxSuffix(text[l.body:l.end])
			if n == 0 {
				break
			}
			l.end -= n
		}
	}
	l.message = l.body
	rest := text[l.body:l.end]
	if len(rest) == 0 {
		return l
	}
	l.fence = (rest[0] == '`' || rest[0] == '~') && (bytes.HasPrefix(rest, []byte("```")) || bytes.HasPrefix(rest, []byte("~~~"))) || isRuler(rest)
	l.frame = isFrame(rest)
	for !l.frame {
		n, level := labelLen(text[l.message:l.end])
		if n == 0 {
			break
		}
		l.level = max(l.level, level)
		l.message = skipBlank(text, l.message+n, l.end)
	}
	return l
}

// prefixLen is the length of one prefix at the start of what is left of a line, 0
// when there is none.
func (l *line) prefixLen(rest []byte, boxed *bool) int {
	kind := byteKinds[rest[0]]
	if kind&opensMark != 0 {
		if n := markLen(rest); n > 0 {
			*boxed = true
			l.layers |= 1 << layerQuote
			return n
		}
		if n := buildkitLen(rest); n > 0 {
			l.layers |= 1 << layerPrefix
			return n
		}
	}
	if kind&opensTime != 0 {
		if n := timeLen(rest); n > 0 {
			n += sourceLen(rest[n:])
			l.stamped = true
			l.layers |= 1 << layerPrefix
			return n
		}
	}
	if kind&inColumn != 0 {
		if n := columnLen(rest); n > 0 {
			l.layers |= 1 << layerPrefix
			return n
		}
		if n := toolLen(rest); n > 0 {
			l.level = levelError
			l.layers |= 1 << layerPrefix
			return n
		}
	}
	return 0
}

// byteKinds says what a byte may be part of.
var byteKinds = func() (kinds [256]byteKind) {
	for c := range kinds {
		b := byte(c)
		if isWord(b) {
			kinds[c] |= inColumn | inSource
		}
		if isDigit(b) {
			kinds[c] |= opensTime
		}
	}
	set := func(list string, kind byteKind) {
		for i := range len(list) {
			kinds[list[i]] |= kind
		}
	}
	set(">|-#{\xe2", opensMark)
	set("[(", opensTime)
	for i := 0; i < len(months); i += 3 {
		set(months[i:i+1], opensTime)
	}
	for i := 0; i < len(days); i += 3 {
		set(days[i:i+1], opensTime)
	}
	set(".-/@", inColumn|inSource)
	set(":", inColumn)
	return kinds
}()

type byteKind uint8

const (
	opensMark byteKind = 1 << iota // quote marks, boxes, numbers of steps
	opensTime
	inColumn // a first column, as columnLen reads it
	inSource // host and program, as sourceLen reads them
)

func skipBlank(text []byte, i, end int) int {
	for i < end && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
func isWord(c byte) bool { return wordBytes[c] }

var wordBytes = func() (is [256]bool) {
	for c := range is {
		b := byte(c)
		is[c] = isLetter(b) || isDigit(b) || b == '_' || b >= 0x80
	}
	return is
}()

// markLen is the length of a quote mark or of box drawing at the start.
func markLen(t []byte) int {
	switch t[0] {
	case '>':
		return 1
	case '|':
		if len(t) == 1 || t[1] == ' ' {
			return 1
		}
	case '-':
		// The catalogue lines of older journalctl.
		if len(t) == 2 && t[1] == '-' {
			return 2
		}
		if len(t) > 3 && t[1] == '-' && t[2] == ' ' && t[3] >= 'A' && t[3] <= 'Z' {
			return 2 // a dash in front of a small letter belongs to a sentence
		}
	}
	if t[0] == '{' {
		return jiraLen(t)
	}
	if len(t) >= 3 && t[0] == 0xe2 && (t[1] >= 0x94 && t[1] <= 0x96) {
		return 3
	}
	return 0
}

// jiraMarks enclose text that is shown as it is.
var jiraMarks = []string{"{noformat", "{code", "{quote", "{panel", "{color"}

// jiraLen is the length of the mark with which Jira opens or closes such text.
func jiraLen(t []byte) int {
	for _, mark := range jiraMarks {
		if bytes.HasPrefix(t, []byte(mark)) {
			if k := bytes.IndexByte(t[:min(len(t), 100)], '}'); k == len(mark) || k > 0 && t[len(mark)] == ':' {
				return k + 1
			}
		}
	}
	return 0
}

// tools put their name and a level in front of every line that they print, blank
// ones too.
var tools = []string{"npm ERR!", "npm error", "lerna ERR!", "yarn error"}

func toolLen(t []byte) int {
	for _, tool := range tools {
		if t[0] == tool[0] && bytes.HasPrefix(t, []byte(tool)) && (len(t) == len(tool) || t[len(tool)] == ' ') {
			return len(tool)
		}
	}
	return 0
}

// boxSuffix is the length of blanks or of one box character at the end.
func boxSuffix(t []byte) int {
	n := len(t)
	switch {
	case t[n-1] == ' ':
		return 1
	case n >= 3 && t[n-3] == 0xe2 && t[n-2] >= 0x94 && t[n-2] <= 0x96:
		return 3
	case n >= 2 && t[n-1] == '|' && t[n-2] == ' ':
		return 2
	case t[n-1] == '}':
		if k := bytes.LastIndexByte(t, '{'); k >= 0 && jiraLen(t[k:]) == n-k {
			return n - k
		}
	}
	return 0
}

// buildkitLen reads "#12 13.43 " and "#12 ".
func buildkitLen(t []byte) int {
	if t[0] != '#' {
		return 0
	}
	i := digits(t, 1)
	if i == 1 || i >= len(t) || t[i] != ' ' {
		if i > 1 && i == len(t) {
			return i
		}
		return 0
	}
	i++
	if j := digits(t, i); j > i && j < len(t) && t[j] == '.' {
		if k := digits(t, j+1); k > j+1 && (k == len(t) || t[k] == ' ') {
			return k
		}
	}
	return i
}

// jobLen reads the job and the step that a log of GitHub Actions has before the time
// of each line: "build Run make 2025-04-08T10:40:59.0811592Z message".
func jobLen(t []byte) int {
	if len(t) < 30 || !isLetter(t[0]) {
		return 0
	}
	k := bytes.Index(t[:min(len(t), 120)], []byte("Z "))
	if k < 28 || t[k-8] != '.' || digits(t, k-7) != k {
		return 0
	}
	const stamp = len("2025-04-08T10:40:59.0811592")
	if at := k - stamp; at > 1 && t[at-1] == ' ' && dateTimeLen(t[at:]) >= stamp {
		return at
	}
	return 0
}

// digits is the offset after the digits at i.
func digits(t []byte, i int) int {
	for i < len(t) && isDigit(t[i]) {
		i++
	}
	return i
}

// columnLen reads the first column of docker compose, plumbum and the like:
// one word, blanks, a bar.
func columnLen(t []byte) int {
	i := 0
	for i < len(t) && i < 64 && byteKinds[t[i]]&inColumn != 0 {
		i++
	}
	if i == 0 {
		return 0
	}
	i = skipBlank(t, i, len(t))
	if i < len(t) && t[i] == '|' && (i+1 == len(t) || t[i+1] == ' ') {
		return i + 1
	}
	return 0
}

// isRuler reports whether a line holds nothing but drawing.
func isRuler(t []byte) bool {
	for _, c := range t {
		if isLetter(c) || isDigit(c) {
			return false
		}
	}
	return len(t) > 0
}
