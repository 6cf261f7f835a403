package render

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"errorkb/internal/kb"
)

// groupPlace is a kind of group that has pages. The further pages of a group are
// the place after its first one.
type groupPlace struct {
	place, all Place // of one group, of the page that lists them
	kind       kb.GroupKind
	label      string // as a heading
	one, many  string // as nouns
}

var groupPlaces = []groupPlace{
	{PlaceRepo, PlaceRepos, kb.GroupRepo, "Projects", "project", "projects"},
	{PlaceTag, PlaceTags, kb.GroupTag, "Tags", "tag", "tags"},
	{PlaceBackground, PlaceBackgrounds, kb.GroupBackground, "Concepts", "concept", "concepts"},
}

// groupPlaceOf finds the kind of the groups at a place, or that a place lists.
func groupPlaceOf(place Place) groupPlace {
	i := slices.IndexFunc(groupPlaces, func(g groupPlace) bool { return g.place == place || g.all == place })
	return groupPlaces[i]
}

// GroupView is the page of one project, tag or concept.
type GroupView struct {
	Layout   Layout
	Kind     Link // what the group is: "Projects", "Tags", "Concepts"
	Owner    Link // of a project; "" for none
	Heading  string
	Code     bool     // the heading is a name, not words
	Intro    []string // sentences made from the records
	External Link     // the project itself
	Beside   []Beside
	Rows     []Row
	Pager    Pager
}

// Beside lists what the records of a group are also in.
type Beside struct {
	Label string
	Links []CountLink
	All   Link // leads to those that are left out; "" for none
}

// CountLink is a link to a group with its number of records.
type CountLink struct {
	Link
	Count string
}

// GroupData is what a GroupView is made of.
type GroupData struct {
	Place      Place // PlaceRepo, PlaceTag or PlaceBackground
	Name       string
	Page       kb.Page
	Offset     int
	Severities []kb.Group
	Repos      []kb.Group
	Tags       []kb.Group
	Concepts   []kb.Group
	Newest     []kb.Item // the record that changed last
}

// NewGroupView makes the page of a group.
func NewGroupView(site Site, d GroupData) GroupView {
	name := visible(d.Name)
	of := groupPlaceOf(d.Place)
	v := GroupView{Heading: name, Rows: newRows(site, d.Page.Items), Kind: Link{of.label, site.To(of.all)}}
	switch d.Place {
	case PlaceRepo:
		v.Code = true
		owner, _, _ := strings.Cut(d.Name, "/")
		v.Owner = Link{visible(owner), site.To(PlaceOwner, owner)}
		v.External = Link{"github.com/" + name, "https://github.com/" + escapeSegments(d.Name)}
	case PlaceBackground:
		v.Heading = capitalise(words(d.Name))
	}
	v.Intro = groupIntro(d)
	v.Layout = site.layout(d.Place, v.Heading, strings.Join(v.Intro, " "))
	address := func(page int) string {
		if page > 1 {
			return site.To(d.Place+1, d.Name, strconv.Itoa(page))
		}
		return site.To(d.Place, d.Name)
	}
	v.Pager = newPager(d.Offset, pageSize, d.Page.Total, address)
	page := d.Offset/pageSize + 1
	v.Layout.Canonical = address(page)
	if page > 1 {
		v.Layout.Title = fmt.Sprintf("%s, page %s · %s", v.Heading, thousands(page), site.Name)
	}
	for _, b := range []struct {
		label  string
		place  Place
		groups []kb.Group
	}{
		{"Projects", PlaceRepo, d.Repos},
		{"Concepts", PlaceBackground, d.Concepts},
		{"Tags", PlaceTag, d.Tags},
	} {
		if links := countLinks(site, b.place, b.groups, d); len(links) > 0 {
			v.Beside = append(v.Beside, Beside{Label: b.label, Links: links})
		}
	}
	return v
}

// maxBeside is the number of neighbouring groups that are named.
const maxBeside = 12

func countLinks(site Site, place Place, groups []kb.Group, d GroupData) []CountLink {
	var links []CountLink
	for _, g := range groups {
		if place == d.Place && g.Name == d.Name {
			continue
		}
		if len(links) == maxBeside {
			break
		}
		links = append(links, newCountLink(site, place, g))
	}
	return links
}

func newCountLink(site Site, place Place, g kb.Group) CountLink {
	label := visible(g.Name)
	if place == PlaceBackground {
		label = words(g.Name)
	}
	return CountLink{Link{label, site.To(place, g.Name)}, thousands(g.Count)}
}

// GroupsView is the page that lists all projects, tags or concepts.
type GroupsView struct {
	Layout  Layout
	Heading string
	Summary string
	Links   []CountLink
	Others  []Link // pages of the other kinds
}

// NewOwnerView makes the page that lists the projects of an owner.
func NewOwnerView(site Site, owner string, repos []kb.Group) GroupsView {
	v := NewGroupsView(site, PlaceRepos, repos)
	v.Heading = ownerHeading(owner)
	v.Layout = site.layout(PlaceRepos, v.Heading, "Projects of "+visible(owner)+" with documented errors.")
	v.Layout.Canonical = site.To(PlaceOwner, owner)
	v.Others = append([]Link{{"All projects", site.To(PlaceRepos)}}, v.Others...)
	return v
}

func ownerHeading(owner string) string { return "Projects of " + visible(owner) }

// NewGroupsView makes the page at PlaceRepos, PlaceTags or PlaceBackgrounds.
func NewGroupsView(site Site, place Place, groups []kb.Group) GroupsView {
	of := groupPlaceOf(place)
	v := GroupsView{Heading: of.label, Summary: "No error has one."}
	switch n := len(groups); {
	case n > 1:
		v.Summary = plural(n, of.one, of.many) + ", most errors first."
	case n == 1:
		v.Summary = plural(n, of.one, of.many) + "."
	}
	v.Layout = site.layout(place, v.Heading, "All "+of.many+" of the documented errors.")
	v.Layout.Canonical = site.To(place)
	for _, g := range groups {
		v.Links = append(v.Links, newCountLink(site, of.place, g))
	}
	for _, other := range groupPlaces {
		if other.all != place {
			v.Others = append(v.Others, Link{other.label, site.To(other.all)})
		}
	}
	v.Others = append(v.Others, Link{"All errors", site.To(PlaceErrors)})
	return v
}

// groups makes the page that lists the groups of a kind.
func (r *Renderer) groups(ctx context.Context, place Place) (Document, error) {
	of := groupPlaceOf(place)
	groups, err := r.src.Groups(ctx, of.kind, kb.Filter{})
	if err != nil {
		return Document{}, fmt.Errorf("list groups by %s: %w", of.kind, err)
	}
	return ok(ctx, GroupsPage(NewGroupsView(r.site, place, groups)))
}

// owner makes the page that lists the projects of an owner.
func (r *Renderer) owner(ctx context.Context, owner string) (Document, error) {
	repos, err := r.reposOf(ctx, owner)
	if err != nil {
		return Document{}, err
	}
	return ok(ctx, GroupsPage(NewOwnerView(r.site, owner, repos)))
}

// reposOf lists the repositories of an owner. It wraps kb.ErrNotFound when there is none.
func (r *Renderer) reposOf(ctx context.Context, owner string) ([]kb.Group, error) {
	all, err := r.src.Groups(ctx, kb.GroupRepo, kb.Filter{})
	if err != nil {
		return nil, fmt.Errorf("list groups by %s: %w", kb.GroupRepo, err)
	}
	repos := slices.DeleteFunc(slices.Clone(all), func(g kb.Group) bool { return !strings.HasPrefix(g.Name, owner+"/") })
	if len(repos) == 0 {
		return nil, fmt.Errorf("%w: owner %q", kb.ErrNotFound, owner)
	}
	return repos, nil
}

// groupIntro says in sentences what the records of a group have in common.
func groupIntro(d GroupData) []string {
	var intro []string
	count := plural(d.Page.Total, "documented error", "documented errors")
	switch d.Place {
	case PlaceRepo:
		intro = append(intro, count+" of "+visible(d.Name)+severitiesOf(d.Severities)+".")
	case PlaceTag:
		intro = append(intro, count+" carry the tag “"+visible(d.Name)+"”"+severitiesOf(d.Severities)+".")
		if d.Page.Total == 1 {
			intro[0] = strings.Replace(intro[0], " carry ", " carries ", 1)
		}
	default:
		intro = append(intro, count+" with one concept behind them"+severitiesOf(d.Severities)+".")
		if d.Page.Total == 1 {
			intro[0] = "One documented error stands for this concept so far" + severitiesOf(d.Severities) + "."
		}
	}
	if d.Place != PlaceRepo && len(d.Repos) > 0 {
		intro = append(intro, placesOf(d.Page.Total, d.Repos))
	}
	var about []string
	for _, tag := range d.Tags {
		if tag.Name != d.Name && len(about) < 4 {
			about = append(about, words(tag.Name))
		}
	}
	if len(about) > 1 && d.Page.Total > 1 {
		intro = append(intro, "What they are mostly about: "+enumerate(about)+".")
	}
	for _, item := range d.Newest {
		intro = append(intro, "Last changed on "+newDate(item.ContentChangedAt).Text+".")
	}
	return intro
}

// severitiesOf tells how bad the errors are, where they are not all alike:
// ": 8 of severity error, 2 warnings".
func severitiesOf(groups []kb.Group) string {
	var parts []string
	for _, severity := range severities {
		for _, g := range groups {
			if g.Name == severity {
				parts = append(parts, thousands(g.Count)+" "+severity)
			}
		}
	}
	switch len(parts) {
	case 0:
		return ""
	case 1:
		return ", severity " + visible(groups[0].Name)
	default:
		return " (" + strings.Join(parts, ", ") + ")"
	}
}

func placesOf(total int, repos []kb.Group) string {
	switch {
	case total == 1:
		return "It comes from " + visible(repos[0].Name) + "."
	case len(repos) == 1:
		return "All come from " + visible(repos[0].Name) + "."
	}
	var names []string
	for _, r := range repos[:min(len(repos), 3)] {
		names = append(names, visible(r.Name))
	}
	if more := len(repos) - len(names); more > 0 {
		names = append(names, thousands(more)+" more")
	}
	return "Found in " + plural(len(repos), "project", "projects") + ": " + enumerate(names) + "."
}

func capitalise(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func (r *Renderer) group(ctx context.Context, place Place, name string, offset int) (Document, error) {
	var filter kb.Filter
	switch place {
	case PlaceRepo:
		filter.Repo = name
	case PlaceTag:
		filter.Tag = name
	default:
		filter.Background = name
	}
	d := GroupData{Place: place, Name: name, Offset: offset}
	list := filter
	list.Limit, list.Offset = pageSize, offset
	var err error
	if d.Page, err = r.src.List(ctx, list); err != nil {
		return Document{}, fmt.Errorf("list records of %q: %w", name, err)
	}
	if offset >= d.Page.Total {
		return Document{}, fmt.Errorf("%w: group %q", kb.ErrNotFound, name)
	}
	for _, g := range []struct {
		kind kb.GroupKind
		to   *[]kb.Group
	}{
		{kb.GroupSeverity, &d.Severities},
		{kb.GroupRepo, &d.Repos},
		{kb.GroupTag, &d.Tags},
		{kb.GroupBackground, &d.Concepts},
	} {
		if *g.to, err = r.src.Groups(ctx, g.kind, filter); err != nil {
			return Document{}, fmt.Errorf("list groups by %s: %w", g.kind, err)
		}
	}
	newest := filter
	newest.Sort, newest.Limit = "changed", 1
	last, err := r.src.List(ctx, newest)
	if err != nil {
		return Document{}, fmt.Errorf("list records of %q: %w", name, err)
	}
	d.Newest = last.Items
	return ok(ctx, GroupPage(NewGroupView(r.site, d)))
}
