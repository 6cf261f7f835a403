// Package web holds what the browser loads: style sheet, scripts and icon.
// Call Files to serve or write them, and Names to link to them.
package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"path"
	"strings"
	"sync"
)

//go:embed static
var static embed.FS

// File is one file for the browser.
type File struct {
	Name        string // as its source is called: "app.css"
	Path        string // as it is served: the name with a hash of the content, so it may be cached for ever
	ContentType string
	Data        []byte
}

// types names the content type of each kind of file in static.
var types = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// Files lists all files, by name. The slice and its data are shared: do not
// change them.
var Files = sync.OnceValue(func() []File {
	entries, err := fs.ReadDir(static, "static")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var files []File
	for _, entry := range entries {
		data, err := static.ReadFile("static/" + entry.Name())
		if err != nil {
			panic(err)
		}
		ext := path.Ext(entry.Name())
		sum := sha256.Sum256(data)
		files = append(files, File{
			Name:        entry.Name(),
			Path:        strings.TrimSuffix(entry.Name(), ext) + "." + hex.EncodeToString(sum[:6]) + ext,
			ContentType: types[ext],
			Data:        data,
		})
	}
	return files
})

// Names maps the name of each file to the path it is served at.
func Names() map[string]string {
	names := map[string]string{}
	for _, f := range Files() {
		names[f.Name] = f.Path
	}
	return names
}
