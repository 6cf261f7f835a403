package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"errorkb/internal/render"
	"errorkb/internal/site"
)

// walker follows every link of a site on a bare file server.
type walker struct {
	t     *testing.T
	host  string
	base  render.Base
	pages map[string]*pageFacts // by address without fragment
	queue []string
	links int
}

// pageFacts is what the walk needs to know of a page.
type pageFacts struct {
	ids   map[string]bool
	links []link
	html  bool
}

type link struct{ element, from, to string }

// attributes that hold an address, by element.
var linkAttributes = map[string][]string{
	"a": {"href"}, "link": {"href"}, "area": {"href"}, "script": {"src"}, "img": {"src", "srcset"}, "source": {"src", "srcset"},
	"form": {"action"}, "iframe": {"src"}, "use": {"href"}, "image": {"href"}, "button": {"formaction"},
}

// fileServerShowsIt loads every page of the site from a file server that knows nothing of
// it, and follows every link, anchor and asset.
func (b built) fileServerShowsIt(t *testing.T) {
	server := httptest.NewServer(http.StripPrefix(string(b.base), http.FileServer(http.Dir(b.out))))
	defer server.Close()
	w := &walker{t: t, host: server.URL, base: b.base, pages: map[string]*pageFacts{}}
	w.visit(b.base.Address(render.PlaceHome))
	for len(w.queue) > 0 {
		next := w.queue[0]
		w.queue = w.queue[1:]
		w.follow(w.pages[next])
	}
	w.checkReached(b)
	if w.links < 1000 {
		t.Errorf("only %d links followed", w.links)
	}
}

// visit loads a page once and remembers its links.
func (w *walker) visit(address string) *pageFacts {
	if facts, ok := w.pages[address]; ok {
		return facts
	}
	status, body, header := get(w.t, w.host, address)
	if location := header.Get("Location"); status == http.StatusMovedPermanently && location != "" {
		// The file server adds a slash to the names of folders.
		target, err := url.Parse(location)
		if err == nil && path.Join(path.Dir(address), target.Path)+"/" == address+"/" || location == path.Base(address)+"/" {
			status, body, header = get(w.t, w.host, address+"/")
		}
	}
	if status != http.StatusOK {
		w.pages[address] = nil
		return nil
	}
	facts := &pageFacts{ids: map[string]bool{}, html: strings.HasPrefix(header.Get("Content-Type"), "text/html")}
	if facts.html {
		facts.read(w.t, address, body)
	}
	w.pages[address] = facts
	w.queue = append(w.queue, address)
	return facts
}

func (f *pageFacts) read(t *testing.T, address, body string) {
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	for node := range root.Descendants() {
		if node.Type != html.ElementNode {
			continue
		}
		for _, a := range node.Attr {
			switch {
			case a.Key == "id":
				if f.ids[a.Val] {
					t.Errorf("%s: id %q stands twice", address, a.Val)
				}
				f.ids[a.Val] = true
			case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
				t.Errorf("%s: <%s> has the inline attribute %q", address, node.Data, a.Key)
			case slices.Contains(linkAttributes[node.Data], a.Key):
				f.links = append(f.links, link{node.Data, address, a.Val})
			case node.Data == "meta" && a.Key == "content" && strings.Contains(a.Val, "url="):
				_, to, _ := strings.Cut(a.Val, "url=")
				f.links = append(f.links, link{"meta", address, strings.Trim(to, "'\"")})
			}
		}
		if node.Data == "script" && node.FirstChild != nil || node.Data == "style" {
			t.Errorf("%s: inline <%s>", address, node.Data)
		}
	}
}

// follow checks each link of a page.
func (w *walker) follow(facts *pageFacts) {
	for _, l := range facts.links {
		w.links++
		if problem := w.check(l); problem != "" {
			w.t.Errorf("%s: <%s> leads to %q: %s", l.from, l.element, l.to, problem)
		}
	}
}

func (w *walker) check(l link) string {
	from, err := url.Parse(l.from)
	if err != nil {
		return err.Error()
	}
	to, err := url.Parse(l.to)
	if err != nil {
		return err.Error()
	}
	if to.Scheme != "" || to.Host != "" {
		if l.element != "a" && l.element != "link" {
			return "is loaded from elsewhere"
		}
		if to.Scheme != "https" && to.Scheme != "http" && to.Scheme != "mailto" {
			return "odd scheme"
		}
		return ""
	}
	target := from.ResolveReference(to)
	if !strings.HasPrefix(target.Path, string(w.base)+"/") {
		return "is outside the base path"
	}
	facts := w.visit(target.EscapedPath())
	switch {
	case facts == nil:
		return "broken"
	case target.Fragment != "" && facts.html && !facts.ids[target.Fragment]:
		return fmt.Sprintf("no anchor %q there", target.Fragment)
	}
	return ""
}

func isProblem(base render.Base, address string) bool {
	place, _, found := base.Locate(address)
	return found && place == render.PlaceProblem
}

// checkReached makes sure that no page is an island. Redirects and the pages
// that explain problems are there for links from outside.
func (w *walker) checkReached(b built) {
	for _, address := range b.addresses {
		name, err := site.FileName(b.base, address)
		if err != nil {
			w.t.Fatal(err)
		}
		if path.Base(name) != "index.html" || w.pages[address] != nil {
			continue
		}
		status, _, _ := get(w.t, b.server.URL, address)
		if status == http.StatusMovedPermanently || isProblem(b.base, address) {
			if w.visit(address) == nil {
				w.t.Errorf("%s is not there", address)
			}
			continue
		}
		w.t.Errorf("no page leads to %s", address)
	}
	for len(w.queue) > 0 {
		next := w.queue[0]
		w.queue = w.queue[1:]
		w.follow(w.pages[next])
	}
	// The maps for machines lead to the same places.
	for _, place := range []render.Place{render.PlaceSitemap, render.PlaceFeed} {
		address := b.base.Address(place)
		_, body, _ := get(w.t, w.host, address)
		found := 0
		for _, piece := range strings.FieldsFunc(body, func(r rune) bool { return strings.ContainsRune("<>\"' \n", r) }) {
			rest, ok := strings.CutPrefix(piece, render.DefaultSiteURL)
			if !ok {
				continue
			}
			found++
			if rest != address && w.visit(rest) == nil {
				w.t.Errorf("%s names %s, which is not there", address, rest)
			}
		}
		if found == 0 {
			w.t.Errorf("%s names no address", address)
		}
	}
}
