package errorkb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// htmlRules is the configuration of html-validate. One rule of the sets that it
// extends does not fit: long-title, for a title is a message as it was raised.
const htmlRules = "testdata/html-validate.json"

// TestHTML checks every page of the static site, and what only a server
// answers, against the standard and rules of accessibility.
func TestHTML(t *testing.T) {
	t.Parallel()
	validator := nodeProgram(t, "html-validate")
	dir := buildSite(t, "--wasm", "none")
	static := countHTML(t, dir)
	if static == 0 {
		t.Fatal("the site has no page")
	}
	address := startServer(t)
	for i, page := range pages {
		if strings.ContainsRune(page.path, '?') {
			savePage(t, dir, i, func() (*http.Response, error) { return http.Get(address + page.path) })
		}
	}
	for i, text := range []string{pastedLog, "Error: something that nobody has documented", ""} {
		savePage(t, dir, 100+i, func() (*http.Response, error) {
			return http.PostForm(address+"/diagnose", url.Values{"text": {text}})
		})
	}
	live := startServer(t, "--live-proof")
	savePage(t, dir, 200, func() (*http.Response, error) { return http.Get(live + busyPage) })
	savePage(t, dir, 201, func() (*http.Response, error) {
		r, err := http.NewRequest("POST", live+"/api/errors/duplex-channel-route-busy/prove", nil)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Accept", "text/html")
		return http.DefaultClient.Do(r)
	})
	if countHTML(t, dir) < static+8 {
		t.Error("the server was asked for fewer pages than it should")
	}
	for _, complaint := range checkHTML(t, validator, dir) {
		t.Error(complaint)
	}
}

// TestHTMLComplaints shows that mistakes are found.
func TestHTMLComplaints(t *testing.T) {
	t.Parallel()
	validator, dir := nodeProgram(t, "html-validate"), t.TempDir()
	const page = "<!doctype html>\n<html lang=\"en\"><head><title>A</title></head><body>\n%s\n</body></html>\n"
	for name, body := range map[string]string{
		"good.html":      `<h1>A</h1>`,
		"nesting.html":   `<p><div>b</div></p>`,
		"duplicate.html": `<h1 id="a">A</h1><h2 id="a">B</h2>`,
		"image.html":     `<h1>A</h1><img src="a.png">`,
		"form.html":      `<h1>A</h1><form action="/"><label for="q">q</label><input id="q" name="q"></form>`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, page, body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := strings.Join(checkHTML(t, validator, dir), "\n")
	for _, want := range []string{"nesting.html:3", "[no-dup-id]", "[wcag/h37]", "[wcag/h32]"} {
		if !strings.Contains(got, want) {
			t.Errorf("no complaint %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "good.html") {
		t.Errorf("complaint about a good page:\n%s", got)
	}
}

func savePage(t *testing.T, dir string, number int, ask func() (*http.Response, error)) {
	t.Helper()
	response, err := ask()
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if kind := response.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/html") {
		t.Fatalf("%s answers with %s", response.Request.URL, kind)
	}
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("served-%d.html", number)), body, 0o644); err != nil {
		t.Fatal(err)
	}
}

func countHTML(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".html") {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// checkHTML runs the validator over the pages in dir and below, and returns
// what it says.
func checkHTML(t *testing.T, validator, dir string) []string {
	t.Helper()
	rules, err := filepath.Abs(htmlRules)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*patience)
	defer cancel()
	run := exec.CommandContext(ctx, validator, "--config", rules, "--formatter", "json", "**/*.html")
	run.Dir = dir
	output, err := run.Output()
	var failed *exec.ExitError
	if err != nil && (!errors.As(err, &failed) || failed.ExitCode() != 1) {
		t.Fatalf("running %s: %v", validator, err)
	}
	var files []struct {
		FilePath string
		Messages []struct {
			RuleID, Message, Selector string
			Line, Column              int
		}
	}
	if err := json.Unmarshal(output, &files); err != nil {
		t.Fatalf("%s answered %.200q: %v", validator, output, err)
	}
	var complaints []string
	for _, file := range files {
		name := strings.TrimPrefix(strings.TrimPrefix(file.FilePath, dir), "/")
		for _, m := range file.Messages {
			complaints = append(complaints, fmt.Sprintf("%s:%d:%d: [%s] %s at %s", name, m.Line, m.Column, m.RuleID, m.Message, m.Selector))
		}
	}
	if failed != nil && len(complaints) == 0 {
		t.Fatalf("%s failed without a complaint: %s", validator, failed.Stderr)
	}
	return complaints
}
