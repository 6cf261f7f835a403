package diagnose

import (
	"bytes"
	"strconv"
	"strings"
)

// minified reads "Minified React error #418; visit https://…?args[]=HTML" from
// its first word on.
func minified(t []byte, from, to int) (mention, bool) {
	end := lineEndOf(t, from)
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
	if n == hash+1 || len(name) == 0 || n == len(rest) && end < len(t) {
		return mention{}, false // a number that ends its line may have been cut
	}
	m := mention{from: from, to: to + n, code: lower(name) + "-" + string(rest[hash+1:n])}
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
func minifiedLink(t []byte, from int) (mention, bool) {
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
	if n == 0 || bytes.HasSuffix(bytes.TrimRight(t[lineStartOf(t, from, maxLine):from], " "), []byte("visit")) {
		return mention{}, false
	}
	return mention{from: from, to: stop, code: "react-" + number[:n], args: linkArgs(link), hasArgs: true}, true
}

// editorCode reads the form in which an editor shows a code of TypeScript:
// "ts(2532)".
func editorCode(t []byte, from, to int) (mention, bool) {
	if to >= len(t) || t[to] != '(' {
		return mention{}, false
	}
	n := digits(t, to+1)
	if n == to+1 || n >= len(t) || t[n] != ')' || n-to > 6 {
		return mention{}, false
	}
	return mention{from: from, to: n + 1, code: "TS" + string(t[to+1:n])}, true
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
