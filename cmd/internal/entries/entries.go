// Package entries writes what a diagnosis needs to know of the records as one
// file, for the copy of the site that answers by itself, and reads it again in
// the browser. Append writes, Parse reads.
//
// The file is text: a first line that names the form, then strings, each as its
// length in bytes, a colon, its bytes and a line feed, and lists, each as its
// length and a colon in front of its elements. Nothing is escaped, so strings
// need not be copied; and since it is text, hosts compress it.
//
// The program for the browser is made small by what it does without: this
// package imports neither fmt nor what reads records.
package entries

import (
	"errors"
	"strconv"
	"strings"

	"errorkb/internal/diagnose"
)

// form is the first line. Another form gets another number.
const form = "kb entries 2\n"

// provenWord stands for a record that is proven; the others have an empty string.
const provenWord = "proven"

// Entry is a record as the diagnosis sees it, and what the page of an answer
// says besides.
type Entry struct {
	diagnose.Entry
	Captures []Capture // in the order of the record
	Proven   bool      // by the evidence of the data set
}

// Capture explains a placeholder.
type Capture struct {
	Name        string
	Description string // inline Markdown
}

// Append appends the file of a data set.
func Append(dst []byte, version string, list []Entry) []byte {
	dst = append(dst, form...)
	dst = appendString(dst, version)
	dst = appendCount(dst, len(list))
	for i := range list {
		for _, field := range list[i].strings() {
			dst = appendString(dst, *field)
		}
		dst = appendStrings(dst, list[i].Aliases)
		dst = appendStrings(dst, list[i].Solutions)
		dst = appendCount(dst, len(list[i].History))
		for _, h := range list[i].History {
			dst = appendString(appendString(appendString(dst, h.Template), h.Pattern), h.Until)
		}
		dst = appendCount(dst, len(list[i].Captures))
		for _, c := range list[i].Captures {
			dst = appendString(appendString(dst, c.Name), c.Description)
		}
		proven := ""
		if list[i].Proven {
			proven = provenWord
		}
		dst = appendString(dst, proven)
	}
	return dst
}

// strings lists the fields that are single strings, in the order of the file.
func (e *Entry) strings() []*string {
	r := &e.Ref
	return []*string{
		&r.ID, &r.Repo, &r.Slug, &r.Title, &r.URL, &r.Severity, &r.Role, &r.Status,
		&e.Code, &e.Class, &e.Template, &e.Pattern,
	}
}

func appendCount(dst []byte, n int) []byte {
	return append(strconv.AppendInt(dst, int64(n), 10), ':')
}

func appendString(dst []byte, s string) []byte {
	return append(append(appendCount(dst, len(s)), s...), '\n')
}

func appendStrings(dst []byte, list []string) []byte {
	dst = appendCount(dst, len(list))
	for _, s := range list {
		dst = appendString(dst, s)
	}
	return dst
}

// Parse reads a file. The strings of the result are parts of it.
func Parse(file string) (version string, list []Entry, err error) {
	rest, ok := strings.CutPrefix(file, form)
	if !ok {
		return "", nil, errors.New("the entries have another form than this program reads")
	}
	p := parser{rest: rest}
	version = p.string()
	list = make([]Entry, p.count())
	for i := range list {
		e := &list[i]
		for _, field := range e.strings() {
			*field = p.string()
		}
		e.Aliases = p.strings()
		e.Solutions = p.strings()
		e.History = make([]diagnose.Wording, p.count())
		for i := range e.History {
			e.History[i] = diagnose.Wording{Template: p.string(), Pattern: p.string(), Until: p.string()}
		}
		e.Captures = make([]Capture, p.count())
		for i := range e.Captures {
			e.Captures[i] = Capture{p.string(), p.string()}
		}
		switch p.string() {
		case "":
		case provenWord:
			e.Proven = true
		default:
			p.broken = true
		}
	}
	if p.broken || p.rest != "" {
		return "", nil, errors.New("the entries are damaged at byte " + strconv.Itoa(len(file)-len(p.rest)) + " of " + strconv.Itoa(len(file)))
	}
	return version, list, nil
}

// parser reads from the front of a text. After damage it gives nothing more.
type parser struct {
	rest   string
	broken bool
}

// count reads a number that at least as many bytes follow, so that damage
// cannot ask for more memory than the file justifies.
func (p *parser) count() int {
	digits, _, ok := strings.Cut(p.rest[:min(len(p.rest), 20)], ":")
	n, err := strconv.Atoi(digits)
	after := len(p.rest) - len(digits) - 1
	if p.broken || !ok || err != nil || n < 0 || n > after || strconv.Itoa(n) != digits {
		p.broken = true
		return 0
	}
	p.rest = p.rest[len(digits)+1:]
	return n
}

func (p *parser) string() string {
	n := p.count()
	if p.broken || n >= len(p.rest) || p.rest[n] != '\n' {
		p.broken = true
		return ""
	}
	s := p.rest[:n]
	p.rest = p.rest[n+1:]
	return s
}

func (p *parser) strings() []string {
	list := make([]string, p.count())
	for i := range list {
		list[i] = p.string()
	}
	return list
}
