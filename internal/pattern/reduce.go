package pattern

import (
	"regexp/syntax"
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
	fold bool   // literal: letters match in either case
	text string // literal
	min  int    // gap, space: least number of characters
	set  *class // gap: what it may hold
}

// mark is a named group: it begins off bytes into step from, and ends endOff
// bytes into step to.
type mark struct {
	name       int // index into Pattern.names
	from, off  int
	to, endOff int
}

// variant is one alternative of a pattern. Its steps form chains of literals
// and white space with gaps between them:
//
//	head gaps, chain 0, gaps 0, chain 1, …, chain n, tail gaps
type variant struct {
	steps  []step
	marks  []mark
	chains []span // of steps
	lines  bool   // a match may go across line ends
}

// span is a range of steps, or of bytes.
type span struct{ from, to int }

// class is what a gap may hold: a sequence of atoms, each a repeated set.
type class struct {
	atoms []atom
	union byteSet
	any   bool // one atom that takes everything, line ends perhaps excepted
}

// atom is a set of characters repeated min to max times; max is -1 for no end.
type atom struct {
	set      byteSet
	min, max int
}

// byteSet is a set of bytes. Characters beyond ASCII are in it all or none.
type byteSet [4]uint64

func (s *byteSet) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *byteSet) has(b byte) bool { return s[b>>6]>>(b&63)&1 != 0 }

var (
	anyLine  = &class{atoms: []atom{{set: allBut('\n'), min: 0, max: -1}}, union: allBut('\n'), any: true}
	anyLines = &class{atoms: []atom{{set: allBut(0x100), min: 0, max: -1}}, union: allBut(0x100), any: true}
)

func allBut(c int) byteSet {
	var s byteSet
	for b := range 256 {
		if b != c {
			s.add(byte(b))
		}
	}
	return s
}

// draft is a variant in the making.
type draft struct {
	steps []step
	marks []mark
}

// reduce multiplies the alternatives of an expression out to lists of steps.
// It fails on what has no such form: assertions, repeated groups, sets that
// split the characters beyond ASCII.
func reduce(tree *syntax.Regexp) ([]variant, bool) {
	names := 0
	drafts, ok := expand(tree, []draft{{}}, &names)
	if !ok {
		return nil, false
	}
	vs := make([]variant, 0, len(drafts))
	for _, d := range drafts {
		vs = append(vs, finish(d))
	}
	return vs, true
}

// expand appends the expression to each of the drafts.
func expand(re *syntax.Regexp, in []draft, names *int) ([]draft, bool) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return in, true
	case syntax.OpLiteral:
		for i := range in {
			in[i].literal(string(re.Rune), re.Flags&syntax.FoldCase != 0)
		}
		return in, true
	case syntax.OpConcat:
		if c, min, ok := shapeOf(re); ok && len(re.Sub) > 1 {
			return add(in, step{kind: gap, set: c, min: min}), true
		}
		for _, sub := range re.Sub {
			var ok bool
			if in, ok = expand(sub, in, names); !ok {
				return nil, false
			}
		}
		return in, true
	case syntax.OpCapture:
		if re.Name == "" {
			return expand(re.Sub[0], in, names)
		}
		name := *names
		*names++
		for i := range in {
			in[i].open(name)
		}
		out, ok := expand(re.Sub[0], in, names)
		for i := range out {
			out[i].close(name)
		}
		return out, ok
	case syntax.OpAlternate:
		return expandEach(re.Sub, in, names)
	case syntax.OpQuest:
		if _, _, ok := shapeOf(re); ok {
			break
		}
		with, ok := expandEach(re.Sub, in, names)
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
	if c, min, ok := shapeOf(re); ok {
		return add(in, step{kind: gap, set: c, min: min}), true
	}
	return nil, false
}

// expandEach multiplies the drafts by the alternatives.
func expandEach(subs []*syntax.Regexp, in []draft, names *int) ([]draft, bool) {
	var out []draft
	for _, sub := range subs {
		more, ok := expand(sub, clone(in), names)
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
		d.steps[n-1].text += text
		return
	}
	d.steps = append(d.steps, step{kind: literal, text: text, fold: fold})
}

// here is the place behind the last step, inside it when it is a literal.
func (d *draft) here() (at, off int) {
	if n := len(d.steps); n > 0 && d.steps[n-1].kind == literal {
		return n - 1, len(d.steps[n-1].text)
	}
	return len(d.steps), 0
}

func (d *draft) open(name int) {
	at, off := d.here()
	d.marks = append(d.marks, mark{name: name, from: at, off: off, to: -1})
}

func (d *draft) close(name int) {
	for i := range d.marks {
		if m := &d.marks[i]; m.name == name && m.to < 0 {
			m.to, m.endOff = d.here()
		}
	}
}

// finish finds the chains of a draft.
func finish(d draft) variant {
	v := variant{steps: d.steps, marks: d.marks}
	for i := range v.marks {
		m := &v.marks[i]
		if m.off > 0 && m.off == len(v.steps[m.from].text) {
			m.from, m.off = m.from+1, 0
		}
	}
	for i := 0; i < len(v.steps); i++ {
		s := &v.steps[i]
		v.lines = v.lines || s.kind == space || s.kind == gap && s.set.union.has('\n') ||
			s.kind == literal && indexByte(s.text, '\n') >= 0
		if s.kind == gap {
			continue
		}
		from := i
		for i+1 < len(v.steps) && v.steps[i+1].kind != gap {
			i++
			v.lines = v.lines || v.steps[i].kind == space || indexByte(v.steps[i].text, '\n') >= 0
		}
		v.chains = append(v.chains, span{from, i + 1})
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

// shapeOf returns the class of an expression that is a sequence of repeated
// sets, and its least length. An expression with a literal character in it is
// not such a sequence: literals are worth more as literals.
func shapeOf(re *syntax.Regexp) (*class, int, bool) {
	c := &class{}
	if !c.append(re) {
		return nil, 0, false
	}
	min := 0
	for _, a := range c.atoms {
		min += a.min
		for i := range c.union {
			c.union[i] |= a.set[i]
		}
	}
	if len(c.atoms) == 1 && c.atoms[0].max < 0 {
		switch c.atoms[0].set {
		case anyLine.union:
			return anyLine, min, true
		case anyLines.union:
			return anyLines, min, true
		}
	}
	return c, min, true
}

func (c *class) append(re *syntax.Regexp) bool {
	if len(c.atoms) >= 16 {
		return false
	}
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
	return ok
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
			var s byteSet
			s.add(byte(re.Rune[0]))
			return s, true
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

// namesOf returns the names of the groups in order of appearance.
func namesOf(re *syntax.Regexp) []string {
	var names []string
	for _, n := range re.CapNames() {
		if n != "" {
			names = append(names, n)
		}
	}
	return names
}

// shortest returns the literals of the variant with the least literal text.
func shortest(vs []variant) []string {
	var best []string
	least := -1
	for _, v := range vs {
		var ls []string
		n := 0
		for _, c := range v.chains {
			s := ""
			for _, st := range v.steps[c.from:c.to] {
				if st.kind == space {
					s += " "
				} else {
					s += st.text
				}
			}
			n += len(s)
			ls = append(ls, s)
		}
		if least < 0 || n < least {
			least, best = n, ls
		}
	}
	return best
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
