package render

import (
	"context"
	"encoding/xml"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"errorkb/internal/kb"
)

// TestXMLIsWellFormed: whatever records hold, feed and maps can be read.
func TestXMLIsWellFormed(t *testing.T) {
	r := dataRenderer(t, dataShelf(), "")
	for _, address := range []string{"/feed.xml", "/sitemap.xml", "/opensearch.xml"} {
		decoder := xml.NewDecoder(strings.NewReader(string(documentOf(t, r, address))))
		elements := 0
		for {
			token, err := decoder.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", address, err)
			}
			if _, ok := token.(xml.StartElement); ok {
				elements++
			}
		}
		if elements < 4 {
			t.Errorf("%s: %d elements", address, elements)
		}
	}
}

// TestFeed checks what RFC 4287 demands.
func TestFeed(t *testing.T) {
	var feed atomFeed
	if err := xml.Unmarshal(documentOf(t, dataRenderer(t, dataShelf(), "/kb"), "/kb/feed.xml"), &feed); err != nil {
		t.Fatal(err)
	}
	if feed.ID != "https://kb.example.org/kb/" || feed.Title == "" || feed.Author.Name == "" || len(feed.Entries) != 3 {
		t.Fatalf("feed %+v", feed)
	}
	if self := feed.Links[0]; self.Rel != "self" || self.Href != "https://kb.example.org/kb/feed.xml" {
		t.Errorf("the link to the feed itself is %+v", self)
	}
	ids := map[string]bool{feed.ID: true}
	updated := feed.Updated
	for _, e := range feed.Entries {
		if ids[e.ID] || e.Title == "" || len(e.Links) == 0 || e.Links[0].Rel != "alternate" {
			t.Errorf("entry %+v", e)
		}
		ids[e.ID] = true
		for _, stamp := range []string{e.Published, e.Updated} {
			if _, err := time.Parse(time.RFC3339, stamp); err != nil {
				t.Errorf("entry %s: %v", e.ID, err)
			}
		}
		for _, link := range append(e.Links, atomLink{Href: e.ID}) {
			if u, err := url.Parse(link.Href); err != nil || u.Scheme != "https" || u.Host != "kb.example.org" || !strings.HasPrefix(u.Path, "/kb/") {
				t.Errorf("entry %s: link %q", e.ID, link.Href)
			}
		}
		if e.Updated > updated {
			t.Errorf("entry %s is newer than what stands before it", e.ID)
		}
		updated = e.Updated
	}
	if feed.Updated != feed.Entries[0].Updated {
		t.Errorf("the feed was updated at %s, its first entry at %s", feed.Updated, feed.Entries[0].Updated)
	}
	if first := feed.Entries[0]; first.ID != "https://kb.example.org/kb/errors/00000000000000a1" || first.Title != "Socket ${name} of ${owner.id} is busy." ||
		!slices.Contains(first.Categories, atomCategory{"socket"}) {
		t.Errorf("the first entry is %+v", first)
	}
}

// TestSitemap: each address leads to a document, and each record that is not
// withdrawn is there.
func TestSitemap(t *testing.T) {
	withdrawn := plainRecord()
	withdrawn.ID, withdrawn.Slug, withdrawn.Status = "00000000000000a9", "never-was", kb.StatusWithdrawn
	r := dataRenderer(t, append(testShelf(), withdrawn), "")
	var m struct {
		URLs []sitemapURL `xml:"url"`
	}
	if err := xml.Unmarshal(documentOf(t, r, "/sitemap.xml"), &m); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, u := range m.URLs {
		address, found := strings.CutPrefix(u.Loc, "https://kb.example.org")
		if _, twice := seen[address]; twice || !found {
			t.Errorf("address %q", u.Loc)
		}
		seen[address] = u.LastMod
		documentOf(t, r, address)
	}
	if seen["/errors/acme/tool/socket-busy/"] != "2026-09-23T08:17:48.524Z" || seen["/errors/acme/tool/queue-full/"] == "" {
		t.Errorf("addresses %v", seen)
	}
	if _, found := seen["/errors/acme/tool/never-was/"]; found {
		t.Error("a withdrawn record is offered to search engines")
	}
	for _, address := range []string{"/", "/errors/", "/repos/acme/tool/", "/tags/socket/", "/backgrounds/resource-in-use/"} {
		if _, found := seen[address]; !found {
			t.Errorf("the sitemap lacks %s", address)
		}
	}
}

func TestRobotsAndOpenSearch(t *testing.T) {
	r := dataRenderer(t, testShelf(), "/kb")
	want := "User-agent: *\nDisallow: /kb/search\nDisallow: /kb/api/search\n\nSitemap: https://kb.example.org/kb/sitemap.xml\n"
	if got := string(documentOf(t, r, "/kb/robots.txt")); got != want {
		t.Errorf("robots:\n%s", got)
	}
	search := string(documentOf(t, r, "/kb/opensearch.xml"))
	for _, want := range []string{
		`<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">`,
		`<Url type="text/html" template="https://kb.example.org/kb/search?q={searchTerms}"></Url>`,
		`rel="self" template="https://kb.example.org/kb/opensearch.xml"`,
	} {
		if !strings.Contains(search, want) {
			t.Errorf("the search description lacks %s:\n%s", want, search)
		}
	}
}

var markdownLink = regexp.MustCompile(`\]\((https://kb\.example\.org[^)]*)\)`)

// TestLLMs: each link of the introduction leads to a document, or to an answer
// with a query.
func TestLLMs(t *testing.T) {
	r := dataRenderer(t, testShelf(), "/kb")
	text := string(documentOf(t, r, "/kb/llms.txt"))
	links := markdownLink.FindAllStringSubmatch(text, -1)
	if len(links) < 8 || !strings.HasPrefix(text, "# kb\n\n> ") {
		t.Fatalf("%d links in\n%s", len(links), text)
	}
	for _, link := range links {
		address := strings.TrimPrefix(link[1], "https://kb.example.org")
		path, _, query := strings.Cut(address, "?")
		place, _, known := Base("/kb").Locate(path)
		if !known {
			t.Errorf("link %s leads nowhere", link[1])
		}
		if query || place == PlaceAPIDiagnose {
			continue
		}
		if _, err := r.Document(context.Background(), address); err != nil {
			t.Errorf("link %s: %v", link[1], err)
		}
	}
	if !strings.Contains(text, "https://kb.example.org/kb/api/errors/{id}") {
		t.Error("the address of a record is missing")
	}
}

// TestWithoutSiteURL: feed and maps are valid and always the same even when
// nobody said where the site will be.
func TestWithoutSiteURL(t *testing.T) {
	if got := publicURL(Site{Base: "/kb"}, "/kb/feed.xml"); got != "http://127.0.0.1:8080/kb/feed.xml" {
		t.Errorf("got %s", got)
	}
}

func TestAtomTime(t *testing.T) {
	for in, want := range map[string]string{
		"2026-08-21T17:58:32.592Z":  "2026-08-21T17:58:32.592Z",
		"2026-08-21T19:58:32+02:00": "2026-08-21T17:58:32Z",
		"yesterday":                 "1970-01-01T00:00:00Z",
		"":                          "1970-01-01T00:00:00Z",
	} {
		if got := atomTime(in); got != want {
			t.Errorf("atomTime(%q) = %s, want %s", in, got, want)
		}
	}
}
