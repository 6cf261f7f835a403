package conformance

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
	"unicode"

	"errorkb/internal/kb"
)

const (
	faultPackage = "errorkb/internal/runtime/fault"
	wirePackage  = "errorkb/internal/runtime/wire"
)

// reader finds the places of one package that make errors or texts of errors.
type reader struct {
	*source
	set       *token.FileSet
	constants map[string]string
	packages  map[string]string // of the file: local name → import path
	symbol    string            // of the declaration
	helpers   []helper
}

// helper is a function that makes an error from a text that it is given.
type helper struct {
	name  string
	param int // which of its parameters is the text
}

func (r *reader) read(file *ast.File) {
	r.packages = map[string]string{}
	for _, spec := range file.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		local := path.Base(imported)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		r.packages[local] = imported
		if local == "." && makers[imported] != nil {
			r.hide(spec, "%s is imported with a dot", imported)
		}
	}
	for _, decl := range file.Decls {
		r.symbol = ""
		if f, ok := decl.(*ast.FuncDecl); ok {
			r.symbol = symbolOf(f)
			at := r.set.Position(f.Pos())
			r.bodies = append(r.bodies, body{at.Filename, r.symbol, at.Line, r.set.Position(f.End()).Line})
			if f.Recv != nil && f.Name.Name == "Error" && !r.in(f, faultPackage) {
				r.hide(f, "%s makes its type an error; errors are made by package fault", r.symbol)
			}
		}
		var around []ast.Node
		ast.Inspect(decl, func(n ast.Node) bool {
			if n == nil {
				around = around[:len(around)-1]
				return true
			}
			around = append(around, n)
			r.node(n, around)
			return true
		})
	}
}

// in reports whether a node stands in the source of a package.
func (r *reader) in(n ast.Node, imported string) bool {
	return path.Dir(r.set.Position(n.Pos()).Filename) == strings.TrimPrefix(imported, "errorkb/internal/runtime/")
}

func (r *reader) hide(n ast.Node, format string, args ...any) {
	at := r.set.Position(n.Pos())
	r.hidden = append(r.hidden, fmt.Sprintf("%s:%d: %s", at.Filename, at.Line, fmt.Sprintf(format, args...)))
}

// isMaker reports whether an expression is a function that makes errors.
func (r *reader) isMaker(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	local, ok := s.X.(*ast.Ident)
	return ok && slices.Contains(makers[r.packages[local.Name]], s.Sel.Name)
}

// isType reports whether an expression is a type of another package.
func (r *reader) isType(e ast.Expr, imported, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	local, ok := s.X.(*ast.Ident)
	return ok && r.packages[local.Name] == imported
}

// node reads one node; around ends with it.
func (r *reader) node(n ast.Node, around []ast.Node) {
	switch n := n.(type) {
	case *ast.CallExpr:
		if !r.isMaker(n.Fun) {
			if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "new" && len(n.Args) == 1 && r.isType(n.Args[0], faultPackage, "Error") {
				r.hide(n, "an error is made past fault.New")
			}
			return
		}
		var text ast.Expr
		if len(n.Args) > 0 {
			text = n.Args[0]
		}
		r.raise(n, text)
		r.noteHelper(n, around)
	case *ast.SelectorExpr:
		if call, ok := around[max(0, len(around)-2)].(*ast.CallExpr); r.isMaker(n) && (!ok || call.Fun != ast.Expr(n)) {
			r.hide(n, "%s is used as a value", types.ExprString(n))
		}
	case *ast.CompositeLit:
		switch {
		case r.isType(n.Type, faultPackage, "Error"):
			r.hide(n, "an error is made past fault.New")
		case r.isType(n.Type, wirePackage, "Error"):
			r.raise(n, member(n, "Message"))
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok {
			r.resultText(key.Name, n.Value)
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if s, ok := left.(*ast.SelectorExpr); ok {
				r.resultText(s.Sel.Name, n.Rhs[min(i, len(n.Rhs)-1)])
			}
		}
	}
}

// member is the value of a member of a literal, nil when it has none.
func member(lit *ast.CompositeLit, name string) ast.Expr {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok && key.Name == name {
				return kv.Value
			}
		}
	}
	return nil
}

func (r *reader) raise(at ast.Node, text ast.Expr) {
	position := r.set.Position(at.Pos())
	made := raise{Place: kb.Place{File: position.Filename, Line: position.Line, Symbol: r.symbol}}
	if text != nil {
		constant := false
		if made.template, constant = textOf(text, r.constants); !constant {
			made.from = types.ExprString(text)
		}
	}
	r.raises = append(r.raises, made)
}

// resultMembers are members of results in which texts of errors reach a caller
// without being errors.
var resultMembers = []string{"Errors", "Stderr"}

// resultText finds words of its own in such a member. What is made by a maker is
// found there.
func (r *reader) resultText(name string, value ast.Expr) {
	if !slices.Contains(resultMembers, name) {
		return
	}
	said := false
	ast.Inspect(value, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && r.isMaker(call.Fun) {
			return false
		}
		if e, ok := n.(ast.Expr); ok {
			text, ok := textOf(e, r.constants)
			said = said || ok && saysSomething(text)
		}
		return !said
	})
	if said {
		r.raise(value, value)
	}
}

// saysSomething reports whether a template has words besides its values.
func saysSomething(template string) bool {
	return strings.ContainsFunc(skeletonOf(template), unicode.IsLetter)
}

// noteHelper notes the function around a maker when a parameter of that function
// is all that the error says.
func (r *reader) noteHelper(call *ast.CallExpr, around []ast.Node) {
	if len(call.Args) == 0 {
		return
	}
	if text, ok := textOf(call.Args[0], r.constants); ok && saysSomething(text) {
		return
	}
	for i, n := range slices.Backward(around) {
		var params *ast.FieldList
		name := ""
		switch f := n.(type) {
		case *ast.FuncDecl:
			params, name = f.Type.Params, f.Name.Name
		case *ast.FuncLit:
			params = f.Type.Params
			if i > 0 {
				name = nameOf(f, around[i-1])
			}
		}
		if name == "" {
			continue
		}
		at := 0
		for _, field := range params.List {
			for _, param := range field.Names {
				if mentions(call.Args, param.Name) {
					r.helpers = append(r.helpers, helper{name, at})
				}
				at++
			}
		}
	}
}

// nameOf is the name that a function literal is given, "" when it has none.
func nameOf(f *ast.FuncLit, around ast.Node) string {
	switch around := around.(type) {
	case *ast.AssignStmt:
		if i := slices.Index(around.Rhs, ast.Expr(f)); i >= 0 && i < len(around.Lhs) {
			if id, ok := around.Lhs[i].(*ast.Ident); ok {
				return id.Name
			}
		}
	case *ast.ValueSpec:
		if i := slices.Index(around.Values, ast.Expr(f)); i >= 0 && i < len(around.Names) {
			return around.Names[i].Name
		}
	}
	return ""
}

func mentions(args []ast.Expr, name string) bool {
	return slices.ContainsFunc(args, func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return ok && id.Name == name
	})
}

// helped finds the calls that give a helper of the package a constant text: the
// text is made into an error there.
func (r *reader) helped(files []*ast.File) {
	for _, file := range files {
		for _, decl := range file.Decls {
			r.symbol = ""
			if f, ok := decl.(*ast.FuncDecl); ok {
				r.symbol = symbolOf(f)
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				name := ""
				switch f := call.Fun.(type) {
				case *ast.Ident:
					name = f.Name
				case *ast.SelectorExpr:
					name = f.Sel.Name
				}
				for _, h := range r.helpers {
					if h.name != name || h.param >= len(call.Args) {
						continue
					}
					if text, ok := textOf(call.Args[h.param], r.constants); ok && saysSomething(text) {
						r.raise(call, call.Args[h.param])
					}
				}
				return true
			})
		}
	}
}
