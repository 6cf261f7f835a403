package server

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"errorkb/internal/kb"
	"errorkb/internal/render"
)

// request is one request and what was found out about it.
type request struct {
	*http.Request
	snapshot *held
	trace    *trace
	params   func(name string) string // variable parts of the path, decoded
}

// trace gathers what the access log and the metrics say about a request. It
// holds nothing that a visitor typed.
type trace struct {
	route    string // with the names of variable parts, not their values
	fault    error  // of the server; nil when the request was at fault
	incident string // reference that the visitor was given
	panicked []byte // stack
	page     bool   // a failure is told by a page, although programs ask here
}

type traceKey struct{}

func traceOf(ctx context.Context) *trace {
	t, _ := ctx.Value(traceKey{}).(*trace)
	return t
}

type snapshotKey struct{}

func snapshotOf(ctx context.Context) *held {
	h, _ := ctx.Value(snapshotKey{}).(*held)
	return h
}

// checkPath refuses paths that no address of ours can have, before anything
// looks at them.
func checkPath(u *url.URL) error {
	if !utf8.ValidString(u.Path) {
		return refuse(render.ProblemBadAddress, u.EscapedPath(), "The path %s is not UTF-8.", render.Quote(u.EscapedPath()))
	}
	for _, c := range u.Path {
		if c < ' ' || c == 0x7f {
			return refuse(render.ProblemBadAddress, u.EscapedPath(), "The path %s holds a control character.", render.Quote(u.EscapedPath()))
		}
	}
	return nil
}

// parameters reads a query string in which each name stands once. An API is
// asked by programs, so it refuses names that it does not know; pages, whose
// addresses people pass around with additions of all kinds, leave them alone.
type parameters map[string]string

func (q *request) parameters(strict bool, known ...string) (parameters, error) {
	values, err := url.ParseQuery(q.URL.RawQuery)
	if err != nil {
		return nil, refuse(render.ProblemBadParameter, q.URL.RawQuery, "The query string %s cannot be read.", render.Quote(q.URL.RawQuery))
	}
	p := parameters{}
	for _, name := range known {
		given := values[name]
		delete(values, name)
		if len(given) == 0 {
			continue
		}
		if len(given) > 1 {
			return nil, refuse(render.ProblemBadParameter, given[1], "The parameter %q is given %d times.", name, len(given))
		}
		if !utf8.ValidString(given[0]) {
			return nil, refuse(render.ProblemBadParameter, given[0], "The parameter %q is not UTF-8: %s.", name, render.Quote(given[0]))
		}
		p[name] = given[0]
	}
	if !strict {
		return p, nil
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		return nil, refuse(render.ProblemBadParameter, name, "There is no parameter %s here; those that are: %s.", render.Quote(name), strings.Join(known, ", "))
	}
	return p, nil
}

// number reads a whole number, or gives the value for a parameter that is not
// there.
func (p parameters) number(name string, missing, least, most int) (int, error) {
	text, given := p[name]
	if !given {
		return missing, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, refuse(render.ProblemBadParameter, text, "The parameter %q must be a whole number from %d to %d, not %s.", name, least, most, render.Quote(text))
	}
	return n, nil
}

// oneOf reads a parameter that has a fixed list of values.
func (p parameters) oneOf(name string, allowed ...string) (string, error) {
	text := p[name]
	if text == "" {
		return "", nil
	}
	for _, value := range allowed {
		if text == value {
			return text, nil
		}
	}
	return "", refuse(render.ProblemBadParameter, text, "The parameter %q must be one of %s, not %s.", name, strings.Join(allowed, ", "), render.Quote(text))
}

// filterNames are the parameters that narrow lists and searches.
var filterNames = []string{"repo", "tag", "severity", "class", "code", "status"}

// filter reads the parameters that narrow a list or a search.
func (p parameters) filter() (f kb.Filter, err error) {
	f = kb.Filter{Repo: p["repo"], Tag: p["tag"], Class: p["class"], Code: p["code"]}
	f.Severity, err = p.oneOf("severity", string(kb.SeverityFatal), string(kb.SeverityError), string(kb.SeverityWarning), string(kb.SeverityInfo))
	if err != nil {
		return f, err
	}
	f.Status, err = p.oneOf("status", string(kb.StatusActive), string(kb.StatusDeprecated), string(kb.StatusRemoved), string(kb.StatusWithdrawn))
	return f, err
}

// query reads what a search is asked for, all but its place in the hits.
func (p parameters) query() (kb.Query, error) {
	f, err := p.filter()
	return kb.Query{Text: p["q"], Repo: f.Repo, Tag: f.Tag, Severity: f.Severity, Class: f.Class, Code: f.Code, Status: f.Status}, err
}
