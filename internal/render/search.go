package render

import (
	"context"
	"html"
	"strings"

	"errorkb/internal/kb"
)

// SearchView is the page of full-text search.
type SearchView struct {
	Layout  Layout
	Action  string
	Query   string
	Hidden  []Option // filters that the form keeps
	Asked   bool     // there was a query
	Summary string
	Notes   []string
	Hits    []HitView
	Facets  []FacetView
	Active  []ActiveFilter
	Pager   Pager
	Browse  string // address of all errors
	Paste   string // address of the paste box
}

// HitView is one hit.
type HitView struct {
	Row       Row
	Title     []kb.Part
	Fragments []FragmentView
}

// FragmentView is an excerpt of a hit.
type FragmentView struct {
	Label string
	Parts []kb.Part
}

// FacetView narrows a search to one value of a kind.
type FacetView struct {
	Label string
	Links []CountLink
}

// fieldLabels names the fields of a hit as the sections of the error page.
var fieldLabels = map[string]string{
	kb.FieldCode:      "Code",
	kb.FieldMeaning:   "What it means",
	kb.FieldPlace:     "Source",
	kb.FieldSolutions: "Solutions",
	kb.FieldWhen:      "When it happens",
	kb.FieldPrevent:   "Prevention",
	kb.FieldTags:      "Tags",
}

// searchFields are the filters of a search: those of the list and the concept.
var searchFields = []struct {
	name, label string
	kind        kb.GroupKind
	field       func(*kb.Query) *string
}{
	{"repo", "Project", kb.GroupRepo, func(q *kb.Query) *string { return &q.Repo }},
	{"tag", "Tag", kb.GroupTag, func(q *kb.Query) *string { return &q.Tag }},
	{"severity", "Severity", kb.GroupSeverity, func(q *kb.Query) *string { return &q.Severity }},
	{"class", "Class", kb.GroupClass, func(q *kb.Query) *string { return &q.Class }},
	{"code", "Code", kb.GroupCode, func(q *kb.Query) *string { return &q.Code }},
	{"status", "Status", kb.GroupStatus, func(q *kb.Query) *string { return &q.Status }},
	{"background", "Concept", kb.GroupBackground, func(q *kb.Query) *string { return &q.Background }},
}

// searchAddress is the address of a search, at a page.
func (s Site) searchAddress(q kb.Query, page int) string {
	var query queryString
	query.add("q", q.Text)
	for _, f := range searchFields {
		query.add(f.name, *f.field(&q))
	}
	if page > 1 {
		query.number("page", page)
	}
	if query == "" {
		return s.To(PlaceSearch)
	}
	return s.To(PlaceSearch) + "?" + string(query)
}

// NewSearchView makes the page of a search. The zero query gives the page that
// asks for one.
func NewSearchView(site Site, q kb.Query, result kb.SearchResult) SearchView {
	text := strings.TrimSpace(q.Text)
	if result.Text != "" {
		text = result.Text
	}
	q.Text = text
	v := SearchView{
		Layout: site.layout(PlaceSearch, "Search", "Search the documented errors by words, codes and names."),
		Action: site.To(PlaceSearch),
		Query:  visible(text),
		Asked:  text != "",
		Browse: site.To(PlaceErrors),
		Paste:  site.To(PlaceDiagnose),
	}
	v.Layout.OwnSearch, v.Layout.Hidden = true, v.Asked
	v.Layout.Canonical = site.searchAddress(q, 1)
	_, v.Layout.Applied, _ = strings.Cut(v.Layout.Canonical, "?")
	if !v.Asked {
		return v
	}
	v.Layout.Title = visible(cutWords(text, 60)) + " · Search · " + site.Name
	v.Summary = plural(result.Total, "error", "errors") + " for “" + visible(text) + "”"
	if result.Total == 0 {
		v.Summary = "Nothing found for “" + visible(text) + "”"
	}
	if result.Cut {
		v.Notes = append(v.Notes, "The query was longer than "+thousands(kb.MaxQuery)+" characters; only its beginning was searched. Paste long text into the diagnosis instead.")
	}
	if result.SomeWords && result.Total > 0 {
		v.Notes = append(v.Notes, "No error holds all of these words. These hold some of them.")
	}
	limit := q.Limit
	if limit <= 0 {
		limit = kb.DefaultHits
	}
	v.Pager = newPager(q.Offset, limit, result.Total, func(n int) string { return site.searchAddress(q, n) })
	for _, f := range searchFields {
		if value := *f.field(&q); value != "" {
			without := q
			*f.field(&without) = ""
			v.Active = append(v.Active, ActiveFilter{f.label, visible(value), site.searchAddress(without, 1)})
			v.Hidden = append(v.Hidden, Option{Value: holdable(value), Label: f.name})
		}
	}
	for _, hit := range result.Hits {
		v.Hits = append(v.Hits, newHitView(site, hit))
	}
	for _, facet := range result.Facets {
		if view := newFacetView(site, q, facet); len(view.Links) > 1 {
			v.Facets = append(v.Facets, view)
		}
	}
	return v
}

func newHitView(site Site, hit kb.Hit) HitView {
	v := HitView{Row: newRow(site, hit.Item), Title: []kb.Part{{Text: visible(hit.Title)}}}
	for i, f := range hit.Fragments {
		parts := make([]kb.Part, len(f.Parts))
		for j, p := range f.Parts {
			parts[j] = kb.Part{Text: visible(p.Text), Marked: p.Marked}
		}
		if i == 0 && f.Field == kb.FieldTitle {
			v.Title = parts
			continue
		}
		v.Fragments = append(v.Fragments, FragmentView{fieldLabels[f.Field], parts})
	}
	return v
}

func newFacetView(site Site, q kb.Query, facet kb.Facet) FacetView {
	for _, f := range searchFields {
		if f.kind != facet.Kind {
			continue
		}
		v := FacetView{Label: f.label}
		for _, g := range facet.Groups[:min(len(facet.Groups), maxBeside)] {
			narrowed := q
			*f.field(&narrowed) = g.Name
			label := visible(g.Name)
			if facet.Kind == kb.GroupBackground {
				label = words(g.Name)
			}
			v.Links = append(v.Links, CountLink{Link{label, site.searchAddress(narrowed, 1)}, thousands(g.Count)})
		}
		return v
	}
	return FacetView{}
}

// SearchPage makes the page of a search and its result.
func (r *Renderer) SearchPage(ctx context.Context, query kb.Query, result kb.SearchResult) (Document, error) {
	return ok(ctx, SearchPage(NewSearchView(r.site, query, result)))
}

// markedHTML spells parts out without a space that is not in them.
func markedHTML(parts []kb.Part) Prose {
	var b strings.Builder
	for _, p := range parts {
		text := html.EscapeString(p.Text)
		if p.Marked {
			text = "<mark>" + text + "</mark>"
		}
		b.WriteString(text)
	}
	return Prose(b.String())
}
