package render

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"net/http"
	"strconv"

	"errorkb/internal/kb"
)

// FailureView is the page of a request that could not be answered.
type FailureView struct {
	Layout      Layout
	Status      string
	Title       string
	Detail      string
	Input       string // what was wrong, shortened
	Explanation string
	Advice      string
	Type        Link // page that explains this kind of failure
	Form        PasteForm
	Search      string
	Browse      string
}

// NewFailureView makes the page of a problem.
func NewFailureView(site Site, p Problem) FailureView {
	v := FailureView{
		Layout: site.layout(PlaceNotFound, p.Title, p.Detail),
		Status: strconv.Itoa(p.Status), Title: p.Title, Detail: visible(p.Detail), Input: visible(p.Input),
		Search: site.To(PlaceSearch), Browse: site.To(PlaceErrors),
		Form: newPasteForm(site, "", nil),
	}
	v.Layout.Hidden = true
	if t, found := ProblemTypeOf(p.Slug()); found {
		v.Explanation, v.Advice = t.Explanation, t.Advice
		v.Type = Link{"About this kind of failure", site.To(PlaceProblem, t.Slug)}
	}
	return v
}

// FailurePage makes the page of a problem. It does not fail: should the
// component, the page is a bare one.
func (r *Renderer) FailurePage(ctx context.Context, p Problem) Document {
	doc, err := page(ctx, p.Status, FailurePage(NewFailureView(r.site, p)))
	if err != nil {
		title := html.EscapeString(p.Title)
		doc = Document{Status: p.Status, ContentType: contentHTML, Body: []byte(
			"<!doctype html><html lang=en><title>" + title + "</title><h1>" + title + "</h1><p>" + html.EscapeString(p.Detail) + "</p></html>\n")}
	}
	return doc
}

// notFound is the page for an address of a static site that has no file.
func (r *Renderer) notFound(ctx context.Context) Document {
	p := NewProblem(r.site.Base, ProblemNotFound, "No page has this address.", "")
	return r.FailurePage(ctx, p)
}

// ProblemView explains a type of problem.
type ProblemView struct {
	Layout      Layout
	Title       string
	Status      string
	Explanation string
	Advice      string
	Example     Code
	Others      []Link
}

// NewProblemView makes the page of a problem type.
func NewProblemView(site Site, t ProblemType) ProblemView {
	v := ProblemView{
		Layout: site.layout(PlaceProblem, t.Title, t.Explanation),
		Title:  t.Title, Status: strconv.Itoa(t.Status) + " " + http.StatusText(t.Status),
		Explanation: t.Explanation, Advice: t.Advice,
		Example: newCode(problemExample(site.Base, t), "json"),
	}
	v.Layout.Canonical = site.To(PlaceProblem, t.Slug)
	for _, other := range ProblemTypes() {
		if other.Slug != t.Slug {
			v.Others = append(v.Others, Link{other.Title, site.To(PlaceProblem, other.Slug)})
		}
	}
	return v
}

// problemExample is a problem document of a type, laid out to be read.
func problemExample(base Base, t ProblemType) string {
	var out bytes.Buffer
	// A document that was just encoded is JSON: Indent cannot fail.
	_ = json.Indent(&out, NewProblem(base, t.Slug, "A sentence about this very request.", "").JSON(), "", "  ")
	return out.String()
}

func (r *Renderer) problem(ctx context.Context, slug string) (Document, error) {
	t, found := ProblemTypeOf(slug)
	if !found {
		return Document{}, kb.ErrNotFound
	}
	return ok(ctx, ProblemPage(NewProblemView(r.site, t)))
}

// RedirectView is the document that a static site has where the server
// redirects.
type RedirectView struct{ Target, Canonical, Title string }
