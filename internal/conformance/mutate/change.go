package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"path"
	"slices"
	"strings"
)

// edit is a text that is put into a file. No edit has a line end, so that lines
// keep their numbers.
type edit struct {
	offset int
	text   string
	// opens is set for what stands in front of something. At the same offset
	// what closes comes first.
	opens bool
}

// alias is the name of package point in the changed files.
const alias = "mutationpoint"

const pointPackage = `import ` + alias + ` "errorkb/internal/conformance/mutate/point"`

func (t *tree) offset(p token.Pos) int { return t.set.Position(p).Offset }

// wrap puts text around a node.
func (t *tree) wrap(f *file, n ast.Node, before, after string) {
	f.edits = append(f.edits, edit{t.offset(n.Pos()), before, true}, edit{t.offset(n.End()), after, false})
}

// changed returns the files that have edits, with them.
func (t *tree) changed() map[string][]byte {
	files := map[string][]byte{}
	for name, f := range t.files {
		if len(f.edits) > 0 {
			files[name] = f.changed(t.offset(f.syntax.Name.End()))
		}
	}
	return files
}

func (f *file) changed(head int) []byte {
	edits := []edit{{head, "; " + pointPackage, false}}
	// Closing texts at one offset stand in the order in which they were added,
	// opening ones the other way round: what came later is further out.
	for _, e := range f.edits {
		if !e.opens {
			edits = append(edits, e)
		}
	}
	for _, e := range slices.Backward(f.edits) {
		if e.opens {
			edits = append(edits, e)
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.offset, b.offset) })
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, f.data[at:e.offset]...), e.text...)
		at = e.offset
	}
	return append(out, f.data[at:]...)
}

// add notes a mutant and gives it a number. A name that exists gets a count.
func (t *tree) add(k kind, name string, records ...string) int {
	name = string(k) + " " + name
	full := name
	for n := 2; slices.ContainsFunc(t.mutants, func(m *mutant) bool { return m.Name == full }); n++ {
		full = fmt.Sprintf("%s (%d)", name, n)
	}
	slices.Sort(records)
	m := &mutant{Kind: k, Name: full, Records: slices.Compact(records), number: len(t.mutants) + 1}
	t.mutants = append(t.mutants, m)
	return m.number
}

// messages changes each template of a documented message, wherever its package
// uses it.
func (t *tree) messages() {
	done := map[string]bool{} // folder and name of constant
	for _, r := range t.raises {
		if r.Record == nil {
			continue
		}
		constant, named := r.call.Args[0].(*ast.Ident)
		folder := path.Dir(r.File)
		if !named {
			n := t.add(message, r.File+" "+r.Symbol+": "+r.Message, *r.Record)
			t.wrap(r.file, r.call.Args[0], changedText(n), ")")
			continue
		}
		if key := folder + " " + constant.Name; !done[key] {
			done[key] = true
			n := t.add(message, folder+" "+constant.Name+": "+r.Message, *r.Record)
			for _, name := range sorted(t.files) {
				if path.Dir(name) == folder {
					t.wrapUses(t.files[name], constant.Name, n)
				}
			}
		}
	}
}

func changedText(n int) string { return fmt.Sprintf("%s.Text(%d, ", alias, n) }

// wrapUses changes each use of a constant, apart from other constants.
func (t *tree) wrapUses(f *file, name string, n int) {
	ast.Inspect(f.syntax, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.GenDecl:
			return node.Tok != token.CONST
		case *ast.SelectorExpr:
			ast.Inspect(node.X, func(inner ast.Node) bool {
				if id, ok := inner.(*ast.Ident); ok && id.Name == name {
					t.wrap(f, id, changedText(n), ")")
				}
				return true
			})
			return false
		case *ast.Ident:
			if node.Name == name {
				t.wrap(f, node, changedText(n), ")")
			}
		}
		return true
	})
}

// codes changes each code, key and class of a documented error.
func (t *tree) codes() {
	for _, r := range t.raises {
		if r.Record == nil {
			continue
		}
		for _, call := range r.codes {
			method := call.Fun.(*ast.SelectorExpr).Sel.Name
			n := t.add(code, r.File+" "+r.Symbol+" "+method+": "+r.Message, *r.Record)
			function := "Text"
			if method == "WithCode" {
				function = "Code"
			}
			t.wrap(r.file, call.Args[0], fmt.Sprintf("%s.%s(%d, ", alias, function, n), ")")
		}
	}
}

// guards lets each check that raises a documented error never fire.
func (t *tree) guards() {
	for _, c := range t.checks {
		records := c.records()
		if len(records) == 0 {
			continue
		}
		n := t.add(guard, c.name(t), records...)
		for _, cond := range c.conds {
			if c.inverse {
				t.wrap(c.file, cond, "(", fmt.Sprintf(") || %s.On(%d)", alias, n))
			} else {
				t.wrap(c.file, cond, "(", fmt.Sprintf(") && !%s.On(%d)", alias, n))
			}
		}
	}
	for _, r := range t.raises {
		if r.Record != nil && !r.guarded {
			t.unguarded = append(t.unguarded, r.File+" "+r.Symbol+": "+r.Message)
		}
	}
}

// records lists the ids of the records that a check raises.
func (c *check) records() []string {
	var ids []string
	for _, r := range c.raises {
		if r.Record != nil {
			ids = append(ids, *r.Record)
		}
	}
	return ids
}

func (c *check) name(t *tree) string {
	var templates []string
	for _, r := range c.raises {
		templates = append(templates, r.Message)
	}
	return c.file.name + " " + symbolAt(c.file, c.node) + ": " + strings.Join(templates, " + ")
}

// swaps tries the second of two neighbouring guards first. Guards are
// neighbours when they are cases of one switch or links of one chain, or stand
// in one block with nothing between them that can leave it; what stands between
// them goes ahead with the second.
func (t *tree) swaps() {
	for _, name := range sorted(t.files) {
		f := t.files[name]
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BlockStmt:
				t.swapsIn(f, n.List)
			case *ast.CaseClause:
				t.swapsIn(f, n.Body)
			case *ast.CommClause:
				t.swapsIn(f, n.Body)
			case *ast.IfStmt:
				if next, ok := n.Else.(*ast.IfStmt); ok {
					t.swap(t.checkAt(n), t.checkAt(next), nil)
				}
			}
			return true
		})
	}
}

func (t *tree) checkAt(n ast.Node) *check {
	for _, c := range t.checks {
		if c.node == n && !c.inverse {
			return c
		}
	}
	return nil
}

func (t *tree) swapsIn(f *file, list []ast.Stmt) {
	var last *check
	var between []ast.Stmt
	for _, s := range list {
		c := t.checkAt(s)
		if branch, ok := s.(*ast.IfStmt); ok && branch.Else != nil {
			c = nil
		}
		switch {
		case c != nil:
			t.swap(last, c, between)
			last, between = c, nil
		case last == nil:
		case leaves(s):
			last, between = nil, nil
		default:
			between = append(between, s)
		}
	}
}

// leaves reports whether a statement can leave its block or has to stay where
// it is.
func leaves(s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ReturnStmt, *ast.BranchStmt, *ast.DeferStmt, *ast.GoStmt, *ast.LabeledStmt, *ast.CaseClause:
			found = true
		}
		return !found
	})
	return found
}

// swap makes a mutant of two guards if one of them is documented.
func (t *tree) swap(a, b *check, between []ast.Stmt) {
	if a == nil || b == nil {
		return
	}
	records := append(a.records(), b.records()...)
	if len(records) == 0 {
		return
	}
	f := a.file
	_, second, _ := strings.Cut(b.name(t), ": ")
	n := t.add(swap, a.name(t)+" <> "+second, records...)
	on := fmt.Sprintf("%s.On(%d)", alias, n)
	if first, ok := a.node.(*ast.IfStmt); ok && !ends(a.body) {
		// Both may fire. The first one moves behind the second.
		for _, cond := range a.conds {
			t.wrap(f, cond, "(", ") && !"+on)
		}
		f.edits = append(f.edits, edit{t.offset(b.node.End()), "; if " + on + " { " + f.text(first) + " }", false})
		return
	}
	// One of the two fires: the first one does not when the second one would.
	for _, cond := range a.conds {
		t.wrap(f, cond, "(", ") && !("+on+" && "+f.holds(b, between)+")")
	}
}

// ends reports whether statements leave their block at the end.
func ends(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch list[len(list)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	}
	return false
}

// holds is an expression that says whether a check would fire.
func (f *file) holds(c *check, before []ast.Stmt) string {
	var conds []string
	for _, cond := range c.conds {
		conds = append(conds, "("+f.text(cond)+")")
	}
	cond := "(" + strings.Join(conds, " || ") + ")"
	if s, ok := c.node.(*ast.IfStmt); ok && s.Init != nil {
		before = append(slices.Clone(before), s.Init)
	}
	if len(before) == 0 {
		return cond
	}
	var b strings.Builder
	b.WriteString("func() bool { ")
	for _, s := range before {
		b.WriteString(f.text(s) + "; ")
		for _, name := range declared(s) {
			b.WriteString("_ = " + name + "; ")
		}
	}
	return b.String() + "return " + cond + " }()"
}

// declared lists the variables that a statement declares.
func declared(s ast.Stmt) []string {
	var names []string
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			for _, e := range s.Lhs {
				if id, ok := e.(*ast.Ident); ok {
					names = append(names, id.Name)
				}
			}
		}
	case *ast.DeclStmt:
		for _, spec := range s.Decl.(*ast.GenDecl).Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				for _, id := range v.Names {
					names = append(names, id.Name)
				}
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "_" })
}

// text is the source of a node in one line, without comments.
func (f *file) text(n ast.Node) string {
	base := f.syntax.FileStart
	src := f.data[n.Pos()-base : n.End()-base]
	var s scanner.Scanner
	set := token.NewFileSet()
	s.Init(set.AddFile("", set.Base(), len(src)), src, nil, 0)
	var b strings.Builder
	for {
		_, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return strings.TrimSuffix(strings.TrimSpace(b.String()), " ;")
		case tok == token.SEMICOLON:
			b.WriteString(" ;")
		case lit != "":
			b.WriteString(" " + strings.ReplaceAll(lit, "\n", " "))
		default:
			b.WriteString(" " + tok.String())
		}
	}
}
