package render

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"errorkb/internal/kb"
)

// Row is a record in a list.
type Row struct {
	Title    string // cut at a word
	Full     string // whole message: the tooltip, "" when Title is whole
	URL      string
	Severity string
	Kind     string // class of the severity
	Code     string
	Class    string
	Repo     Link
	Summary  string
	Changed  Date
	Status   string // "" when active
}

// rowTitle is the number of characters of a message that a list shows.
const rowTitle = 160

func newRow(site Site, item kb.Item) Row {
	full := visible(item.Title)
	row := Row{
		Title:    cutWords(full, rowTitle),
		URL:      site.To(PlaceError, item.Repo, item.Slug),
		Severity: visible(string(item.Severity)),
		Kind:     "severity-" + known(string(item.Severity), severities),
		Code:     visible(item.ErrorCode),
		Class:    visible(item.ErrorClass),
		Repo:     Link{visible(item.Repo), site.To(PlaceRepo, item.Repo)},
		Summary:  cutWords(visible(item.Summary), 220),
		Changed:  newDate(item.ContentChangedAt),
	}
	if row.Title != full {
		row.Full = full
	}
	if item.Status != kb.StatusActive {
		row.Status = visible(string(item.Status))
	}
	return row
}

func newRows(site Site, items []kb.Item) []Row {
	rows := make([]Row, len(items))
	for i, item := range items {
		rows[i] = newRow(site, item)
	}
	return rows
}

// Pager leads from one page of a list to its neighbours.
type Pager struct {
	Previous, Next string // addresses, "" at the ends
	Text           string // "Page 2 of 7"
}

// newPager makes the pager of the page that begins at offset. It is the zero
// Pager when one page is enough.
func newPager(offset, limit, total int, address func(page int) string) Pager {
	pages := (total + limit - 1) / limit
	current := offset/limit + 1
	if pages <= 1 && current == 1 {
		return Pager{}
	}
	p := Pager{Text: fmt.Sprintf("Page %s of %s", thousands(current), thousands(pages))}
	if current > 1 {
		p.Previous = address(min(current-1, max(pages, 1)))
	}
	if current < pages {
		p.Next = address(current + 1)
	}
	return p
}

// ListView is the page of all records, filtered or not.
type ListView struct {
	Layout  Layout
	Heading string
	Summary string // how many, in words
	Action  string // address of the filter form
	Filters []FilterView
	Sort    FilterView
	Active  []ActiveFilter
	Clear   string // address without filters
	Rows    []Row
	Pager   Pager
}

// FilterView is one field of the filter form.
type FilterView struct {
	Name, Label string
	Options     []Option
}

// Option is one choice of a FilterView.
type Option struct {
	Value, Label string
	Selected     bool
}

// ActiveFilter is a filter that is set, and the address without it.
type ActiveFilter struct{ Label, Value, Without string }

// filterFields are the filters of the contract, in the order of the form.
var filterFields = []struct {
	name, label string
	kind        kb.GroupKind
	field       func(*kb.Filter) *string
}{
	{"repo", "Project", kb.GroupRepo, func(f *kb.Filter) *string { return &f.Repo }},
	{"tag", "Tag", kb.GroupTag, func(f *kb.Filter) *string { return &f.Tag }},
	{"severity", "Severity", kb.GroupSeverity, func(f *kb.Filter) *string { return &f.Severity }},
	{"class", "Class", kb.GroupClass, func(f *kb.Filter) *string { return &f.Class }},
	{"code", "Code", kb.GroupCode, func(f *kb.Filter) *string { return &f.Code }},
	{"status", "Status", kb.GroupStatus, func(f *kb.Filter) *string { return &f.Status }},
}

var sorts = []Option{{Value: "title", Label: "Message"}, {Value: "changed", Label: "Last change"}, {Value: "severity", Label: "Severity"}}

// maxOptions is the number of choices that a filter offers: those with most
// records. A page with thousands of options is slow and helps nobody.
const maxOptions = 100

// listAddress is the address of the list with a filter, at a page.
func (s Site) listAddress(f kb.Filter, page int) string {
	var q queryString
	for _, field := range filterFields {
		q.add(field.name, *field.field(&f))
	}
	if f.Sort != "title" {
		q.add("sort", f.Sort)
	}
	switch {
	case q == "" && page > 1:
		return s.To(PlaceErrorsPage, strconv.Itoa(page))
	case q == "":
		return s.To(PlaceErrors)
	case page > 1:
		q.number("page", page)
	}
	return s.To(PlaceErrors) + "?" + string(q)
}

// NewListView makes the list. Groups holds the choices of each filter.
func NewListView(site Site, f kb.Filter, result kb.Page, groups map[kb.GroupKind][]kb.Group) ListView {
	f.Cursor, f.Limit = "", pageSize
	page := f.Offset/pageSize + 1
	v := ListView{
		Layout:  site.layout(PlaceErrors, "Errors", "All documented errors, with filters by project, tag, severity, class, code and status."),
		Heading: "All errors",
		Action:  site.To(PlaceErrors),
		Clear:   site.To(PlaceErrors),
		Rows:    newRows(site, result.Items),
		Pager:   newPager(f.Offset, pageSize, result.Total, func(n int) string { return site.listAddress(f, n) }),
		Sort:    FilterView{Name: "sort", Label: "Sort by"},
	}
	for _, o := range sorts {
		o.Selected = o.Value == f.Sort
		v.Sort.Options = append(v.Sort.Options, o)
	}
	for _, field := range filterFields {
		value := *field.field(&f)
		v.Filters = append(v.Filters, newFilterView(field.name, field.label, value, groups[field.kind]))
		if value != "" {
			without := f
			*field.field(&without) = ""
			v.Active = append(v.Active, ActiveFilter{field.label, visible(value), site.listAddress(without, 1)})
		}
	}
	v.Summary = plural(result.Total, "error", "errors")
	if len(v.Active) > 0 {
		v.Heading = "Errors"
		v.Summary = plural(result.Total, "error matches", "errors match")
	}
	if page > 1 {
		v.Layout.Title = "Errors, page " + thousands(page) + " · " + site.Name
	}
	v.Layout.Canonical = site.listAddress(f, page)
	v.Layout.Hidden = len(v.Active) > 0
	_, v.Layout.Applied, _ = strings.Cut(v.Layout.Canonical, "?")
	return v
}

func newFilterView(name, label, value string, groups []kb.Group) FilterView {
	v := FilterView{Name: name, Label: label, Options: []Option{{"", "Any", value == ""}}}
	listed := value == ""
	for _, g := range groups[:min(len(groups), maxOptions)] {
		v.Options = append(v.Options, Option{holdable(g.Name), visible(g.Name) + " (" + thousands(g.Count) + ")", g.Name == value})
		listed = listed || g.Name == value
	}
	if !listed {
		v.Options = append(v.Options, Option{holdable(value), visible(value), true})
	}
	return v
}

// ErrorsPage makes the list of records that a filter selects. Offset chooses
// the page and is rounded down to one.
func (r *Renderer) ErrorsPage(ctx context.Context, filter kb.Filter) (Document, error) {
	filter.Limit, filter.Cursor = pageSize, ""
	filter.Offset = max(filter.Offset, 0) / pageSize * pageSize
	filter.Sort = cmp.Or(filter.Sort, "title")
	result, err := r.src.List(ctx, filter)
	if err != nil {
		return Document{}, fmt.Errorf("list records: %w", err)
	}
	if filter.Offset > 0 && filter.Offset >= result.Total {
		return Document{}, fmt.Errorf("%w: page %d of the list", kb.ErrNotFound, filter.Offset/pageSize+1)
	}
	groups := map[kb.GroupKind][]kb.Group{}
	for _, field := range filterFields {
		if groups[field.kind], err = r.src.Groups(ctx, field.kind, kb.Filter{}); err != nil {
			return Document{}, fmt.Errorf("list groups by %s: %w", field.kind, err)
		}
	}
	return ok(ctx, ListPage(NewListView(r.site, filter, result, groups)))
}
