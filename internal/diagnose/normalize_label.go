package diagnose

import "bytes"

// levels are the words with which a line says how bad it is.
var levels = map[string]severity{
	"debug": levelInfo, "trace": levelInfo, "info": levelInfo, "notice": levelInfo, "log": levelInfo,
	"verbose": levelInfo, "silly": levelInfo, "http": levelInfo, "timing": levelInfo,
	"warn": levelWarning, "warning": levelWarning, "hint": levelInfo, "note": levelInfo, "help": levelInfo,
	"detail": levelError, "err": levelError, "error": levelError, "severe": levelError, "failure": levelError,
	"failed": levelError, "exception": levelError, "abort": levelFatal,
	"fatal": levelFatal, "critical": levelFatal, "crit": levelFatal, "panic": levelFatal, "emerg": levelFatal,
	"alert": levelFatal, "remote": levelInfo, "stderr": levelNone, "stdout": levelNone, "message": levelNone,
	"reason": levelNone, "cause": levelError, "context": levelInfo, "statement": levelInfo, "subject": levelNone,
}

// levelOf is the level that a word stands for, in either case of the letters.
func levelOf(word []byte) (severity, bool) {
	if len(word) == 0 || len(word) >= 16 || levelSizes[word[0]&31]>>len(word)&1 == 0 {
		return levelNone, false
	}
	level, ok := levels[lower(word)]
	return level, ok
}

// levelSizes are the lengths of levels by their first letter, as bits.
var levelSizes = func() (sizes [32]uint16) {
	for word := range levels {
		sizes[word[0]&31] |= 1 << len(word)
	}
	return sizes
}()

// leads are phrases that introduce a message.
var leads = []struct {
	text  string
	level severity
}{
	{"Uncaught (in promise) ", levelError}, {"Uncaught ", levelError}, {"Unhandled ", levelError},
	{"npm WARN ", levelWarning}, {"npm warn ", levelWarning}, {"ERR! ", levelError}, {"Caused by: ", levelError}, {"caused by: ", levelError},
	{"Exception in thread ", levelError}, {"Suppressed: ", levelError}, {"panic: ", levelFatal},
	{"nested exception is ", levelError}, {"[Error: ", levelError}, {"{ ", levelNone},
	{"\u00d7 ", levelError}, {"\u2717 ", levelError}, {"\u2716 ", levelError}, {"\u2718 ", levelError},
	{"\u2a2f ", levelError}, {"\u25cf ", levelNone}, {"\u274c ", levelError}, {"\u26a0 ", levelWarning},
	{"\u2a68 ", levelError}, {"\u2716", levelError},
	{"##[error]", levelError}, {"::error::", levelError}, {"E: ", levelError}, {"W: ", levelWarning},
	{"* ", levelNone}, {"- ", levelNone}, {"+ ", levelNone}, {"\u2022 ", levelNone}, {"# ", levelNone},
	{"**", levelNone}, {"__", levelNone}, {"_", levelNone}, {"`", levelNone},
}

// leadsBy are the indices of leads by their first byte.
var leadsBy = func() (by [256][]int) {
	for i, lead := range leads {
		by[lead.text[0]] = append(by[lead.text[0]], i)
	}
	return by
}()

// labelLen is the length of one label at the start of t (a level, a class, a
// place in a file, a tag in brackets) and the level it stands for; 0 when t
// begins with none. The blank after it is not included.
func labelLen(t []byte) (int, severity) {
	if len(t) < 2 {
		return 0, levelNone
	}
	for _, k := range leadsBy[t[0]] {
		if lead := &leads[k]; len(lead.text) < len(t) && string(t[:len(lead.text)]) == lead.text {
			return len(lead.text), lead.level
		}
	}
	if t[0] == '[' || t[0] == '(' {
		return bracketLabel(t)
	}
	if t[0] == ':' {
		return commandLabel(t)
	}
	if n := klogLen(t); n > 0 {
		return n, klogLevel(t[0])
	}
	if n := debugLogLen(t); n > 0 {
		return n, levelNone
	}
	return wordLabel(t)
}

// labelsLen is the length of the labels that t begins with and that end in it, with
// the blanks behind them.
func labelsLen(t []byte) int {
	n := 0
	for n < len(t) {
		k, _ := labelLen(t[n:])
		if k == 0 {
			break
		}
		n = skipBlank(t, n+k, len(t))
	}
	return n
}

// commandLabel reads the command of GitHub Actions in front of a message:
// "::error file=a.js,line=3::".
func commandLabel(t []byte) (int, severity) {
	for _, c := range [...]struct {
		text  string
		level severity
	}{{"::error ", levelError}, {"::warning ", levelWarning}, {"::notice ", levelInfo}} {
		if bytes.HasPrefix(t, []byte(c.text)) {
			if k := bytes.Index(t[len(c.text):min(len(t), 300)], []byte("::")); k >= 0 {
				return len(c.text) + k + 2, c.level
			}
		}
	}
	return 0, levelNone
}

// bracketLabel reads "[error]", "[nodemon]", "(HTTP code 500)", "[12345]".
func bracketLabel(t []byte) (int, severity) {
	closing := byte(']')
	if t[0] == '(' {
		closing = ')'
	}
	end := bytes.IndexByte(t[:min(len(t), 100)], closing)
	if end < 2 || end+1 >= len(t) || t[end+1] != ' ' && t[end+1] != ':' {
		return 0, levelNone
	}
	inside := t[1:end]
	level, _ := levelOf(inside)
	if t[end+1] == ':' {
		if end+2 < len(t) && t[end+2] != ' ' {
			return 0, levelNone // "[::1]:80"
		}
		return end + 2, level
	}
	return end + 1, level
}

// klogLen reads "W0731 06:08:51.207328 1 reflector.go:535] ".
func klogLen(t []byte) int {
	if len(t) < 20 || t[0] != 'I' && t[0] != 'W' && t[0] != 'E' && t[0] != 'F' || digits(t, 1) != 5 || t[5] != ' ' {
		return 0
	}
	if clockLen(t[6:]) == 0 {
		return 0
	}
	end := bytes.Index(t[:min(len(t), 200)], []byte("] "))
	if end < 0 {
		return 0
	}
	return end + 2
}

func klogLevel(c byte) severity {
	switch c {
	case 'W':
		return levelWarning
	case 'E':
		return levelError
	case 'F':
		return levelFatal
	}
	return levelInfo
}

// debugLogLen reads the numbers of npm's debug log: "12 error execute ".
func debugLogLen(t []byte) int {
	i := digits(t, 0)
	if i == 0 || i > 6 || i >= len(t) || t[i] != ' ' {
		return 0
	}
	j := i + 1
	for j < len(t) && isLetter(t[j]) {
		j++
	}
	if _, ok := levels[string(t[i+1:j])]; !ok || j >= len(t) || t[j] != ' ' {
		return 0
	}
	k := j + 1
	for k < len(t) && isLetter(t[k]) {
		k++
	}
	if k > j+1 && k < len(t) && t[k] == ' ' {
		return k + 1
	}
	return j + 1
}

// wordLabel reads a first word that ends in a colon, or a bare level in
// capitals: "error:", "TypeError:", "java.sql.SQLException:", "error TS2307:",
// "Error [ERR_X]:", "error[E0277]:", "src/a.ts(3,24):", "main.go:12:5:",
// "C:\bin\docker.exe:", "ERROR ".
func wordLabel(t []byte) (int, severity) {
	end := bytes.IndexByte(t, ' ')
	if end < 0 {
		end = len(t)
	}
	word := t[:min(end, 300)]
	if end == len(t) {
		return 0, levelNone
	}
	plain := word // "Error:**" ends in emphasis
	for len(plain) > 0 && (plain[len(plain)-1] == '*' || plain[len(plain)-1] == '_') {
		plain = plain[:len(plain)-1]
	}
	if len(plain) > 0 && plain[len(plain)-1] == ':' {
		name := plain[:len(plain)-1]
		if len(name) == 0 {
			return 0, levelNone
		}
		if level, ok := levelOf(name); ok {
			return end, level
		}
		if isClass(name) {
			return end, levelError
		}
		if isCode(name) || isPlace(name) {
			return end, levelError
		}
		if open := bytes.IndexByte(name, '['); open > 0 {
			if level, ok := levelOf(name[:open]); ok {
				return end, level
			}
		}
		if isProgram(name) {
			return end, levelNone
		}
		return 0, levelNone
	}
	level, ok := levelOf(word)
	if !ok {
		if bytes.HasPrefix(word, []byte("ERR_")) && isCode(word) {
			return end, levelError // "ERR_PNPM_X message"
		}
		return 0, levelNone
	}
	// "error TS2307:", "Error [ERR_X]:", "ERROR 1698 (28000):"
	rest := t[end+1:]
	colon := bytes.IndexByte(rest[:min(len(rest), 60)], ':')
	if colon > 0 && (isCode(rest[:colon]) || isCodePhrase(rest[:colon])) {
		return end + 1 + colon + 1, level
	}
	upper := true
	for _, c := range word {
		upper = upper && c >= 'A' && c <= 'Z'
	}
	if upper && level != levelNone {
		return end, level
	}
	return 0, levelNone
}

// isCodePhrase reads "[ERR_X]", "1698 (28000)".
func isCodePhrase(t []byte) bool {
	if len(t) > 2 && t[0] == '[' && t[len(t)-1] == ']' {
		return true
	}
	i := digits(t, 0)
	return i > 0 && (i == len(t) || t[i] == ' ' && len(t) > i+1 && t[i+1] == '(')
}

// isClass reports whether a word names an exception class: "TypeError",
// "java.lang.IllegalStateException".
func isClass(t []byte) bool {
	for i, c := range t {
		if !isWord(c) && c != '.' && c != '$' && c != ':' && c != '\\' || i > 200 {
			return false
		}
	}
	for _, suffix := range []string{"Error", "Exception", "Warning", "Fault", "Failure", "Throwable", "Interrupt", "Exit"} {
		if bytes.HasSuffix(t, []byte(suffix)) {
			return true
		}
	}
	return false
}

// isPlace reports whether a word is a place in a file: "a.ts(3,24)",
// "main.go:12:5".
func isPlace(t []byte) bool {
	n := len(t)
	if n < 4 {
		return false
	}
	if t[n-1] == ')' {
		open := bytes.LastIndexByte(t, '(')
		return open > 0 && open+1 < n-1 && isDigit(t[open+1])
	}
	i := n
	for i > 0 && (isDigit(t[i-1]) || t[i-1] == ':') {
		i--
	}
	return i > 2 && i < n && t[i] == ':' && bytes.IndexByte(t[:i], '.') > 0
}

// isProgram reports whether a word before a colon is the name of a program:
// "docker", "psql", "C:\bin\git.exe", "make[1]".
func isProgram(t []byte) bool {
	if bytes.HasSuffix(t, []byte(".exe")) || bytes.HasSuffix(t, []byte(".sh")) {
		return true
	}
	if len(t) > 24 {
		return false
	}
	for _, c := range t {
		if !(c >= 'a' && c <= 'z') && !isDigit(c) && c != '-' && c != '_' && c != '[' && c != ']' {
			return false
		}
	}
	return len(t) > 1
}

// maxTableWord is the length of the longest word that is kept in a table.
const maxTableWord = 24

// lower is t in lower case, "" when it is too long to be a word of a table.
func lower[T string | []byte](t T) string {
	if len(t) > maxTableWord {
		return ""
	}
	var buf [maxTableWord]byte
	return string(lowerIn(&buf, t))
}

// lowerIn writes t in lower case to a buffer, which must be long enough.
func lowerIn[T string | []byte](buf *[maxTableWord]byte, t T) []byte {
	for i := range len(t) {
		c := t[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	return buf[:len(t)]
}

// isFrame reports whether a line is a frame of a stack trace, where the words
// are names of functions and files, not a message.
func isFrame(t []byte) bool {
	if len(t) == 0 {
		return false
	}
	switch t[0] {
	case 'a':
		if bytes.HasPrefix(t, []byte("at ")) {
			// JavaScript, Java, C#. "at line 3 of …" is prose.
			return bytes.IndexByte(t, '(') > 0 || bytes.IndexByte(t, ':') > 0
		}
	case 'F':
		if bytes.HasPrefix(t, []byte(`File "`)) {
			return bytes.Contains(t, []byte(`, line `))
		}
	case '-', 'g', 'c':
		if bytes.HasPrefix(t, []byte("--> ")) || bytes.HasPrefix(t, []byte("goroutine ")) || bytes.HasPrefix(t, []byte("created by ")) {
			return true
		}
	case '.':
		if bytes.HasPrefix(t, []byte("... ")) {
			return bytes.HasSuffix(t, []byte(" more"))
		}
	}
	// Go: "main.go:12 +0x1d"
	if bytes.IndexByte(t, '+') < 0 {
		return false
	}
	i := bytes.LastIndex(t, []byte(" +0x"))
	return i > 0 && bytes.Contains(t[:i], []byte(".go:"))
}
