package render

import (
	"context"
	"fmt"
	"slices"

	"errorkb/internal/kb"
)

// HomeView is the first page.
type HomeView struct {
	Layout  Layout
	Form    PasteForm
	Counts  []Count
	Entries []Beside // projects, concepts, tags
	New     []Row
	NewNote string // about the order of New, where changes do not give one
	All     Link
	Tools   HomeTools
}

// Count is a number with its noun.
type Count struct{ Number, Noun string }

// HomeTools are the addresses for programs.
type HomeTools struct{ DiagnoseAPI, OpenAPI, Dataset, Feed, LLMs string }

// HomeData is what a HomeView is made of.
type HomeData struct {
	Newest                kb.Page // by change; one more than the page shows, if there are so many
	Repos, Tags, Concepts []kb.Group
	Samples               []string // messages to try
}

// NewHomeView makes the first page.
func NewHomeView(site Site, d HomeData) HomeView {
	v := HomeView{
		Layout: site.layout(PlaceHome, site.Name, "Paste an error message, a stack trace or a whole log and get its cause, its values and the fix."),
		Form:   newPasteForm(site, "", d.Samples),
		New:    newRows(site, d.Newest.Items[:min(len(d.Newest.Items), homeNew)]),
		All:    Link{"All " + plural(d.Newest.Total, "error", "errors"), site.To(PlaceErrors)},
		Tools: HomeTools{
			DiagnoseAPI: site.To(PlaceAPIDiagnose), OpenAPI: site.To(PlaceAPIOpenAPI),
			Dataset: site.To(PlaceAPIDatasetLines), Feed: site.To(PlaceFeed), LLMs: site.To(PlaceLLMs),
		},
	}
	v.Layout.Canonical = site.To(PlaceHome)
	v.Layout.OwnSearch = true
	if items := d.Newest.Items; len(items) > homeNew {
		// A set that is written in one go has one time for all of it, and the list
		// then goes on by title.
		first, next := newDate(items[0].ContentChangedAt), newDate(items[homeNew].ContentChangedAt)
		if first == next {
			v.NewNote = "More than these changed on " + first.Text + ", all at once; they stand by title."
		}
	}
	for _, c := range []struct {
		n         int
		one, many string
	}{
		{d.Newest.Total, "error", "errors"},
		{len(d.Repos), "project", "projects"},
		{len(d.Concepts), "concept", "concepts"},
		{len(d.Tags), "tag", "tags"},
	} {
		noun := c.many
		if c.n == 1 {
			noun = c.one
		}
		v.Counts = append(v.Counts, Count{thousands(c.n), noun})
	}
	for _, e := range []struct {
		place  Place
		groups []kb.Group
	}{{PlaceRepo, d.Repos}, {PlaceBackground, d.Concepts}, {PlaceTag, d.Tags}} {
		links := countLinks(site, e.place, e.groups, GroupData{Place: PlaceHome})
		if len(links) == 0 {
			continue
		}
		of := groupPlaceOf(e.place)
		b := Beside{Label: of.label, Links: links}
		if len(links) < len(e.groups) {
			b.All = Link{"All " + plural(len(e.groups), of.one, of.many), site.To(of.all)}
		}
		v.Entries = append(v.Entries, b)
	}
	return v
}

// Sizes of the lists on the first page.
const (
	homeNew     = 6
	homeSamples = 3
	sampleBytes = 1000 // a longer example is no quick try
	sampleOf    = 10   // records of a concept that are looked at for a sample
)

func (r *Renderer) home(ctx context.Context) (Document, error) {
	var d HomeData
	var err error
	if d.Newest, err = r.src.List(ctx, kb.Filter{Sort: "changed", Limit: homeNew + 1}); err != nil {
		return Document{}, fmt.Errorf("list newest records: %w", err)
	}
	for _, g := range []struct {
		kind kb.GroupKind
		to   *[]kb.Group
	}{{kb.GroupRepo, &d.Repos}, {kb.GroupTag, &d.Tags}, {kb.GroupBackground, &d.Concepts}} {
		if *g.to, err = r.src.Groups(ctx, g.kind, kb.Filter{}); err != nil {
			return Document{}, fmt.Errorf("list groups by %s: %w", g.kind, err)
		}
	}
	if d.Samples, err = r.samples(ctx, d); err != nil {
		return Document{}, err
	}
	return ok(ctx, HomePage(NewHomeView(r.site, d)))
}

// samples chooses messages to try that show what the diagnosis can do: of
// different concepts, the most common ones first, and with values in them where
// a concept has such a message. Without concepts they are the newest ones.
func (r *Renderer) samples(ctx context.Context, d HomeData) ([]string, error) {
	lists := make([][]kb.Item, 0, homeSamples)
	for _, concept := range d.Concepts[:min(homeSamples, len(d.Concepts))] {
		page, err := r.src.List(ctx, kb.Filter{Background: concept.Name, Limit: sampleOf})
		if err != nil {
			return nil, fmt.Errorf("list records of concept %q: %w", concept.Name, err)
		}
		lists = append(lists, page.Items)
	}
	for i := 0; len(lists) < homeSamples && i < len(d.Newest.Items); i++ {
		lists = append(lists, d.Newest.Items[i:i+1])
	}
	var samples []string
	for _, items := range lists {
		best, valued := "", false
		for _, item := range items {
			record, err := r.src.Record(ctx, item.ID)
			if err != nil {
				return nil, fmt.Errorf("read record %q: %w", item.ID, err)
			}
			if len(record.Examples.Match) == 0 || len(record.Examples.Match[0]) > sampleBytes || slices.Contains(samples, record.Examples.Match[0]) {
				continue
			}
			if values := len(record.Captures) > 0; best == "" || values && !valued {
				best, valued = record.Examples.Match[0], values
			}
		}
		if best != "" {
			samples = append(samples, best)
		}
	}
	return samples, nil
}
