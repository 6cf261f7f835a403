package site

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"errorkb/internal/render"
)

// Files that tell hosts of static sites what plain files cannot. Hosts that do
// not know them show them as text, which does no harm.
const (
	redirectsName = "_redirects"
	headersName   = "_headers"
)

// redirectList collects the redirects of a build from its workers.
type redirectList struct {
	mu    sync.Mutex
	lines []string
}

func (l *redirectList) add(address string, document render.Document) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf("%s %s %d\n", address, document.Location, document.Status))
}

// file lists every redirect, sorted, and where the list of records lies.
func (l *redirectList) file(base render.Base) []byte {
	slices.Sort(l.lines)
	list := base.Address(render.PlaceAPIErrors)
	return []byte(strings.Join(l.lines, "") + fmt.Sprintf("%s %s/index.json 200\n", list, list))
}

// headerRule gives one address, or all that begin like it, a header.
type headerRule struct{ addresses, header string }

// headers names the content types of the files whose names do not tell them,
// opens the JSON files to other sites as the server does, lets assets, whose
// names change with their content, be kept for ever, and adds more rules.
func headers(base render.Base, more []headerRule) []byte {
	below := func(place render.Place) string { return strings.TrimSuffix(base.Address(place), "/") + "/*" }
	rules := []headerRule{
		{path.Dir(base.Address(render.PlaceAPIErrors)) + "/*", "Access-Control-Allow-Origin: *"},
		{below(render.PlaceAPIErrors), "Content-Type: application/json"},
		{base.Address(render.PlaceAPIDataset), "Content-Type: application/json"},
		{base.Address(render.PlaceFeed), "Content-Type: application/atom+xml; charset=utf-8"},
		{below(render.PlaceAsset), "Cache-Control: public, max-age=31536000, immutable"},
	}
	var out bytes.Buffer
	for _, rule := range append(rules, more...) {
		fmt.Fprintf(&out, "%s\n  %s\n", rule.addresses, rule.header)
	}
	return out.Bytes()
}
