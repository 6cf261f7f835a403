package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"

	"errorkb/internal/kb"
)

// kind is a way to break the runtime.
type kind string

const (
	message kind = "message" // the template of a documented message is another
	guard   kind = "guard"   // a guard that raises a documented error never does
	swap    kind = "swap"    // the second of two neighbouring guards is tried first
	code    kind = "code"    // a documented error has another code, key or class
)

var kinds = []kind{message, guard, swap, code}

func (k kind) title() string {
	return map[kind]string{
		message: "message changed", guard: "guard removed", swap: "neighbouring guards swapped", code: "code, key or class changed",
	}[k]
}

// mutant is one way to break the runtime at one place.
type mutant struct {
	Kind    kind
	Name    string   // says kind, place and message; stays the same when lines move
	Records []string // ids of the records concerned
	number  int
}

const faultPackage = "errorkb/internal/runtime/fault"

// tree is the source under change.
type tree struct {
	set       *token.FileSet
	files     map[string]*file
	raises    []*raise
	checks    []*check
	mutants   []*mutant
	unguarded []string // documented raises without a guard of their own
}

type file struct {
	name   string
	data   []byte
	syntax *ast.File
	edits  []edit
}

// raise is a call of fault.New.
type raise struct {
	kb.RaisePlace
	file  *file
	call  *ast.CallExpr
	codes []*ast.CallExpr // WithCode, WithKey and WithClass of it
	// guarded says that some check decides whether it happens.
	guarded bool
}

// check is an if statement or a case of a switch that decides.
type check struct {
	file  *file
	node  ast.Node   // *ast.IfStmt or *ast.CaseClause
	conds []ast.Expr // it fires when one of them holds
	body  []ast.Stmt
	// inverse is set for the else branch of an if: it fires when the condition
	// does not hold.
	inverse bool
	raises  []*raise
}

// readTree reads the source and finds all mutants. fsys is the folder
// internal/runtime, places are the places in it that raise errors.
func readTree(fsys fs.FS, places []kb.RaisePlace) (*tree, error) {
	t := &tree{set: token.NewFileSet(), files: map[string]*file{}}
	names, err := goFiles(fsys)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		syntax, err := parser.ParseFile(t.set, name, data, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		f := &file{name: name, data: data, syntax: syntax}
		t.files[name] = f
		t.read(f, places)
	}
	if !slices.ContainsFunc(t.raises, func(r *raise) bool { return r.Record != nil }) {
		return nil, fmt.Errorf("no place raises a documented error; is it the right folder?")
	}
	t.findBareGuards()
	// What is wrapped first ends up inside.
	t.messages()
	t.codes()
	t.guards()
	t.swaps()
	return t, nil
}

// read finds the raises of a file and their guards.
func (t *tree) read(f *file, places []kb.RaisePlace) {
	local := ""
	for _, spec := range f.syntax.Imports {
		if strings.Trim(spec.Path.Value, `"`) == faultPackage {
			local = "fault"
			if spec.Name != nil {
				local = spec.Name.Name
			}
		}
	}
	if local == "" {
		return
	}
	walk(f.syntax, func(path []ast.Node) {
		call, ok := path[len(path)-1].(*ast.CallExpr)
		if !ok || !isSelector(call.Fun, local, "New") || len(call.Args) == 0 {
			return
		}
		line := t.set.Position(call.Pos()).Line
		at := slices.IndexFunc(places, func(p kb.RaisePlace) bool { return p.File == f.name && p.Line == line })
		if at < 0 {
			return
		}
		r := &raise{RaisePlace: places[at], file: f, call: call, codes: codesOf(path)}
		if c := guardOf(f, path); c != nil {
			t.guardedBy(c, r)
		}
		t.raises = append(t.raises, r)
	})
}

// guardedBy notes that a check decides about a raise.
func (t *tree) guardedBy(c *check, r *raise) {
	r.guarded = true
	for _, have := range t.checks {
		if have.node == c.node && have.inverse == c.inverse {
			have.raises = append(have.raises, r)
			return
		}
	}
	c.raises = []*raise{r}
	t.checks = append(t.checks, c)
}

// walk calls visit for each node with the nodes around it, the outermost first.
func walk(top ast.Node, visit func(path []ast.Node)) {
	var path []ast.Node
	ast.Inspect(top, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		visit(path)
		return true
	})
}

func isSelector(e ast.Expr, x, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	id, ok := s.X.(*ast.Ident)
	return ok && id.Name == x
}

// codesOf finds the calls that give an error its code, key and class.
func codesOf(path []ast.Node) []*ast.CallExpr {
	var list []*ast.CallExpr
	for i := len(path) - 2; i >= 1; i -= 2 {
		s, ok := path[i].(*ast.SelectorExpr)
		if !ok {
			break
		}
		call, ok := path[i-1].(*ast.CallExpr)
		if !ok || call.Fun != s {
			break
		}
		switch s.Sel.Name {
		case "WithCode", "WithKey", "WithClass":
			list = append(list, call)
		}
	}
	return list
}

// guardOf finds the innermost check that decides whether a node is reached.
func guardOf(f *file, path []ast.Node) *check {
	for i := len(path) - 2; i >= 0; i-- {
		inner := path[i+1]
		switch n := path[i].(type) {
		case *ast.FuncLit, *ast.FuncDecl, *ast.CommClause:
			return nil
		case *ast.IfStmt:
			if n.Body == inner {
				return &check{file: f, node: n, conds: []ast.Expr{n.Cond}, body: n.Body.List}
			}
			if block, ok := n.Else.(*ast.BlockStmt); ok && ast.Node(block) == inner {
				return &check{file: f, node: n, conds: []ast.Expr{n.Cond}, body: block.List, inverse: true}
			}
		case *ast.CaseClause:
			// path[i-1] is the block of the switch, path[i-2] the switch.
			outer, ok := path[i-2].(*ast.SwitchStmt)
			if !ok || outer.Tag != nil || n.List == nil {
				return nil
			}
			return &check{file: f, node: n, conds: n.List, body: n.Body}
		}
	}
	return nil
}

// findBareGuards gives a raise that a function does nothing but make the guards
// of the calls of that function.
func (t *tree) findBareGuards() {
	for _, r := range t.raises {
		if r.Record == nil || r.guarded {
			continue
		}
		name, bare := bareFunction(r)
		if bare {
			for _, file := range sorted(t.files) {
				f := t.files[file]
				if path.Dir(f.name) == path.Dir(r.File) {
					t.guardCallers(f, name, r)
				}
			}
		}
	}
}

// bareFunction names the function whose first statement is the raise.
func bareFunction(r *raise) (string, bool) {
	for _, decl := range r.file.syntax.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if ok && f.Body != nil && f.Pos() <= r.call.Pos() && r.call.End() <= f.End() {
			first := f.Body.List[0]
			return f.Name.Name, first.Pos() <= r.call.Pos() && r.call.End() <= first.End()
		}
	}
	return "", false
}

func (t *tree) guardCallers(f *file, name string, r *raise) {
	walk(f.syntax, func(path []ast.Node) {
		call, ok := path[len(path)-1].(*ast.CallExpr)
		if !ok {
			return
		}
		switch fun := call.Fun.(type) {
		case *ast.Ident:
			ok = fun.Name == name
		case *ast.SelectorExpr:
			ok = fun.Sel.Name == name
		default:
			ok = false
		}
		if !ok {
			return
		}
		if c := guardOf(f, path); c != nil {
			t.guardedBy(c, r)
		}
	})
}

// symbolAt names the function around a node, as in (*T).name.
func symbolAt(f *file, n ast.Node) string {
	for _, decl := range f.syntax.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok || n.Pos() < d.Pos() || d.End() < n.End() {
			continue
		}
		if d.Recv == nil {
			return d.Name.Name
		}
		recv := strings.ReplaceAll(f.text(d.Recv.List[0].Type), " ", "")
		if strings.HasPrefix(recv, "*") {
			recv = "(" + recv + ")"
		}
		return recv + "." + d.Name.Name
	}
	return ""
}
