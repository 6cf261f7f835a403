package pattern

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"errorkb/internal/pattern/fault"
)

// Limits of an expression. They bound the work of compiling one and the size
// of what comes out, so a pasted or imported record cannot exhaust the process.
const (
	MaxExpr     = 4 << 10 // bytes of an expression
	maxProgram  = 8 << 10 // instructions of an expression that stays a regular expression
	maxVariants = 32      // alternatives after multiplying out
	maxSteps    = 512     // literals and gaps of one alternative
)

// Errors of Compile, to be tested with errors.Is.
var (
	ErrTooLong  = errors.New("expression too long")
	ErrTooLarge = errors.New("compiled expression too large")
)

// Pattern is a compiled message pattern. It is immutable and may be used by
// several goroutines at once.
type Pattern struct {
	expr string
	rec  []byte // record of the variants; nil when not reduced

	fallback *regexp.Regexp // set when the expression cannot be reduced
	required string         // literal that fallback needs; "" when there is none
}

// Match is one place where a pattern stands. Offsets are bytes into the text
// that was searched.
type Match struct {
	Start, End int
	Captures   []Capture // in order of the pattern's Names
	NoStop     bool      // the full stop at the end of the pattern is missing
}

// Capture is the value of a named gap, without the blanks around it. Start equals
// End when it is empty.
type Capture struct {
	Name       string
	Start, End int
}

// Compile turns an RE2 expression into a pattern. Named groups are its gaps.
// The template is the message as its project writes it; it is used when the
// expression is empty, every ${…} being a gap.
func Compile(expr, template string) (*Pattern, error) {
	if expr == "" {
		expr = exprOf(template)
	}
	if len(expr) > MaxExpr {
		return nil, fault.Of("pattern of "+strconv.Itoa(len(expr))+" bytes, at most "+strconv.Itoa(MaxExpr)+" allowed", ErrTooLong)
	}
	if rec, ok := parseSimple(expr); ok {
		return &Pattern{expr: expr, rec: rec}, nil
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, fault.Of("pattern "+strconv.Quote(shorten(expr)), err)
	}
	p := &Pattern{expr: expr}
	if vs, ok := reduce(tree); ok {
		p.rec = appendRecord(nil, vs)
		return p, nil
	}
	if err := p.compileFallback(tree); err != nil {
		return nil, err
	}
	return p, nil
}

// compileFallback keeps the expression as a regular expression.
func (p *Pattern) compileFallback(tree *syntax.Regexp) error {
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return fault.Of("pattern "+strconv.Quote(shorten(p.expr)), err)
	}
	if len(prog.Inst) > maxProgram {
		return fault.Of("pattern "+strconv.Quote(shorten(p.expr))+" of "+strconv.Itoa(len(prog.Inst))+" instructions, at most "+strconv.Itoa(maxProgram)+" allowed", ErrTooLarge)
	}
	if p.fallback, err = regexp.Compile(p.expr); err != nil {
		return fault.Of("pattern "+strconv.Quote(shorten(p.expr)), err)
	}
	for _, l := range requiredLiterals(tree) {
		if len(l) > len(p.required) {
			p.required = l
		}
	}
	return nil
}

// Expr returns the expression that the pattern was compiled from.
func (p *Pattern) Expr() string { return p.expr }

// Names returns the names of the gaps in order.
func (p *Pattern) Names() []string {
	var names []string
	if p.fallback != nil {
		for _, n := range p.fallback.SubexpNames() {
			if n != "" {
				names = append(names, n)
			}
		}
		return names
	}
	m := matchers.Get().(*matcher)
	defer m.put()
	seen := map[string]bool{}
	for _, v := range m.decode(p.rec) {
		for _, k := range v.marks {
			if n := string(k.name); !seen[n] {
				seen[n] = true
				names = append(names, n)
			}
		}
	}
	return names
}

// Reduced reports whether the pattern is a list of literals and gaps. A pattern
// that is not still works, as a regular expression and more slowly.
func (p *Pattern) Reduced() bool { return p.fallback == nil }

// Literals returns the text that every match holds, in order, a run of white
// space being one blank. Of several alternatives it is the one with the least
// text.
func (p *Pattern) Literals() []string {
	if p.fallback != nil {
		if p.required == "" {
			return nil
		}
		return []string{p.required}
	}
	m := matchers.Get().(*matcher)
	defer m.put()
	var best []string
	least := -1
	vs := m.decode(p.rec)
	for i := range vs {
		v := &vs[i]
		literals := make([]string, 0, len(v.chains))
		n := 0
		for k := range v.chains {
			s := v.chainText(k)
			n += len(s)
			literals = append(literals, s)
		}
		if least < 0 || n < least {
			least, best = n, literals
		}
	}
	if len(best) == 0 {
		return nil
	}
	return best
}

// chainText is the text of a chain, a run of white space being one blank.
func (v *variant) chainText(k int) string {
	c := v.chains[k]
	if c.to-c.from == 1 && v.steps[c.from].kind == literal {
		return string(v.steps[c.from].text)
	}
	var b strings.Builder
	for _, st := range v.steps[c.from:c.to] {
		if st.kind == space {
			b.WriteByte(' ')
		} else {
			b.Write(st.text)
		}
	}
	return b.String()
}

// LiteralLen returns the number of bytes of the literals.
func (p *Pattern) LiteralLen() int {
	n := 0
	for _, l := range p.Literals() {
		n += len(l)
	}
	return n
}

// Weak reports whether the literals have fewer than two words or fewer than ten
// characters in all. What a weak pattern finds needs further evidence.
func (p *Pattern) Weak() bool {
	words, chars := 0, 0
	for _, l := range p.Literals() {
		inside := false
		for _, r := range l {
			chars++
			letter := isLetter(r)
			if letter && !inside {
				words++
			}
			inside = letter || inside && r >= '0' && r <= '9'
		}
	}
	return words < 2 || chars < 10
}

// Match returns the first place of text where the pattern stands.
func (p *Pattern) Match(text []byte) (Match, bool) {
	var found Match
	ok := false
	p.each(text, func(m Match) bool {
		found, ok = m, true
		return false
	})
	return found, ok
}

// MatchAll returns every place of text where the pattern stands, from left to
// right and without overlap.
func (p *Pattern) MatchAll(text []byte) []Match {
	var all []Match
	p.each(text, func(m Match) bool {
		all = append(all, m)
		return true
	})
	return all
}

// exprOf makes an expression of a template: text, with ${…} for gaps.
func exprOf(template string) string {
	var b strings.Builder
	used := map[string]bool{}
	for {
		i := strings.Index(template, "${")
		if i < 0 {
			break
		}
		end := i + 2
		for depth := 1; end < len(template); end++ {
			if template[end] == '{' {
				depth++
			} else if template[end] == '}' {
				if depth--; depth == 0 {
					break
				}
			}
		}
		if end == len(template) {
			break
		}
		name := groupName(template[i+2 : end])
		for n := 2; used[name]; n++ {
			name = groupName(template[i+2:end]) + strconv.Itoa(n)
		}
		used[name] = true
		b.WriteString(regexp.QuoteMeta(template[:i]))
		b.WriteString("(?P<" + name + ">.+?)")
		template = template[end+1:]
	}
	b.WriteString(regexp.QuoteMeta(template))
	return b.String()
}

// groupName returns the last word of a placeholder such as driver.driver, or
// value when it has none.
func groupName(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return r >= 0x80 || !isWord(byte(r)) })
	for i := len(words) - 1; i >= 0; i-- {
		if !isDigit(words[i][0]) {
			return words[i]
		}
	}
	return "value"
}

// shorten cuts text for an error message.
func shorten(s string) string {
	if len(s) > 80 {
		return s[:77] + "..."
	}
	return s
}
