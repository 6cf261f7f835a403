package server

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"errorkb/internal/render"
)

// FuzzRequest sends anything and demands of every answer: it is not the
// server's fault, it has the headers that all have, a problem is a valid one,
// and a redirect stays on this host and leads to something.
func FuzzRequest(f *testing.F) {
	for _, seed := range []struct{ method, target, media, body string }{
		{"GET", "/", "", ""},
		{"GET", "/errors/paperclipai/paperclip/duplex-channel-capability-denied", "", ""},
		{"HEAD", "/errors/ec727a874bad4398/", "", ""},
		{"GET", "/errors/%2e%2e/%2F/%252F/", "", ""},
		{"GET", "//evil.example/%00%ff", "", ""},
		{"GET", "/api/errors/ec727a874bad4398?x=%zz", "", ""},
		{"GET", "/api/errors?repo=a&limit=3&cursor=after-1", "", ""},
		{"GET", "/search?q=%22a+AND&page=3", "", ""},
		{"GET", "/errors/?severity=error&page=1&sort=changed", "", ""},
		{"POST", "/api/diagnose", "text/plain", "Error: \x00\xff"},
		{"POST", "/api/diagnose", "application/json", `{"text": "a"}`},
		{"POST", "/diagnose", "application/x-www-form-urlencoded", "text=a%0D%0Ab"},
		{"OPTIONS", "/api/errors", "", ""},
		{"PUT", "/tags/Duplex-Channel/page/2/", "x/y", "z"},
	} {
		f.Add(seed.method, seed.target, seed.media, seed.body)
	}
	s := newTestServer(f, testConfig(f))
	f.Fuzz(func(t *testing.T, method, target, media, body string) {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n")))
		if err != nil {
			return // net/http answers it with 400 and shows it to nobody
		}
		r = r.WithContext(t.Context())
		r.RemoteAddr = "192.0.2.1:1"
		r.Header.Set("Content-Type", media)
		r.Body = http.NoBody
		if body != "" {
			r.Body = http.MaxBytesReader(nil, readCloser{strings.NewReader(body)}, 1<<20)
		}
		answer := get(t, s.Handler(), r)
		content := contentOf(t, answer)
		switch {
		case answer.StatusCode >= 500:
			t.Fatalf("status %d: %s", answer.StatusCode, content)
		case answer.Header.Get("Content-Security-Policy") != render.Policy:
			t.Fatal("no policy")
		case answer.StatusCode == http.StatusMovedPermanently:
			checkRedirect(t, s, r, answer.Header.Get("Location"))
		case answer.StatusCode >= 400 && s.forPrograms(r.URL.Path) && r.Method != http.MethodHead:
			var p render.Problem
			if err := json.Unmarshal(content, &p); err != nil || p.Status != answer.StatusCode || !utf8.Valid(content) || len(content) > 2000 {
				t.Fatalf("problem %q: %v", content, err)
			}
		}
	})
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

func checkRedirect(t *testing.T, s *Server, r *http.Request, location string) {
	if !strings.HasPrefix(location, "/") || strings.HasPrefix(location, "//") || strings.ContainsAny(location, "\\\r\n") {
		t.Fatalf("redirect to %q", location)
	}
	next := get(t, s.Handler(), asking(location))
	if location == r.URL.RequestURI() || next.StatusCode >= 500 || next.StatusCode == http.StatusNotFound {
		t.Fatalf("%s leads to %s, which gives %d", r.URL.RequestURI(), location, next.StatusCode)
	}
}
