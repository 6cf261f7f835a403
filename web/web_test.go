package web

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
)

func TestFilesAreNamedByContent(t *testing.T) {
	names := Names()
	for _, name := range []string{"app.css", "app.js", "theme.js", "icon.svg"} {
		if names[name] == "" {
			t.Errorf("file %s is missing", name)
		}
	}
	for _, f := range Files() {
		sum := sha256.Sum256(f.Data)
		if len(f.Data) == 0 || f.ContentType == "" || !strings.Contains(f.Path, "."+hex.EncodeToString(sum[:])[:12]+".") || names[f.Name] != f.Path {
			t.Errorf("file %s: %d bytes, path %q, type %q", f.Name, len(f.Data), f.Path, f.ContentType)
		}
	}
}

// The security policy allows nothing inline and nothing from elsewhere; these
// would be refused by the browser without a word on the page.
func TestNothingThePolicyForbids(t *testing.T) {
	forbidden := map[string]*regexp.Regexp{
		".css": regexp.MustCompile(`(?i)@import|url\(|expression\(`),
		".js":  regexp.MustCompile(`\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\.style\b|setAttribute\("style|https?://|createElement\("(?:script|style)`),
		".svg": regexp.MustCompile(`(?i)<script|\son\w+=|href=`),
	}
	for _, f := range Files() {
		ext := f.Name[strings.LastIndex(f.Name, "."):]
		if forbidden[ext] == nil {
			t.Errorf("file %s has no rule", f.Name)
		} else if found := forbidden[ext].Find(f.Data); found != nil {
			t.Errorf("file %s holds %q", f.Name, found)
		}
	}
}

// Colours live in the tokens, so that light and dark cannot drift apart.
func TestColoursComeFromTokens(t *testing.T) {
	css := read(t, "app.css")
	if strings.Count(css, "{") != strings.Count(css, "}") {
		t.Error("braces do not match")
	}
	used, defined := map[string]bool{}, map[string]bool{}
	for _, m := range regexp.MustCompile(`var\((--[\w-]+)`).FindAllStringSubmatch(css, -1) {
		used[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?m)[\s{;](--[\w-]+):`).FindAllStringSubmatch(css, -1) {
		defined[m[1]] = true
	}
	if len(used) < 20 {
		t.Fatalf("only %d tokens are used", len(used))
	}
	for name := range used {
		if !defined[name] {
			t.Errorf("token %s is used and not defined", name)
		}
	}
	for name := range defined {
		if !used[name] {
			t.Errorf("token %s is defined and not used", name)
		}
	}
	for i, line := range strings.Split(css, "\n") {
		bare := regexp.MustCompile(`light-dark\([^)]*\)|rgb\(0 0 0[^)]*\)`).ReplaceAllString(line, "")
		if regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b`).MatchString(bare) && !strings.Contains(line, ":root { color-scheme: light;") {
			t.Errorf("line %d has a colour that does not know light and dark: %s", i+1, strings.TrimSpace(line))
		}
	}
}

func TestIconIsXML(t *testing.T) {
	d := xml.NewDecoder(strings.NewReader(read(t, "icon.svg")))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	for _, f := range Files() {
		if f.Name == name {
			return string(f.Data)
		}
	}
	t.Fatalf("file %s is missing", name)
	return ""
}
