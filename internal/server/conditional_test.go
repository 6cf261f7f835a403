package server

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"errorkb/web"
)

func asking(target string, headers ...string) *http.Request {
	r := httptest.NewRequest("GET", target, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// everything is a list of addresses of all kinds of answer that can be kept.
var everything = []string{
	"/", "/errors/", "/errors/?tag=duplex-channel", "/search?q=duplex", "/feed.xml", "/llms.txt",
	"/api/errors", "/api/errors?limit=2", "/api/errors/ec727a874bad4398", "/api/search?q=duplex",
	"/api/dataset", "/api/dataset.jsonl", "/api/modified.json", "/api/openapi.json", "/api/schema/record.json",
	"/assets/" + web.Files()[0].Path,
}

func TestConditionalRequests(t *testing.T) {
	h := newTestServer(t, testConfig(t)).Handler()
	for _, target := range everything {
		for _, coding := range []string{"", "gzip", "br", "zstd"} {
			first := get(t, h, asking(target, "Accept-Encoding", coding))
			tag := first.Header.Get("ETag")
			if first.StatusCode != 200 || tag == "" {
				t.Errorf("%s: status %d, ETag %q", target, first.StatusCode, tag)
				continue
			}
			for _, given := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
				again := get(t, h, asking(target, "Accept-Encoding", coding, "If-None-Match", given))
				if content := contentOf(t, again); again.StatusCode != 304 || len(content) > 0 {
					t.Errorf("%s with %s: status %d, %d bytes", target, given, again.StatusCode, len(content))
				}
				if got := again.Header.Get("ETag"); given == tag && got != tag {
					t.Errorf("%s: the 304 has ETag %s instead of %s", target, got, tag)
				}
				if again.Header.Get("Content-Encoding") != "" || again.Header.Get("Content-Length") != "" {
					t.Errorf("%s: the 304 describes a body it does not have", target)
				}
				if again.Header.Get("Cache-Control") != first.Header.Get("Cache-Control") {
					t.Errorf("%s: the 304 may be kept for another time", target)
				}
			}
			for _, given := range []string{`"other"`, strings.Trim(tag, `"`), `""`, "nonsense", tag + "x"} {
				if again := get(t, h, asking(target, "Accept-Encoding", coding, "If-None-Match", given)); again.StatusCode != 200 {
					t.Errorf("%s with %s: status %d", target, given, again.StatusCode)
				}
			}
		}
	}
}

// TestTagOfAnotherEncoding: a client that has a copy in one encoding need not
// fetch another one, and hears the tag of its own copy.
func TestTagOfAnotherEncoding(t *testing.T) {
	h := newTestServer(t, testConfig(t)).Handler()
	plain := get(t, h, asking("/")).Header.Get("ETag")
	coded := get(t, h, asking("/", "Accept-Encoding", "br")).Header.Get("ETag")
	if plain == coded {
		t.Fatalf("other bytes have the same strong tag %s", plain)
	}
	again := get(t, h, asking("/", "Accept-Encoding", "br", "If-None-Match", plain))
	if again.StatusCode != 304 || again.Header.Get("ETag") != plain {
		t.Errorf("status %d, ETag %s, want 304 with %s", again.StatusCode, again.Header.Get("ETag"), plain)
	}
}

func TestEncodings(t *testing.T) {
	h := newTestServer(t, testConfig(t)).Handler()
	for _, target := range everything {
		plain := contentOf(t, get(t, h, asking(target)))
		for coding, decode := range map[string]func(io.Reader) (io.Reader, error){
			"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
			"br":   func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
			"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
		} {
			answer := get(t, h, asking(target, "Accept-Encoding", coding))
			content := contentOf(t, answer)
			if len(plain) < minEncoded {
				if answer.Header.Get("Content-Encoding") != "" {
					t.Errorf("%s: %d bytes are encoded", target, len(plain))
				}
				continue
			}
			if got := answer.Header.Get("Content-Encoding"); got != coding {
				t.Errorf("%s: encoding %q, want %q", target, got, coding)
				continue
			}
			if answer.Header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s: Vary is %q", target, answer.Header.Values("Vary"))
			}
			if len(content) >= len(plain) {
				t.Errorf("%s: %s makes %d bytes of %d", target, coding, len(content), len(plain))
			}
			reader, err := decode(bytes.NewReader(content))
			if err != nil {
				t.Fatalf("%s in %s: %v", target, coding, err)
			}
			decoded, err := io.ReadAll(reader)
			if err != nil || !bytes.Equal(decoded, plain) {
				t.Errorf("%s in %s: the bytes differ: %v", target, coding, err)
			}
		}
	}
}

func TestHeadIsGetWithoutBody(t *testing.T) {
	h := newTestServer(t, testConfig(t)).Handler()
	for _, target := range everything {
		want := get(t, h, asking(target))
		r := asking(target)
		r.Method = "HEAD"
		got := get(t, h, r)
		if content := contentOf(t, got); len(content) > 0 {
			t.Errorf("%s: HEAD has a body", target)
		}
		for _, name := range []string{"Content-Type", "Content-Length", "ETag", "Vary", "Cache-Control", "Link"} {
			if got.Header.Get(name) != want.Header.Get(name) {
				t.Errorf("%s: %s is %q, and %q with GET", target, name, got.Header.Get(name), want.Header.Get(name))
			}
		}
	}
}

func TestChoose(t *testing.T) {
	for _, test := range []struct {
		accept string
		want   encoding
	}{
		{"", identity},
		{"gzip, deflate, br, zstd", brotliCoding},
		{"gzip, deflate", gzipCoding},
		{"zstd, gzip", zstdCoding},
		{"gzip;q=1.0, br;q=0.5", gzipCoding},
		{"GZIP", gzipCoding},
		{"x-gzip", gzipCoding},
		{"br;q=0, gzip", gzipCoding},
		{"br; q=0 , gzip ; q=0.3", gzipCoding},
		{"gzip;q=0", identity},
		{"*", brotliCoding},
		{"*;q=0", identity},
		{"br;q=0, *", zstdCoding},
		{"identity", identity},
		{"identity;q=1, gzip;q=0.5", identity},
		{"identity;q=0.5, gzip;q=1", gzipCoding},
		{"deflate", identity},
		{"gzip;q=nonsense", identity},
		{"gzip;q=7", identity},
		{"gzip;q=NaN", identity},
		{";;;,,,", identity},
	} {
		if got := choose(test.accept); got != test.want {
			t.Errorf("choose(%q) = %s, want %s", test.accept, encodingNames[got], encodingNames[test.want])
		}
	}
}

// TestAssetsAreKept: what has a hash in its name may be kept for ever.
func TestAssetsAreKept(t *testing.T) {
	h := newTestServer(t, testConfig(t)).Handler()
	if len(web.Files()) == 0 {
		t.Fatal("there are no assets")
	}
	for _, f := range web.Files() {
		answer := get(t, h, asking("/assets/"+f.Path))
		if got := answer.Header.Get("Cache-Control"); answer.StatusCode != 200 || got != cacheForever {
			t.Errorf("%s: status %d, Cache-Control %q", f.Path, answer.StatusCode, got)
		}
		if !bytes.Equal(contentOf(t, answer), f.Data) || answer.Header.Get("Content-Type") != f.ContentType {
			t.Errorf("%s: content or type differ", f.Path)
		}
		if get(t, h, asking("/assets/"+f.Name)).StatusCode != 404 {
			t.Errorf("%s: served without its hash, as if it might be kept for ever", f.Name)
		}
	}
}
