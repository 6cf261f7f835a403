package conformance

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"errorkb/internal/kb"
)

// source is what is read from the source of the runtime.
type source struct {
	raises []raise
	hidden []string            // constructs that could make an error past the reader
	lines  map[string][]string // of each file
	bodies []body
}

// raise is a place that can raise an error.
type raise struct {
	kb.Place
	template string // what the message is made from, "" when that is not a constant
	from     string // the expression that it is made from, when that is not a constant
}

// body is where a function stands.
type body struct {
	file, symbol string
	start, end   int // lines
}

// makers are the functions that make an error, by package and name.
var makers = map[string][]string{
	faultPackage: {"New", "Received"},
	"errors":     {"New"},
	"fmt":        {"Errorf"},
}

// readSource reads every file that is built into a program. fsys is the folder
// internal/runtime.
func readSource(fsys fs.FS) (*source, error) {
	s := &source{lines: map[string][]string{}}
	folders := map[string][]*ast.File{}
	set := token.NewFileSet()
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(set, name, data, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		s.lines[name] = strings.Split(string(data), "\n")
		folders[path.Dir(name)] = append(folders[path.Dir(name)], file)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("source of the runtime: %w", err)
	}
	for _, files := range folders {
		r := &reader{source: s, set: set, constants: textConstants(files)}
		for _, file := range files {
			r.read(file)
		}
		r.helped(files)
	}
	slices.Sort(s.hidden)
	if len(s.raises) == 0 {
		return nil, fmt.Errorf("source of the runtime: no place raises an error; is it the right folder?")
	}
	slices.SortFunc(s.raises, func(a, b raise) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.template, b.template))
	})
	return s, nil
}

// textConstants evaluates the constants of a package that are text. One may be
// made of others that come later.
func textConstants(files []*ast.File) map[string]string {
	values := map[string]string{}
	for known := -1; known < len(values); {
		known = len(values)
		for _, file := range files {
			for _, decl := range file.Decls {
				if group, ok := decl.(*ast.GenDecl); ok && group.Tok == token.CONST {
					addConstants(values, group)
				}
			}
		}
	}
	return values
}

func addConstants(values map[string]string, group *ast.GenDecl) {
	for _, spec := range group.Specs {
		value, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for i, name := range value.Names {
			if i < len(value.Values) {
				if text, ok := textOf(value.Values[i], values); ok {
					values[name.Name] = text
				}
			}
		}
	}
}

// textOf evaluates an expression that is a text known from the source.
func textOf(e ast.Expr, constants map[string]string) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		return constant.StringVal(constant.MakeFromLiteral(e.Value, token.STRING, 0)), true
	case *ast.Ident:
		text, ok := constants[e.Name]
		return text, ok
	case *ast.BinaryExpr:
		left, ok1 := textOf(e.X, constants)
		right, ok2 := textOf(e.Y, constants)
		return left + right, ok1 && ok2 && e.Op == token.ADD
	case *ast.ParenExpr:
		return textOf(e.X, constants)
	}
	return "", false
}

// symbolOf names a function as the runtime names it in a trace.
func symbolOf(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	kind := f.Recv.List[0].Type
	if pointer, ok := kind.(*ast.StarExpr); ok {
		return "(*" + typeName(pointer.X) + ")." + f.Name.Name
	}
	return typeName(kind) + "." + f.Name.Name
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	}
	return "?"
}

var printfVerb = regexp.MustCompile(`%[-+#0]*[0-9]*(?:\.[0-9]+)?[a-zA-Z]`)

// gap stands for a value in a skeleton.
const gap = "\x00"

// skeletonOf is a template of the runtime without the names of its values.
func skeletonOf(template string) string {
	template = strings.ReplaceAll(template, "%q", `"%s"`)
	return strings.ReplaceAll(printfVerb.ReplaceAllString(template, gap), "%%", "%")
}

// skeletonOfMessage is the same of the message of a record.
func skeletonOfMessage(message string) string {
	for _, hole := range kb.Placeholders(message) {
		message = strings.Replace(message, hole, gap, 1)
	}
	return message
}

// raises reports whether a template can become a message. What follows a whole
// message, such as an excerpt of error output, does not matter.
func sameMessage(template, message string) bool {
	skeleton := skeletonOf(template)
	return skeleton == message || skeleton == message+gap && strings.Contains(message, gap)
}

// of returns the places that raise the message of a record.
func (s *source) of(r *kb.Record) []raise {
	message := skeletonOfMessage(r.ErrorMessage)
	var list []raise
	for _, place := range s.raises {
		if place.template != "" && sameMessage(place.template, message) {
			list = append(list, place)
		}
	}
	return list
}

// at returns the raise at a place, false when nothing is raised there.
func (s *source) at(file string, line int) (raise, bool) {
	for _, r := range s.raises {
		if r.File == file && r.Line == line {
			return r, true
		}
	}
	return raise{}, false
}

// Lines that are shown around the one that raises an error.
const (
	linesBefore = 10
	linesAfter  = 4
)

// excerpt gives a place with the lines around it, at most those of its
// function.
func (s *source) excerpt(p kb.Place) kb.ProofPlace {
	all := s.lines[p.File]
	start, end := max(1, p.Line-linesBefore), min(len(all), p.Line+linesAfter)
	for _, b := range s.bodies {
		if b.file == p.File && b.start <= p.Line && p.Line <= b.end {
			start, end = max(start, b.start), min(end, b.end)
		}
	}
	if start > end {
		return kb.ProofPlace{Place: p, Lines: []string{}}
	}
	return kb.ProofPlace{Place: p, Start: start, Lines: slices.Clone(all[start-1 : end])}
}

// cover compares the places with the records and the exemptions.
func (s *source) cover(records []*kb.Record, exempt map[string]string) ([]kb.RaisePlace, []string) {
	var places []kb.RaisePlace
	var problems []string
	messages := make([]string, len(records))
	raised := make([]bool, len(records))
	for i, r := range records {
		messages[i] = skeletonOfMessage(r.ErrorMessage)
	}
	used := map[string]bool{}
	problems = append(problems, s.hidden...)
	for _, r := range s.raises {
		place := kb.RaisePlace{Place: r.Place, Message: r.template}
		for i := range records {
			if r.template != "" && sameMessage(r.template, messages[i]) {
				place.Record = &records[i].ID
				raised[i] = true
				break
			}
		}
		key := exemptionKey(r)
		reason, exempted := exempt[key]
		switch {
		case place.Record != nil && exempted:
			problems = append(problems, fmt.Sprintf("%s: the exemption is not needed any more: record %s documents it", code(key), *place.Record))
		case place.Record == nil && !exempted:
			problems = append(problems, fmt.Sprintf("%s:%d %s: %s has neither a record nor an exemption", r.File, r.Line, r.Symbol, code(r.text())))
		case exempted:
			place.Exemption = &reason
		}
		used[key] = used[key] || exempted
		places = append(places, place)
	}
	for _, key := range sortedKeys(exempt) {
		if !used[key] {
			problems = append(problems, fmt.Sprintf("%s: the exemption is not needed any more: nothing raises it", code(key)))
		}
	}
	for i, r := range records {
		if r.Scenario != nil && !raised[i] {
			problems = append(problems, fmt.Sprintf("%s %s: no place of the runtime raises its message", r.ID, r.Slug))
		}
	}
	return places, problems
}

// exemptionKey names what an exemption is about: file, function, and what the
// message is made from.
func exemptionKey(r raise) string { return r.File + " " + r.Symbol + ": " + r.text() }

// text is the template, or in angle brackets the expression that it is made
// from, so that one exemption does not cover another.
func (r raise) text() string {
	if r.from != "" {
		return "<" + r.from + ">"
	}
	return r.template
}
