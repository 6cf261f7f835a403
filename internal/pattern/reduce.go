package pattern

import (
	"regexp/syntax"
	"strings"
	"unicode"
)

// stepKind says what a step of a variant is.
type stepKind uint8

const (
	literal stepKind = iota
	space            // a run of white space, line ends included
	gap
)

// step is a literal, a run of white space or a gap.
type step struct {
	kind stepKind
	fold bool   // literal: letters match in either case; text is in lower case
	min  int    // gap, space: 1 when it may not be empty
	text []byte // literal
	set  *class // gap: what it may hold
}

// mark is a named group: it begins off bytes into step from and ends endOff
// bytes into step to. A step that is not there is the end.
type mark struct {
	name                  []byte
	from, off, to, endOff int
}

// variant is one alternative of a pattern. Its steps form chains of literals
// and white space with gaps between them:
//
//	head gaps, chain 0, gaps, chain 1, …, chain n, tail gaps
type variant struct {
	steps  []step
	marks  []mark
	chains []span // of steps
	lines  bool   // a match may go across line ends
}

// span is a range of steps.
type span struct{ from, to int }

// draft is a variant in the making.
type draft struct {
	steps []step
	marks []mark
}

// reduce multiplies the alternatives of an expression out to lists of steps.
// It fails on what has no such form: assertions, repeated groups, sets that
// split the characters beyond ASCII.
func reduce(tree *syntax.Regexp) ([]variant, bool) {
	drafts, ok := expand(tree, []draft{{}})
	if !ok {
		return nil, false
	}
	vs := make([]variant, 0, len(drafts))
	for _, d := range drafts {
		if len(d.steps) > maxSteps {
			return nil, false
		}
		vs = append(vs, d.finish())
	}
	return vs, true
}

// expand appends the expression to each of the drafts.
func expand(re *syntax.Regexp, in []draft) ([]draft, bool) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return in, true
	case syntax.OpLiteral:
		text, fold := string(re.Rune), re.Flags&syntax.FoldCase != 0
		if fold {
			text = strings.ToLower(text)
		}
		for i := 0; fold && i < len(text); i++ {
			if text[i] >= 0x80 {
				return nil, false
			}
		}
		for i := range in {
			in[i].literal(text, fold)
		}
		return in, true
	case syntax.OpConcat:
		if st, ok := gapOf(re); ok && len(re.Sub) > 1 {
			return add(in, st), true
		}
		for _, sub := range re.Sub {
			var ok bool
			if in, ok = expand(sub, in); !ok {
				return nil, false
			}
		}
		return in, true
	case syntax.OpCapture:
		if re.Name == "" {
			return expand(re.Sub[0], in)
		}
		for i := range in {
			in[i].open(re.Name)
		}
		out, ok := expand(re.Sub[0], in)
		for i := range out {
			out[i].close(re.Name)
		}
		return out, ok
	case syntax.OpAlternate:
		return expandEach(re.Sub, in)
	case syntax.OpQuest:
		if _, ok := gapOf(re); ok {
			break
		}
		with, ok := expandEach(re.Sub, in)
		if !ok || len(with)+len(in) > maxVariants {
			return nil, false
		}
		if re.Flags&syntax.NonGreedy != 0 {
			return append(clone(in), with...), true
		}
		return append(with, clone(in)...), true
	case syntax.OpCharClass:
		if len(re.Rune) == 2 && re.Rune[0] == re.Rune[1] {
			for i := range in {
				in[i].literal(string(re.Rune[0]), false)
			}
			return in, true
		}
	case syntax.OpPlus, syntax.OpStar:
		if isSpace(re.Sub[0]) {
			s := step{kind: space}
			if re.Op == syntax.OpPlus {
				s.min = 1
			}
			return add(in, s), true
		}
	}
	if st, ok := gapOf(re); ok {
		return add(in, st), true
	}
	return nil, false
}

// expandEach multiplies the drafts by the alternatives.
func expandEach(subs []*syntax.Regexp, in []draft) ([]draft, bool) {
	var out []draft
	for _, sub := range subs {
		more, ok := expand(sub, clone(in))
		if !ok || len(out)+len(more) > maxVariants {
			return nil, false
		}
		out = append(out, more...)
	}
	return out, true
}

func clone(in []draft) []draft {
	out := make([]draft, len(in))
	for i, d := range in {
		out[i] = draft{steps: append([]step(nil), d.steps...), marks: append([]mark(nil), d.marks...)}
	}
	return out
}

func add(in []draft, s step) []draft {
	for i := range in {
		in[i].steps = append(in[i].steps, s)
	}
	return in
}

// literal appends text, merging it with a literal before it.
func (d *draft) literal(text string, fold bool) {
	if n := len(d.steps); n > 0 && d.steps[n-1].kind == literal && d.steps[n-1].fold == fold {
		d.steps[n-1].text = append(d.steps[n-1].text[:len(d.steps[n-1].text):len(d.steps[n-1].text)], text...)
		return
	}
	d.steps = append(d.steps, step{kind: literal, text: []byte(text), fold: fold})
}

// here is the place behind the last step, inside it when it is a literal.
func (d *draft) here() (at, off int) {
	if n := len(d.steps); n > 0 && d.steps[n-1].kind == literal {
		return n - 1, len(d.steps[n-1].text)
	}
	return len(d.steps), 0
}

func (d *draft) open(name string) {
	at, off := d.here()
	d.marks = append(d.marks, mark{name: []byte(name), from: at, off: off, to: -1})
}

func (d *draft) close(name string) {
	for i := range d.marks {
		if m := &d.marks[i]; m.to < 0 && string(m.name) == name {
			m.to, m.endOff = d.here()
		}
	}
}

// finish makes the variant of a draft. White space at the ends of a pattern
// says nothing and is left out.
func (d *draft) finish() variant {
	v := variant{steps: d.steps, marks: d.marks}
	for i := range v.marks {
		m := &v.marks[i]
		if m.off > 0 && m.off == len(v.steps[m.from].text) {
			m.from, m.off = m.from+1, 0
		}
	}
	return v
}

// isSpace reports whether the expression is \s.
func isSpace(re *syntax.Regexp) bool {
	if re.Op != syntax.OpCharClass {
		return false
	}
	want := []rune{'\t', '\n', '\f', '\r', ' ', ' '}
	if len(re.Rune) != len(want) {
		return false
	}
	for i, r := range want {
		if re.Rune[i] != r {
			return false
		}
	}
	return true
}

// gapOf returns the gap of an expression that is a sequence of repeated sets. An
// expression with a literal character in it is not: literals are worth more as
// literals.
func gapOf(re *syntax.Regexp) (step, bool) {
	c := &class{}
	if !c.append(re) || !c.writeOut() {
		return step{}, false
	}
	st := step{kind: gap, min: min(c.least(), 1)}
	if len(c.atoms) == 1 && c.atoms[0].max < 0 && c.atoms[0].min == 1 && (c.atoms[0].set == anyLine.union || c.atoms[0].set == anyLines.union) {
		c.atoms[0].min = 0 // a project may leave a value out; the price is in gapCost
	}
	c.finish()
	st.set = c.shared()
	return st, true
}

func (c *class) append(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !c.append(sub) {
				return false
			}
		}
		return true
	case syntax.OpPlus:
		return c.repeat(re.Sub[0], 1, -1)
	case syntax.OpStar:
		return c.repeat(re.Sub[0], 0, -1)
	case syntax.OpQuest:
		return c.repeat(re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		return c.repeat(re.Sub[0], re.Min, re.Max)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpCharClass:
		return c.repeat(re, 1, 1)
	}
	return false
}

func (c *class) repeat(re *syntax.Regexp, min, max int) bool {
	set, ok := setOf(re)
	if ok {
		c.atoms = append(c.atoms, atom{set, min, max})
	}
	return ok && len(c.atoms) <= maxAtoms
}

// writeOut writes counted repetitions out when there is more than one atom: the
// states of prefix do not count.
func (c *class) writeOut() bool {
	if len(c.atoms) == 1 {
		return true
	}
	var out []atom
	for _, a := range c.atoms {
		once := a.min
		if a.max < 0 && a.min > 0 {
			once--
		}
		last := a.max - a.min
		if a.max < 0 {
			last = 1
		}
		if len(out)+once+last > maxAtoms {
			return false
		}
		for range once {
			out = append(out, atom{a.set, 1, 1})
		}
		if a.max < 0 {
			out = append(out, atom{a.set, min(a.min, 1), -1})
			continue
		}
		for range last {
			out = append(out, atom{a.set, 0, 1})
		}
	}
	c.atoms = out
	return len(out) > 0
}

// setOf returns the set of a single-character expression.
func setOf(re *syntax.Regexp) (byteSet, bool) {
	switch re.Op {
	case syntax.OpAnyChar:
		return anyLines.union, true
	case syntax.OpAnyCharNotNL:
		return anyLine.union, true
	case syntax.OpCharClass:
	case syntax.OpLiteral:
		if len(re.Rune) == 1 && re.Rune[0] < 0x80 && re.Flags&syntax.FoldCase == 0 {
			return setOfBytes(string(re.Rune)), true
		}
		return byteSet{}, false
	default:
		return byteSet{}, false
	}
	var s byteSet
	beyond := 0
	for i := 0; i+1 < len(re.Rune); i += 2 {
		lo, hi := re.Rune[i], re.Rune[i+1]
		for r := lo; r <= hi && r < 0x80; r++ {
			s.add(byte(r))
		}
		if hi >= 0x80 {
			beyond += int(hi - max(lo, 0x80) + 1)
		}
	}
	switch beyond {
	case 0:
	case unicode.MaxRune - 0x80 + 1:
		for b := 0x80; b < 0x100; b++ {
			s.add(byte(b))
		}
	default:
		return byteSet{}, false
	}
	return s, true
}

// requiredLiterals returns literals that every match of the expression holds,
// in order.
func requiredLiterals(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []string{string(re.Rune)}
		}
	case syntax.OpCapture:
		return requiredLiterals(re.Sub[0])
	case syntax.OpPlus:
		return requiredLiterals(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return requiredLiterals(re.Sub[0])
		}
	case syntax.OpConcat:
		var all []string
		for _, sub := range re.Sub {
			all = append(all, requiredLiterals(sub)...)
		}
		return all
	}
	return nil
}
