package site

import (
	"bytes"
	"fmt"
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

// headers names the content types of the files whose names do not tell them,
// and lets assets, whose names change with their content, be kept for ever.
func headers(base render.Base) []byte {
	var out bytes.Buffer
	for _, address := range []string{
		base.Address(render.PlaceAPIErrors) + "/*",
		base.Address(render.PlaceAPIDataset),
	} {
		fmt.Fprintf(&out, "%s\n  Content-Type: application/json\n  Access-Control-Allow-Origin: *\n", address)
	}
	fmt.Fprintf(&out, "%s/*\n  Cache-Control: public, max-age=31536000, immutable\n", strings.TrimSuffix(base.Address(render.PlaceAsset, ""), "/"))
	fmt.Fprintf(&out, "%s\n  Content-Type: application/atom+xml; charset=utf-8\n", base.Address(render.PlaceFeed))
	return out.Bytes()
}
