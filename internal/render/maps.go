package render

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"

	"errorkb/internal/kb"
)

// DefaultSiteURL stands in feed, sitemap, robots and search description, which
// need whole URLs, when the site does not know its own: the address of
// kb serve when nothing else is said. Whoever publishes a site sets the real
// one.
const DefaultSiteURL = "http://127.0.0.1:8080"

// publicURL makes a whole URL of an address.
func publicURL(site Site, address string) string {
	if site.URL == "" {
		return DefaultSiteURL + address
	}
	return site.Absolute(address)
}

type sitemapURL struct {
	Loc     string `xml:"loc"`
	LastMod string `xml:"lastmod,omitempty"`
}

// maxSitemap is the most addresses that the sitemap protocol allows in a file.
const maxSitemap = 50000

// sitemap lists the pages that a search engine should know: those with content
// of their own, under their canonical address. Records come before groups, so
// that a very large site loses the least when the limit cuts it.
func (r *Renderer) sitemap(ctx context.Context) ([]byte, error) {
	var urls []sitemapURL
	add := func(lastMod string, place Place, args ...string) {
		if len(urls) < maxSitemap {
			urls = append(urls, sitemapURL{publicURL(r.site, r.site.To(place, args...)), lastMod})
		}
	}
	add("", PlaceHome)
	add("", PlaceErrors)
	add("", PlaceDiagnose)
	if r.site.Proof {
		add("", PlaceProof)
	}
	err := eachItem(ctx, r.src, kb.Filter{}, func(item kb.Item) error {
		if item.Status != kb.StatusWithdrawn {
			add(atomTime(item.ContentChangedAt), PlaceError, item.Repo, item.Slug)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, group := range groupPlaces {
		add("", group.all)
		groups, err := r.src.Groups(ctx, group.kind, kb.Filter{})
		if err != nil {
			return nil, fmt.Errorf("group records by %s: %w", group.kind, err)
		}
		for _, g := range groups {
			add("", group.place, g.Name)
		}
	}
	for _, file := range r.proof.files {
		add("", PlaceSource, file)
	}
	return encodeXML(struct {
		XMLName xml.Name     `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
		URLs    []sitemapURL `xml:"url"`
	}{URLs: urls})
}

// robots lets everything be read but answers that depend on a query, which
// have no end.
func robots(site Site) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "User-agent: *\nDisallow: %s\nDisallow: %s\n\nSitemap: %s\n",
		site.To(PlaceSearch), site.To(PlaceAPISearch), publicURL(site, site.To(PlaceSitemap)))
	return out.Bytes()
}

// openSearch describes the search to browsers, which then offer it in their
// address bar.
func openSearch(site Site) ([]byte, error) {
	type address struct {
		Type     string `xml:"type,attr"`
		Rel      string `xml:"rel,attr,omitempty"`
		Template string `xml:"template,attr"`
	}
	return encodeXML(struct {
		XMLName     xml.Name  `xml:"http://a9.com/-/spec/opensearch/1.1/ OpenSearchDescription"`
		ShortName   string    `xml:"ShortName"`
		Description string    `xml:"Description"`
		URLs        []address `xml:"Url"`
		Encoding    string    `xml:"InputEncoding"`
	}{
		ShortName:   cutWords(site.Name, 16), // the most that the format allows
		Description: "Search documented errors by message, code, class or cause",
		URLs: []address{
			{"text/html", "", publicURL(site, site.To(PlaceSearch)) + "?q={searchTerms}"},
			{"application/json", "", publicURL(site, site.To(PlaceAPISearch)) + "?q={searchTerms}"},
			{"application/opensearchdescription+xml", "self", publicURL(site, site.To(PlaceOpenSearch))},
		},
		Encoding: "UTF-8",
	})
}

// llms is the introduction for language models and agents: what this is, and
// the fixed addresses that answer one question each.
func (r *Renderer) llms(ctx context.Context) ([]byte, error) {
	repos, err := r.src.Groups(ctx, kb.GroupRepo, kb.Filter{})
	if err != nil {
		return nil, fmt.Errorf("group records by repo: %w", err)
	}
	var out bytes.Buffer
	to := func(place Place, args ...string) string { return publicURL(r.site, r.site.To(place, args...)) }
	// {id} and its like are placeholders for the reader; an address would
	// escape the braces.
	record := to(PlaceAPIError, "") + "{id}"
	fmt.Fprintf(&out, `# %s

> Documented errors of software projects. Each record says how its message is recognised, what it
> means, what triggers it and what remedies it, as data. Data set %s.

To find the record of an error message, stack trace or log, POST it as it is (Content-Type:
text/plain, at most the size that a 413 answer names) to %s.
The answer has a "verdict": known, likely or unknown. Take "unknown" at its word; do not guess from
the near records it names. For known and likely, "diagnoses" are ranked, cause first, each with the
captured values and with solutions in the order in which they help. A record says in "retry"
whether doing the same thing again can help. Text that is sent is neither stored nor logged.

## Addresses

- [Diagnose a text](%s): POST text/plain, or application/json {"text": "…"}
- Record by id: %s
- [List of records](%s): filters repo, tag, severity, class, code, status; follow "next"
- [Full-text search](%s?q=): words of a message, a code, a class; hits with the reason
- [Data set](%s): version, counts, commits, checksums
- [All records, one a line](%s): fetch once instead of many single records
- [Changes](%s): id and time of the last change, newest first

## Contracts

- [OpenAPI 3.1 document](%s)
- [JSON Schema of a record](%s)
- Failures are application/problem+json (RFC 9457); "type" is the address of an explanation

## Projects

`, r.site.Name, r.src.Version(), to(PlaceAPIDiagnose),
		to(PlaceAPIDiagnose), record, to(PlaceAPIErrors), to(PlaceAPISearch), to(PlaceAPIDataset),
		to(PlaceAPIDatasetLines), to(PlaceAPIModified), to(PlaceAPIOpenAPI), to(PlaceAPISchema))
	for _, repo := range repos {
		fmt.Fprintf(&out, "- [%s](%s): %s\n", repo.Name, to(PlaceRepo, repo.Name), plural(repo.Count, "error", "errors"))
	}
	return out.Bytes(), nil
}
