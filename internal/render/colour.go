package render

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Classes of the parts of code. The style sheet gives each a light and a dark
// colour.
const (
	classComment  = "tc"
	classString   = "ts"
	classNumber   = "tn" // constants too
	classType     = "ty"
	classKeyword  = "tk"
	classFunction = "tf"
	classKey      = "ta"
)

// token is a part of code and its class, "" for none.
type token struct {
	class, text string
}

// tokens cuts source text into tokens. It reads each byte a bounded number of
// times and looks at no clock, so that hostile code costs no more than other
// code and the same code always gives the same page: expressions with
// backtracking give neither.
func (s *syntax) tokens(source string) []token {
	c := colourer{syntax: s, source: source}
	c.code(false)
	return c.out
}

type colourer struct {
	*syntax
	source string
	at     int
	out    []token
	before byte // the last byte that is neither blank nor comment, 0 at the start
	word   string
	depth  int // of templates in templates
}

// maxTemplateDepth bounds templates within the code of templates; deeper ones
// are plain strings.
const maxTemplateDepth = 20

func (c *colourer) emit(class string, n int) {
	text := c.source[c.at : c.at+n]
	c.at += n
	if last := len(c.out) - 1; last >= 0 && c.out[last].class == class {
		c.out[last].text += text
		return
	}
	c.out = append(c.out, token{class, text})
}

// value notes that something that ends a value was read.
func (c *colourer) value() { c.before, c.word = 'x', "" }

// code reads to the end, or within a template to the brace that closes it.
func (c *colourer) code(inTemplate bool) {
	braces := 0
	for c.at < len(c.source) {
		rest := c.source[c.at:]
		if c.comment(rest) || c.text(rest) {
			continue
		}
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case isDigit(rest[0]):
			c.emit(classNumber, span(rest, func(r rune) bool { return isWordRune(r) || r == '.' }))
			c.value()
		case isWordRune(r):
			c.name(span(rest, isWordRune))
		case unicode.IsSpace(r):
			c.emit("", size)
		default:
			if inTemplate && rest[0] == '{' {
				braces++
			}
			if inTemplate && rest[0] == '}' {
				if braces == 0 {
					return
				}
				braces--
			}
			c.emit("", size)
			c.before, c.word = rest[0], ""
		}
	}
}

func (c *colourer) comment(rest string) bool {
	for _, mark := range c.lineComment {
		if !strings.HasPrefix(rest, mark) || c.hashInWord && c.at > 0 && !isBlank(c.source[c.at-1]) {
			continue
		}
		n := strings.IndexByte(rest, '\n')
		if n < 0 {
			n = len(rest)
		}
		c.emit(classComment, n)
		return true
	}
	if start, end := c.blockComment[0], c.blockComment[1]; start != "" && strings.HasPrefix(rest, start) {
		n := strings.Index(rest[len(start):], end)
		if n < 0 {
			n = len(rest)
		} else {
			n += len(start) + len(end)
		}
		c.emit(classComment, n)
		return true
	}
	return false
}

// text reads a string, a template or a regular expression.
func (c *colourer) text(rest string) bool {
	for _, quote := range c.longQuotes {
		if strings.HasPrefix(rest, quote) {
			c.string(stringEnd(rest, quote, true, true))
			return true
		}
	}
	quote := rest[:1]
	switch {
	case c.templates && quote == "`":
		c.template()
	case strings.Contains(c.rawQuotes, quote):
		c.string(stringEnd(rest, quote, false, true))
	case c.lifetimes && quote == "'" && isLifetime(rest):
		c.emit(classType, 1+span(rest[1:], isWordRune))
		c.value()
	case strings.Contains(c.quotes, quote):
		c.string(stringEnd(rest, quote, true, false))
	case c.regexps && quote == "/" && c.canBeginValue():
		n := regexpEnd(rest)
		if n == 0 {
			return false
		}
		c.string(n)
	default:
		return false
	}
	return true
}

func (c *colourer) string(n int) {
	class := classString
	if c.keysBefore != "" && strings.HasPrefix(strings.TrimLeft(c.source[c.at+n:], " \t"), c.keysBefore) {
		class = classKey
	}
	c.emit(class, n)
	c.value()
}

// template reads `…${code}…`.
func (c *colourer) template() {
	if c.depth == maxTemplateDepth {
		c.string(stringEnd(c.source[c.at:], "`", true, true))
		return
	}
	n := 1
	for c.at+n < len(c.source) {
		rest := c.source[c.at+n:]
		switch {
		case rest[0] == '\\' && len(rest) > 1:
			n += 2
		case rest[0] == '`':
			c.emit(classString, n+1)
			c.value()
			return
		case strings.HasPrefix(rest, "${"):
			c.emit(classString, n+2)
			c.before, c.word = '{', ""
			c.depth++
			c.code(true)
			c.depth--
			n = min(1, len(c.source)-c.at) // the closing brace
		default:
			n++
		}
	}
	c.emit(classString, min(n, len(c.source)-c.at))
	c.value()
}

func (c *colourer) name(n int) {
	word := c.source[c.at : c.at+n]
	after := strings.TrimLeft(c.source[c.at+n:], " \t")
	lookedUp := word
	if c.ignoreCase {
		lookedUp = strings.ToLower(word)
	}
	class := ""
	switch {
	case c.keysBefore != "" && strings.HasPrefix(after, c.keysBefore):
		class = classKey
	case c.before == '.': // a member may be called like a keyword
		if strings.HasPrefix(after, "(") {
			class = classFunction
		}
	case c.keywords[lookedUp]:
		class = classKeyword
	case c.constants[lookedUp]:
		class = classNumber
	case c.types[lookedUp], c.capitalTypes && 'A' <= word[0] && word[0] <= 'Z':
		class = classType
	case strings.HasPrefix(after, "("):
		class = classFunction
	}
	c.emit(class, n)
	c.value()
	if class == classKeyword {
		c.word = lookedUp
	}
}

// canBeginValue says whether a value can begin here, so that a slash opens a
// regular expression and does not divide.
func (c *colourer) canBeginValue() bool {
	if c.word != "" {
		return c.word != "this" && c.word != "super"
	}
	return c.before == 0 || strings.IndexByte("([{,;:=!&|?+-*%~^<>", c.before) >= 0
}

// stringEnd is the length of the string that text begins with. One that is not
// closed ends with its line, or with the text where it may be long.
func stringEnd(text, quote string, escapes, long bool) int {
	for i := len(quote); i < len(text); i++ {
		switch {
		case escapes && text[i] == '\\' && i+1 < len(text):
			i++
		case text[i] == '\n' && !long:
			return i
		case strings.HasPrefix(text[i:], quote):
			return i + len(quote)
		}
	}
	return len(text)
}

// maxRegexp bounds the look for the end of a regular expression, in bytes.
const maxRegexp = 512

// regexpEnd is the length of the regular expression that text begins with, 0
// when it is not closed on its line.
func regexpEnd(text string) int {
	inClass := false
	for i := 1; i < min(len(text), maxRegexp) && text[i] != '\n'; i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '[':
			inClass = true
		case text[i] == ']':
			inClass = false
		case text[i] == '/' && !inClass:
			return i + 1 + span(text[i+1:], isWordRune)
		}
	}
	return 0
}

// isLifetime says whether a quote begins a name and no character.
func isLifetime(text string) bool {
	n := span(text[1:], isWordRune)
	return n > 0 && (1+n >= len(text) || text[1+n] != '\'')
}

func span(text string, in func(rune) bool) int {
	for i, r := range text {
		if !in(r) {
			return i
		}
	}
	return len(text)
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' }

func isWordRune(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
