package render

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"time"

	"errorkb/internal/kb"
)

// feedEntries bounds the feed: readers poll it, and whoever needs all changes
// reads modified.json.
const feedEntries = 50

type atomFeed struct {
	XMLName   xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID        string      `xml:"id"`
	Title     string      `xml:"title"`
	Subtitle  string      `xml:"subtitle"`
	Updated   string      `xml:"updated"`
	Author    atomAuthor  `xml:"author"`
	Generator string      `xml:"generator"`
	Links     []atomLink  `xml:"link"`
	Entries   []atomEntry `xml:"entry"`
}

type atomAuthor struct {
	Name string `xml:"name"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"`
	Href string `xml:"href,attr"`
}

type atomCategory struct {
	Term string `xml:"term,attr"`
}

type atomEntry struct {
	ID         string         `xml:"id"`
	Title      string         `xml:"title"`
	Published  string         `xml:"published,omitempty"`
	Updated    string         `xml:"updated"`
	Links      []atomLink     `xml:"link"`
	Summary    string         `xml:"summary"`
	Categories []atomCategory `xml:"category"`
}

// feed is the Atom feed of changes, newest first. The id of an entry is the
// address of the record by its id, which stays when the slug changes.
func (r *Renderer) feed(ctx context.Context) ([]byte, error) {
	page, err := r.src.List(ctx, kb.Filter{Sort: sortChanged, Limit: feedEntries})
	if err != nil {
		return nil, fmt.Errorf("list changed records: %w", err)
	}
	feed := atomFeed{
		ID:        publicURL(r.site, r.site.To(PlaceHome)),
		Title:     r.site.Name + ": new and changed errors",
		Subtitle:  "Documented errors with their causes and remedies, as they are added and corrected.",
		Updated:   atomTime(""),
		Author:    atomAuthor{r.site.Name},
		Generator: "kb",
		Links: []atomLink{
			{"self", "application/atom+xml", publicURL(r.site, r.site.To(PlaceFeed))},
			{"alternate", "text/html", publicURL(r.site, r.site.To(PlaceHome))},
		},
	}
	for i, item := range page.Items {
		if i == 0 {
			feed.Updated = atomTime(item.ContentChangedAt)
		}
		entry := atomEntry{
			ID:        publicURL(r.site, r.site.To(PlaceErrorID, item.ID)),
			Title:     item.Title,
			Published: atomTime(item.FirstPublishedAt),
			Updated:   atomTime(item.ContentChangedAt),
			Links: []atomLink{
				{"alternate", "text/html", publicURL(r.site, r.site.To(PlaceError, item.Repo, item.Slug))},
				{"related", "application/json", publicURL(r.site, r.site.To(PlaceAPIError, item.ID))},
			},
			Summary: item.Summary,
		}
		for _, tag := range item.Tags {
			entry.Categories = append(entry.Categories, atomCategory{tag})
		}
		feed.Entries = append(feed.Entries, entry)
	}
	return encodeXML(feed)
}

// atomTime makes sure that a time has the form Atom demands. Records without a
// readable time get the beginning of the epoch: old, valid, and the same in
// every build.
func atomTime(rfc3339 string) string {
	t, err := time.Parse(time.RFC3339Nano, rfc3339)
	if err != nil {
		t = time.Unix(0, 0)
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func encodeXML(v any) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(xml.Header)
	enc := xml.NewEncoder(&out)
	enc.Indent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
