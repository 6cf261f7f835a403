// Package render turns records, answers and search results into documents:
// pages, JSON files, feeds and maps. Call New, then Renderer.Document for every
// address that needs no query, and DiagnosePage, SearchPage, ErrorsPage and
// FailurePage for those that do. The server sends these documents and the
// static site writes them, so both give the same bytes.
//
// One page, one struct, one constructor: NewErrorView and its sisters decide
// everything, the templ components only spell it out. Records and pasted text
// are untrusted; what is not escaped has been through Markdown or highlight.
package render

//go:generate go -C ../.. tool templ generate

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/a-h/templ"

	"errorkb/internal/kb"
)

// Source is what the pages need to know of the records. The store offers it.
// Every look-up that finds nothing wraps kb.ErrNotFound.
type Source interface {
	Version() string
	Record(ctx context.Context, id string) (*kb.Record, error)
	BySlug(ctx context.Context, repo, slug string) (*kb.Record, error)
	// Resolve finds the id behind an id, an alias or a retired id.
	Resolve(ctx context.Context, key string) (id string, err error)
	List(ctx context.Context, filter kb.Filter) (kb.Page, error)
	// Groups lists the values of a kind, most records first, then by name.
	// The filter narrows the records that are counted.
	Groups(ctx context.Context, kind kb.GroupKind, filter kb.Filter) ([]kb.Group, error)
	Related(ctx context.Context, id string) ([]kb.RelatedItem, error)
}

// Document is a whole answer at one address: what the server sends and the
// static site writes.
type Document struct {
	Status      int // HTTP status: 200, 301 of a redirect, or that of a failure
	ContentType string
	Body        []byte
	Location    string // of a redirect
}

// Options are the facts about the site that the records do not hold.
type Options struct {
	Base      Base              // path that the site lives under
	SiteURL   string            // "https://host" without slash; "" when it is not known
	Name      string            // name of the site; "" means "kb"
	ReportURL string            // where a mistake is reported, https; "" for none
	Assets    map[string]string // logical name of an asset → its hashed file name; web.Names gives it
	Schema    []byte            // JSON Schema of a record; schema.Record
	Proof     *kb.Proof         // of the records; nil for none
	Code      fs.FS             // source of the runtime that the proof points to; nil for none
	LiveProof bool              // pages have the button that runs the scenario of a record; for a server that takes that
}

// Renderer makes the documents of one data set. It is safe for concurrent use.
type Renderer struct {
	src    Source
	site   Site
	schema []byte // JSON Schema of a record
	proof  *proofs
	live   bool
}

// New makes a renderer over a source that does not change.
func New(src Source, opts Options) *Renderer {
	if opts.Name == "" {
		opts.Name = "kb"
	}
	return &Renderer{src: src, schema: opts.Schema, proof: newProofs(opts.Proof, opts.Code), live: opts.LiveProof, site: Site{
		Base:      opts.Base,
		URL:       opts.SiteURL,
		Name:      opts.Name,
		ReportURL: opts.ReportURL,
		Assets:    opts.Assets,
		Version:   src.Version(),
		Proof:     opts.Proof != nil,
	}}
}

const contentHTML = "text/html; charset=utf-8"

// page renders a component into memory first, so that a component that fails
// never becomes half a page.
func page(ctx context.Context, status int, c templ.Component) (Document, error) {
	var body bytes.Buffer
	if err := c.Render(ctx, &body); err != nil {
		return Document{}, fmt.Errorf("render page: %w", err)
	}
	return Document{Status: status, ContentType: contentHTML, Body: body.Bytes()}, nil
}

func ok(ctx context.Context, c templ.Component) (Document, error) {
	return page(ctx, http.StatusOK, c)
}
