package kb

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// MaxFileSize is the largest record file that is read, in bytes. A long record
// has 20 kB; beyond this somebody put a log or a picture into it.
const MaxFileSize = 1 << 20

// Source is a record together with the file it was read from.
type Source struct {
	Path    string // below the records folder, with slashes
	Data    []byte // the file as read
	Version int    // of the record format in the file: 2 or 3
	Record  *Record
	Sum     Sum // of the record when it is known, else zero; NewSet works it out then
}

// Decode reads one record file: version 3, or version 2 bare or in its
// envelope. A version 2 record is upgraded in memory, each of its values kept
// as it is. The findings are about the text and the types; whether the values
// make sense is for package lint. Source is nil when nothing could be read.
func Decode(path string, data []byte) (*Source, []Finding) {
	d := decoder{path: path, data: data}
	if len(data) > MaxFileSize {
		return nil, append(d.findings, tooLarge(path))
	}
	root, problems, ok := parseTree(data)
	for _, p := range problems {
		d.report(p.offset, "", p.code, FindingError, p.message, p.advice)
	}
	if !ok {
		return nil, d.findings
	}
	record := d.source(&root)
	if record == nil {
		return nil, d.findings
	}
	return &Source{Path: path, Data: data, Version: d.version, Record: record}, d.findings
}

func tooLarge(path string) Finding {
	return Finding{File: path, Code: "too-large", Severity: FindingError,
		Message: fmt.Sprintf("the file has more than %d bytes", MaxFileSize),
		Advice:  "shorten its excerpts and examples"}
}

// decoder turns the tree of one file into a record and gathers findings.
type decoder struct {
	path     string
	data     []byte
	version  int
	derived  bool // members that the API adds to a record are taken in silence
	findings []Finding
}

// MaxFindings bounds what is said about one file: past it a file is broken in
// one way, many times.
const MaxFindings = 100

func (d *decoder) report(offset int, field, code string, severity FindingSeverity, message, advice string) {
	if len(d.findings) >= MaxFindings {
		return
	}
	f := Finding{File: d.path, Field: field, Code: code, Severity: severity, Message: message, Advice: advice}
	f.Line, f.Column = place(d.data, offset)
	d.findings = append(d.findings, f)
}

// unwrap gives the record inside an envelope {"record": …, "datasetVersion": …},
// or the value itself.
func unwrap(n *node) *node {
	if r := n.member("record"); n.kind == kindObject && r != nil && n.member("id") == nil {
		return r
	}
	return n
}

// source decodes a record, in its envelope or bare; nil when there is none.
func (d *decoder) source(n *node) *Record {
	inner := unwrap(n)
	if inner != n {
		for _, c := range n.children {
			if c.key != "record" && c.key != "datasetVersion" {
				d.report(c.keyStart, c.key, "unknown-field", FindingWarning, "the envelope has no such field", "it is not kept")
			}
		}
	}
	if inner.kind != kindObject {
		d.report(inner.start, "", "type", FindingError, "is "+inner.kind.String()+", want an object with a record", "see the manual of the record format")
		return nil
	}
	if !d.readVersion(inner) {
		return nil
	}
	r := &Record{}
	d.object(reflect.ValueOf(r).Elem(), inner, "")
	if d.version == 2 {
		upgrade(r, inner)
	}
	r.noNull()
	return r
}

func (d *decoder) readVersion(n *node) bool {
	v := n.member("schemaVersion")
	switch {
	case v == nil:
		d.report(n.start, "schemaVersion", "schema-version", FindingError, "the record does not say its schema version", `add "schemaVersion": 3`)
		return false
	case v.kind == kindNumber && v.text == "2":
		d.version = 2
	case v.kind == kindNumber && v.text == "3":
		d.version = 3
	default:
		shown := v.kind.String()
		switch v.kind {
		case kindNumber:
			shown = shorten(v.text, 20)
		case kindString:
			shown = strconv.Quote(shorten(v.text, 20))
		}
		d.report(v.keyStart, "schemaVersion", "schema-version", FindingError, "schema version "+shown+" is not known", "versions 2 and 3 are read")
		return false
	}
	return true
}

// derivedFields are members that the JSON API adds to a record. They are
// computed anew, so an import passes over them.
var derivedFields = map[string]bool{"url": true, "relatedErrors": true, "evidence": true}

// object fills the fields of a struct by their JSON names.
func (d *decoder) object(v reflect.Value, n *node, field string) {
	fields := fieldsOf(v.Type())
	for i := range n.children {
		c := &n.children[i]
		name := join(field, c.key)
		index, known := fields[c.key]
		if known {
			d.value(v.Field(index), c, name)
			continue
		}
		if field == "" && d.derived && derivedFields[c.key] {
			continue
		}
		if len(d.findings) >= MaxFindings {
			return
		}
		severity, advice := FindingError, "remove it, or mend its spelling"
		if d.version == 2 {
			severity, advice = FindingWarning, "it is not read"
		}
		if near := nearest(c.key, fields); near != "" {
			advice = fmt.Sprintf("is %q meant?", near)
		}
		d.report(c.keyStart, name, "unknown-field", severity, "a record has no such field", advice)
	}
}

func (d *decoder) value(v reflect.Value, n *node, field string) {
	wrong := func(want string) {
		d.report(n.keyStart, field, "type", FindingError, "is "+n.kind.String()+", want "+want, "")
	}
	switch v.Kind() {
	case reflect.Pointer:
		if n.kind == kindNull {
			return
		}
		p := reflect.New(v.Type().Elem())
		before := len(d.findings)
		d.value(p.Elem(), n, field)
		if len(d.findings) == before {
			v.Set(p)
			return
		}
		d.findings[before].Message += " or null"
	case reflect.String:
		if n.kind != kindString {
			wrong("a string")
			return
		}
		v.SetString(n.text)
	case reflect.Int:
		if n.kind != kindNumber {
			wrong("a whole number")
			return
		}
		i, err := strconv.ParseInt(n.text, 10, 32)
		if err != nil {
			d.report(n.keyStart, field, "type", FindingError, "is "+shorten(n.text, 20)+", want a whole number", "")
			return
		}
		v.SetInt(i)
	case reflect.Struct:
		if n.kind != kindObject {
			wrong("an object")
			return
		}
		d.object(v, n, field)
	case reflect.Slice:
		if n.kind != kindArray {
			wrong("an array")
			return
		}
		s := reflect.MakeSlice(v.Type(), len(n.children), len(n.children))
		for i := range n.children {
			d.value(s.Index(i), &n.children[i], fmt.Sprintf("%s[%d]", field, i))
		}
		v.Set(s)
	default:
		panic("kb: a record has a field of kind " + v.Kind().String())
	}
}

// Position gives the line and the column (in bytes) of a field, both from 1:
// its name for a member, its value for an element. A field that is not in the
// file gives the place of the nearest one around it.
func (s *Source) Position(field string) (line, column int) { return s.Positions()(field) }

// Positions gives Position as a function that reads the file only once.
func (s *Source) Positions() func(field string) (line, column int) {
	root, _, ok := parseTree(s.Data)
	if !ok {
		return func(string) (int, int) { return 1, 1 }
	}
	return func(field string) (int, int) {
		n := unwrap(&root)
		offset := n.start
		for _, token := range tokens(field) {
			if n = n.step(token); n == nil {
				break
			}
			offset = n.keyStart
		}
		return place(s.Data, offset)
	}
}

// Value gives the record of the file, without its envelope, as encoding/json
// would with UseNumber; nil when the file cannot be read.
func (s *Source) Value() any {
	root, _, ok := parseTree(s.Data)
	if !ok {
		return nil
	}
	return unwrap(&root).any()
}

func (n *node) any() any {
	switch n.kind {
	case kindBool:
		return n.text == "true"
	case kindNumber:
		return json.Number(n.text)
	case kindString:
		return n.text
	case kindArray:
		a := make([]any, len(n.children))
		for i := range n.children {
			a[i] = n.children[i].any()
		}
		return a
	case kindObject:
		m := make(map[string]any, len(n.children))
		for i := range n.children {
			m[n.children[i].key] = n.children[i].any()
		}
		return m
	}
	return nil
}

// step goes to a member, or to the element that a number names.
func (n *node) step(token string) *node {
	if n.kind == kindObject {
		return n.member(token)
	}
	if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.children) {
		return &n.children[i]
	}
	return nil
}

// tokens splits examples.match[0] into examples, match, 0.
func tokens(field string) []string {
	return strings.FieldsFunc(field, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

func join(field, key string) string {
	if field == "" {
		return key
	}
	return field + "." + key
}

// fieldsOf maps JSON names to field numbers. It is computed once per type
// that a record has.
func fieldsOf(t reflect.Type) map[string]int { return recordFields[t] }

var recordFields = func() map[reflect.Type]map[string]int {
	all := map[reflect.Type]map[string]int{}
	for _, t := range []reflect.Type{
		reflect.TypeFor[Record](), reflect.TypeFor[Capture](),
		reflect.TypeFor[HistoricMessage](), reflect.TypeFor[Examples](),
	} {
		all[t] = map[string]int{}
		for i := range t.NumField() {
			all[t][t.Field(i).Tag.Get("json")] = i
		}
	}
	return all
}()

// nearest finds the known field that differs from key by case, separators or a
// letter or two; "" when none is near.
func nearest(key string, fields map[string]int) string {
	if len(key) > 40 {
		return ""
	}
	plain := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	best, bestDistance := "", 3
	for name := range fields {
		d := distance(plain(key), plain(name))
		if d < bestDistance || d == bestDistance && best != "" && name < best {
			best, bestDistance = name, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// shorten cuts s at n bytes, at a character, and marks the cut.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
