package site

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"errorkb/internal/render"
)

// assetsFolder holds what the browser loads.
const assetsFolder = "assets"

// FileName computes the file, below the folder of the site, that holds the
// document of an address. A file server then shows it at that address:
//
//	/x/                   x/index.html
//	/x                    x/index.html (the file server adds the slash)
//	/feed.xml             feed.xml
//	/api/errors/{id}      api/errors/{id}
//	/api/errors           api/errors/index.json, as a folder has that name
//
// The base path is no part of the name: the folder is published below it.
func FileName(base render.Base, address string) (string, error) {
	escaped, ok := strings.CutPrefix(address, string(base)+"/")
	if !ok {
		return "", fmt.Errorf("address %q does not start with the base path %q", address, string(base)+"/")
	}
	if strings.ContainsAny(escaped, "?#") {
		return "", fmt.Errorf("address %q has a query or a fragment, so no file can hold it", address)
	}
	page := escaped == "" || strings.HasSuffix(escaped, "/")
	var segments []string
	for segment := range strings.SplitSeq(strings.TrimSuffix(escaped, "/"), "/") {
		name, err := url.PathUnescape(segment)
		if err != nil {
			return "", fmt.Errorf("address %q: %w", address, err)
		}
		if escaped != "" && !safeSegment(name) {
			return "", fmt.Errorf("address %q: %q cannot be the name of a file", address, name)
		}
		segments = append(segments, name)
	}
	name := path.Join(segments...)
	switch {
	case page:
		return path.Join(name, "index.html"), nil
	case address == base.Address(render.PlaceAPIErrors):
		return path.Join(name, "index.json"), nil
	case segments[0] == "api", segments[0] == assetsFolder, len(segments) == 1 && path.Ext(name) != "":
		return name, nil
	}
	return path.Join(name, "index.html"), nil
}

// safeSegment reports whether a decoded part of an address can name one file
// or folder on every system.
func safeSegment(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= 255 && !strings.ContainsAny(name, "/\\\x00")
}
