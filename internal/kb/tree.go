package kb

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// encoding/json forgets where a value stood, accepts duplicate keys and
// replaces broken text in silence. A record is written by people and judged by
// its place in the file, so it is read into a tree that keeps offsets.

// maxDepth bounds nesting; a record needs four levels in its envelope.
const maxDepth = 32

type kind byte

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

func (k kind) String() string {
	return [...]string{"null", "a truth value", "a number", "a string", "an array", "an object"}[k]
}

// node is one JSON value and its place.
type node struct {
	kind     kind
	start    int    // offset of its first byte
	key      string // name, when it is a member of an object
	keyStart int    // offset of the name; for an element the same as start
	text     string // a string's text; else the literal of a number or truth value
	children []node
}

// member gives the value of a key, nil when the object has none.
func (n *node) member(key string) *node {
	for i := range n.children {
		if n.children[i].key == key {
			return &n.children[i]
		}
	}
	return nil
}

// problem is something wrong with the text of a file, before its meaning.
type problem struct {
	offset                int
	code, message, advice string
}

// parseTree reads one JSON value that fills data. Without ok the tree is not to
// be used and the last problem says why; duplicate keys are problems that leave
// the tree (holding the first of them) usable.
func parseTree(data []byte) (root node, problems []problem, ok bool) {
	p := &treeParser{data: data}
	if bad := checkText(data); bad != nil {
		return node{}, []problem{*bad}, false
	}
	p.space()
	root, ok = p.value(0)
	if ok {
		p.space()
		if p.pos < len(data) {
			ok = p.fail(p.pos, "syntax", "there is more text after the end of the value", "keep one object in a file")
		}
	}
	return root, p.problems, ok
}

// checkText finds what no JSON text may hold, before any structure.
func checkText(data []byte) *problem {
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return &problem{0, "encoding", "the file starts with a byte order mark", "save it as UTF-8 without one, or run kb lint --fix"}
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return &problem{0, "encoding", "the file is UTF-16", "save it as UTF-8"}
	}
	if len(bytes.TrimLeft(data, " \t\r\n")) == 0 {
		return &problem{0, "syntax", "the file is empty", "write a record into it or delete it"}
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return &problem{i, "encoding", "there is a NUL byte", "remove it"}
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return &problem{i, "encoding", fmt.Sprintf("byte 0x%02x is not valid UTF-8", data[i]), "save the file as UTF-8"}
		}
		i += size
	}
	return nil
}

type treeParser struct {
	data     []byte
	pos      int
	problems []problem
}

func (p *treeParser) fail(offset int, code, message, advice string) bool {
	p.problems = append(p.problems, problem{min(offset, len(p.data)), code, message, advice})
	return false
}

// unexpected reports what stands at the position instead of what is wanted.
func (p *treeParser) unexpected(want string) bool {
	if p.pos >= len(p.data) {
		return p.fail(p.pos, "syntax", "the file ends where "+want+" should follow", "the file seems to be cut off; complete it")
	}
	r, _ := utf8.DecodeRune(p.data[p.pos:])
	advice := "mend the JSON"
	switch {
	case r == '/' || r == '#':
		advice = "JSON has no comments; remove it"
	case r == '\'' || r == '“' || r == '”':
		advice = `strings stand in straight double quotes ("…")`
	case (r == '}' || r == ']') && want != "a comma or the end":
		advice = "remove the comma before it"
	case r == '"' && want == "a comma or the end":
		advice = "put a comma before it"
	}
	return p.fail(p.pos, "syntax", fmt.Sprintf("%q stands where %s should", r, want), advice)
}

func (p *treeParser) space() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return
		}
	}
}

// eat takes one byte when it is the next one.
func (p *treeParser) eat(c byte) bool {
	if p.pos < len(p.data) && p.data[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *treeParser) value(depth int) (node, bool) {
	n := node{start: p.pos, keyStart: p.pos}
	if p.pos >= len(p.data) {
		return n, p.unexpected("a value")
	}
	if depth > maxDepth {
		return n, p.fail(p.pos, "syntax", fmt.Sprintf("values are nested more than %d deep", maxDepth), "a record needs four levels")
	}
	switch c := p.data[p.pos]; {
	case c == '{':
		n.kind = kindObject
		return n, p.object(&n, depth)
	case c == '[':
		n.kind = kindArray
		return n, p.array(&n, depth)
	case c == '"':
		n.kind = kindString
		var ok bool
		n.text, ok = p.str()
		return n, ok
	case c == '-' || c >= '0' && c <= '9':
		n.kind = kindNumber
		return n, p.number(&n)
	}
	for _, word := range []string{"null", "true", "false"} {
		if bytes.HasPrefix(p.data[p.pos:], []byte(word)) {
			p.pos += len(word)
			if word != "null" {
				n.kind, n.text = kindBool, word
			}
			return n, true
		}
	}
	return n, p.unexpected("a value")
}

func (p *treeParser) object(n *node, depth int) bool {
	p.pos++
	p.space()
	if p.eat('}') {
		return true
	}
	seen := map[string]bool{}
	for {
		p.space()
		keyStart := p.pos
		if p.pos >= len(p.data) || p.data[p.pos] != '"' {
			return p.unexpected("a key in double quotes")
		}
		key, ok := p.str()
		if !ok {
			return false
		}
		p.space()
		if !p.eat(':') {
			return p.unexpected("a colon")
		}
		p.space()
		child, ok := p.value(depth + 1)
		if !ok {
			return false
		}
		if seen[key] {
			p.fail(keyStart, "duplicate-key", fmt.Sprintf("the key %q stands twice in one object", key), "keep one of them")
		} else {
			seen[key] = true
			child.key, child.keyStart = key, keyStart
			n.children = append(n.children, child)
		}
		p.space()
		if p.eat('}') {
			return true
		}
		if !p.eat(',') {
			return p.unexpected("a comma or the end")
		}
	}
}

func (p *treeParser) array(n *node, depth int) bool {
	p.pos++
	p.space()
	if p.eat(']') {
		return true
	}
	for {
		p.space()
		child, ok := p.value(depth + 1)
		if !ok {
			return false
		}
		n.children = append(n.children, child)
		p.space()
		if p.eat(']') {
			return true
		}
		if !p.eat(',') {
			return p.unexpected("a comma or the end")
		}
	}
}

// number takes a number as JSON writes it: no leading zero, no bare point.
func (p *treeParser) number(n *node) bool {
	digits := func() bool {
		from := p.pos
		for p.pos < len(p.data) && p.data[p.pos] >= '0' && p.data[p.pos] <= '9' {
			p.pos++
		}
		return p.pos > from
	}
	p.eat('-')
	if !p.eat('0') && !digits() {
		return p.unexpected("a digit")
	}
	if p.eat('.') && !digits() {
		return p.unexpected("a digit")
	}
	if p.eat('e') || p.eat('E') {
		if !p.eat('+') {
			p.eat('-')
		}
		if !digits() {
			return p.unexpected("a digit")
		}
	}
	n.text = string(p.data[n.start:p.pos])
	return true
}

// str takes a string in quotes and gives its text.
func (p *treeParser) str() (string, bool) {
	start := p.pos
	p.pos++
	var text []byte // set from the first escape on
	plain := p.pos
	for p.pos < len(p.data) {
		switch c := p.data[p.pos]; {
		case c == '"':
			s := p.data[plain:p.pos]
			p.pos++
			if text == nil {
				return string(s), true
			}
			return string(append(text, s...)), true
		case c < 0x20:
			name := map[byte]string{'\n': "a line break", '\r': "a carriage return", '\t': "a tab"}[c]
			if name == "" {
				name = fmt.Sprintf("control character 0x%02x", c)
			}
			return "", p.fail(p.pos, "syntax", name+" stands unescaped in a string", `close the string, or write \n, \t or \u00XX`)
		case c == '\\':
			if text == nil {
				text = make([]byte, 0, 2*(p.pos-plain)+64)
			}
			text = append(text, p.data[plain:p.pos]...)
			var ok bool
			if text, ok = p.escape(text); !ok {
				return "", false
			}
			plain = p.pos
		default:
			p.pos++
		}
	}
	return "", p.fail(start, "syntax", "the string that starts here is never closed", "put the closing quote")
}

// escape takes one escape sequence, both halves of a surrogate pair included.
func (p *treeParser) escape(text []byte) ([]byte, bool) {
	start := p.pos
	p.pos++
	if p.pos >= len(p.data) {
		return nil, p.unexpected("an escape")
	}
	c := p.data[p.pos]
	p.pos++
	if i := bytes.IndexByte([]byte(`"\/bfnrt`), c); i >= 0 {
		return append(text, "\"\\/\b\f\n\r\t"[i]), true
	}
	if c != 'u' {
		return nil, p.fail(start, "syntax", fmt.Sprintf("%q is no escape of JSON", p.data[start:p.pos]), `write a backslash as \\`)
	}
	r, ok := p.hex4()
	if ok && utf16.IsSurrogate(r) {
		r2 := rune(-1)
		if bytes.HasPrefix(p.data[p.pos:], []byte(`\u`)) {
			p.pos += 2
			r2, ok = p.hex4()
		}
		if r = utf16.DecodeRune(r, r2); r == utf8.RuneError {
			return nil, p.fail(start, "encoding", "half a surrogate pair stands alone", "write the character itself")
		}
	}
	if !ok {
		return nil, p.fail(start, "syntax", `\u is not followed by four hex digits`, `write \u00e4 or the character itself`)
	}
	return utf8.AppendRune(text, r), true
}

func (p *treeParser) hex4() (rune, bool) {
	if p.pos+4 > len(p.data) {
		return 0, false
	}
	v, err := strconv.ParseUint(string(p.data[p.pos:p.pos+4]), 16, 16)
	if err != nil {
		return 0, false
	}
	p.pos += 4
	return rune(v), true
}

// place turns an offset into line and column, both from 1, columns in bytes.
func place(data []byte, offset int) (line, column int) {
	before := data[:min(offset, len(data))]
	return 1 + bytes.Count(before, []byte("\n")), offset - bytes.LastIndexByte(before, '\n')
}
