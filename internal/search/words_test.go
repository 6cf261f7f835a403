package search

import (
	"strings"
	"testing"
)

// show writes words as "part part|whole whole", stems in brackets where they
// differ.
func show(words []word) string {
	var out []string
	for _, w := range words {
		var parts, wholes []string
		for _, p := range w.parts {
			parts = append(parts, p.plain)
		}
		for _, s := range w.wholes {
			wholes = append(wholes, s.term)
		}
		s := strings.Join(parts, " ")
		if len(wholes) > 0 {
			s += "|" + strings.Join(wholes, " ")
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestSplit(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{" \t.,;%${}()", ""},
		{"Sandbox lease.", "sandbox, lease"},
		{"openDuplexChannel", "open duplex channel|openduplexchannel"},
		{"DUPLEX_CHANNEL_CAPABILITY_DENIED", "duplex channel capability denied|duplexchannelcapabilitydenied"},
		{"providerLeaseId provider_lease_id provider-lease-id", "provider lease id|providerleaseid, provider lease id|providerleaseid, provider lease id|providerleaseid"},
		{"environment-runtime.ts", "environment runtime ts|environmentruntime environmentruntimets"},
		{"src/envRuntime.ts:3546", "src env runtime ts 3546|envruntime envruntimets srcenvruntimets3546"},
		{"`${driver.driver}`", "driver driver|driverdriver"},
		{"HTTPServer parseURL URLs leaseIDs", "http server|httpserver, parse url|parseurl, urls, lease ids|leaseids"},
		{"E0277 utf8String sha256 v2API", "e0277, utf8 string|utf8string, sha256, v2 api|v2api"},
		{"doesn't driver's driver’s 'quoted'", "doesnt, driver, driver, quoted"},
		{"a--b __init__ -flag --force", "a, b, init, flag, force"},
		{"a,b(c)d", "a, b, c, d"},
		{"@scope/pkg@1.2.3", "scope pkg 1 2 3|123 scopepkg123"},
		{"C:\\Users\\x", "c, users x|usersx"},
		{"Größe ÜBER naïve", "größe, über, naïve"},
		{"日本語 エラー", "日本語, エラー"},
		{"\xff\xfea\xffb\x00c", "a, b, c"},
	} {
		if got := show(split(tt.text)); got != tt.want {
			t.Errorf("split(%q)\n got %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

func TestStem(t *testing.T) {
	for _, words := range [][]string{{"grant", "grants", "granted", "granting"}, {"capability", "capabilities"}, {"channel", "channels"}, {"deny", "denied", "denies"}} {
		for _, w := range words[1:] {
			if stem(w) != stem(words[0]) {
				t.Errorf("stem(%q) = %q, stem(%q) = %q", w, stem(w), words[0], stem(words[0]))
			}
		}
	}
	for _, w := range []string{"", "e0277s", "größen", "x86s"} {
		if stem(w) != w {
			t.Errorf("stem(%q) = %q, want it as it is", w, stem(w))
		}
	}
}

// Whatever the text, spans lie in it in order, and cut no character.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{"openDuplexChannel IDs", "a’s b'c", "HTTPÜber_x.y/z:1", "\xff'\xff", "ǅx ßA", "ABCs", "İİa", "A\u0300B"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, w := range split(text) {
			if len(w.parts) == 0 {
				t.Fatal("word without a part")
			}
			for _, p := range w.parts {
				if p.start < at || p.end <= p.start || p.end > len(text) {
					t.Fatalf("part %d–%d after %d of %d", p.start, p.end, at, len(text))
				}
				for _, r := range text[p.start:p.end] {
					if !inWord(r) && r != '\'' && r != '’' {
						t.Fatalf("part %q holds %q", text[p.start:p.end], r)
					}
				}
				at = p.end
			}
			first, last := w.parts[0].start, w.parts[len(w.parts)-1].end
			for _, s := range w.wholes {
				if s.start < first || s.end > last || s.term == "" {
					t.Fatalf("whole %+v outside %d–%d", s, first, last)
				}
			}
			if len(w.parts) > 1 && (len(w.wholes) == 0 || w.wholes[len(w.wholes)-1].end-w.wholes[len(w.wholes)-1].start != last-first) {
				t.Fatalf("word of %d parts is not kept whole: %+v", len(w.parts), w.wholes)
			}
		}
	})
}
