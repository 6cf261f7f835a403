package site

import (
	"path/filepath"
	"testing"

	"errorkb/internal/render"
)

func TestFileName(t *testing.T) {
	for _, c := range []struct {
		base          render.Base
		address, want string // want "" is an error
	}{
		{"", "/", "index.html"},
		{"", "/errors/", "errors/index.html"},
		{"", "/errors/page/2/", "errors/page/2/index.html"},
		{"", "/errors/o/r/slug/", "errors/o/r/slug/index.html"},
		{"", "/errors/ec727a874bad4398", "errors/ec727a874bad4398/index.html"},
		{"", "/errors/an.alias", "errors/an.alias/index.html"},
		{"", "/diagnose", "diagnose/index.html"},
		{"", "/404.html", "404.html"},
		{"", "/feed.xml", "feed.xml"},
		{"", "/api/errors", "api/errors/index.json"},
		{"", "/api/errors/ec727a874bad4398", "api/errors/ec727a874bad4398"},
		{"", "/api/dataset", "api/dataset"},
		{"", "/api/schema/record.json", "api/schema/record.json"},
		{"", "/assets/kb.1234.css", "assets/kb.1234.css"},
		{"", "/tags/c%2B%2B/", "tags/c++/index.html"},
		{"/kb", "/kb/", "index.html"},
		{"/kb", "/kb/api/errors", "api/errors/index.json"},
		{"/kb", "/kb", ""},
		{"/kb", "/errors/", ""},
		{"/kb", "/kbx/errors/", ""},
		{"", "errors/", ""},
		{"", "", ""},
		{"", "/errors?x=1", ""},
		{"", "/errors/#x", ""},
		{"", "/errors//x/", ""},
		{"", "//", ""},
		{"", "/../x/", ""},
		{"", "/%2e%2e/x/", ""},
		{"", "/a%2Fb/", ""},
		{"", "/a%5Cb/", ""},
		{"", "/a%00b/", ""},
		{"", "/a%zz/", ""},
	} {
		got, err := FileName(c.base, c.address)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("FileName(%q, %q) = %q, %v, want %q", c.base, c.address, got, err, c.want)
		}
	}
}

// Whatever the address, its file lies inside the folder of the site.
func FuzzFileName(f *testing.F) {
	for _, seed := range []string{"/", "/x/", "/../x", "/%2e%2e/", "/a%2f..%2f/", "//", "/a/./b/"} {
		f.Add("", seed)
		f.Add("/kb", "/kb"+seed)
	}
	f.Fuzz(func(t *testing.T, base, address string) {
		name, err := FileName(render.Base(base), address)
		if err == nil && !filepath.IsLocal(filepath.FromSlash(name)) {
			t.Errorf("FileName(%q, %q) = %q, outside the folder", base, address, name)
		}
	})
}
