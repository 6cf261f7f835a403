package search

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"errorkb/internal/kb"
)

// show writes a fragment with its marks as «…».
func showFragment(f kb.Fragment) string {
	var out strings.Builder
	for _, p := range f.Parts {
		if p.Marked {
			out.WriteString("«" + p.Text + "»")
		} else {
			out.WriteString(p.Text)
		}
	}
	return out.String()
}

func TestMarks(t *testing.T) {
	for _, tt := range []struct {
		name, query, text, want string
		effort                  effort
	}{
		{"word", "lease", "Sandbox lease lost", "Sandbox «lease» lost", asWritten},
		{"stem", "granting", "It grants, granted.", "It «grants, granted».", asWritten},
		{"neighbours are one", "sandbox lease", "Sandbox lease lost", "«Sandbox lease» lost", asWritten},
		{"stop words between", "lease does not grant", "The lease does not grant it. Does not.", "The «lease does not grant» it. Does not.", asWritten},
		{"stop words outside", "the lease of ", "the lease of the", "the «lease» of the", asWritten},
		{"stop words only", "does not", "It does not.", "It «does not».", asWritten},
		{"name in another style", "provider_lease_id", "a providerLeaseId, a provider", "a «providerLeaseId», a «provider»", asWritten},
		{"part of a name", "duplex", "openDuplexChannel()", "open«Duplex»Channel()", asWritten},
		{"unfinished", "dup", "openDuplexChannel dup d", "open«Duplex»Channel «dup» d", asWritten},
		{"finished", "dup ", "openDuplexChannel dup", "openDuplexChannel «dup»", asWritten},
		{"not misspelt", "capabilty ", "capability", "capability", asWritten},
		{"misspelt", "capabilty chanenl ", "a capability, channels", "a «capability», channels", misspelt},
		{"swapped", "chanenl ", "a channel", "a «channel»", misspelt},
		{"code", "E0277", "E0277 E0278", "«E0277» E0278", someWords},
		{"markup is text", "b", "<b>&amp;</b>", "<«b»>&amp;</«b»>", asWritten},
		{"nothing", "lease", "", "", asWritten},
		{"bytes that are no text", "lease", "\xfflease\xff", "\xff«lease»\xff", asWritten},
	} {
		m := newMarker(parse(tt.query), tt.effort)
		got := showFragment(kb.Fragment{Parts: parts(tt.text, 0, len(tt.text), m.marks(tt.text))})
		if got != tt.want {
			t.Errorf("%s: %q in %q\n got %s\nwant %s", tt.name, tt.query, tt.text, got, tt.want)
		}
	}
}

func TestFragmentsOfAHit(t *testing.T) {
	x := memory(t, testSet(t))
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"locks order", []string{
			"title: deadlock detected",
			"documentation: Two transactions wait for each other's «locks». The database ends one of them. See the manual on «lock order».",
			"solutions: Take «locks» in the same «order» in every transaction.",
			"tags: «lock-order»",
		}},
		{"CERT_HAS_EXPIRED", []string{
			"title: x509: certificate «has expired» or is not yet valid",
			"code: «CERT_HAS_EXPIRED»",
			"place: src/certificate-«expired».go",
		}},
		{"script alert", []string{`title: unexpected <«script»>«alert»("1")</«script»> & more`}},
		{"bold", []string{
			`title: unexpected <script>alert("1")</script> & more`,
			"documentation: Markup in text: <b>«bold»</b> & <i>.",
		}},
	} {
		result := find(t, x, kb.Query{Text: tt.text})
		if len(result.Hits) == 0 {
			t.Errorf("%q: no hit", tt.text)
			continue
		}
		var got []string
		for _, f := range result.Hits[0].Fragments {
			got = append(got, f.Field+": "+showFragment(f))
		}
		if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%q:\n got %s\nwant %s", tt.text, strings.Join(got, "\n     "), strings.Join(tt.want, "\n     "))
		}
	}
}

// The first fragment is the title and nothing but the title, the others are
// short and show a mark.
func TestFragmentsKeepTheirPromise(t *testing.T) {
	x := memory(t, testSet(t))
	hits := 0
	for _, text := range []string{"duplex", "lease provider plugin", "the", "capabilty", "openDuplexChannel server", "worker restart cache sandbox driver method"} {
		for _, hit := range find(t, x, kb.Query{Text: text}).Hits {
			hits++
			var title strings.Builder
			for _, p := range hit.Fragments[0].Parts {
				title.WriteString(p.Text)
			}
			if title.String() != hit.Title || hit.Fragments[0].Field != kb.FieldTitle {
				t.Errorf("%q, %s: first fragment %q", text, hit.Slug, title.String())
			}
			if len(hit.Fragments) > 1+maxExcerpts {
				t.Errorf("%q, %s: %d fragments", text, hit.Slug, len(hit.Fragments))
			}
			seen := map[string]bool{}
			for _, f := range hit.Fragments[1:] {
				if s := showFragment(f); !strings.Contains(s, "«") || len(s) > 2*excerptLen || !utf8.ValidString(s) || seen[f.Field] {
					t.Errorf("%q, %s: fragment %s %q", text, hit.Slug, f.Field, s)
				}
				seen[f.Field] = true
			}
		}
	}
	if hits < 10 {
		t.Errorf("%d hits looked at", hits)
	}
}

func TestNear(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"channel", "channel", true}, {"chanel", "channel", true}, {"chanenl", "channel", true}, {"chamnel", "channel", true},
		{"channnel", "channel", true}, {"chanml", "channel", false}, {"lease", "least", true}, {"leas", "lease", false},
		{"hannel", "channel", false}, {"kapability", "capability", false}, {"enviromnet", "environment", true}, {"capability", "channel", false},
		{"e0277x", "e0278x", false}, {"größter", "größten", true}, {"channel", "", false},
	} {
		if got := near(tt.a, tt.b); got != tt.want {
			t.Errorf("near(%q, %q) = %t", tt.a, tt.b, got)
		}
	}
}

func TestPlainText(t *testing.T) {
	for _, tt := range []struct{ markdown, want string }{
		{"", ""},
		{"A `code` and **bold** and *it*.", "A code and bold and it."},
		{"# Head\n\n- one\n- two\n\n1. three", "Head one two three"},
		{"See [the text](https://example.org/a_b) now", "See the text now"},
		{"> said\n\n```go\nx := 1\n```\nend", "said x := 1 end"},
		{"snake_case_name __init__ 2 * 3 * 4", "snake_case_name __init__ 2 * 3 * 4"},
		{"[not a link] (x)", "[not a link] (x)"},
		{"| call | time |\n|---|:--:|\n| open | 30 s |\n| a `b` | none |\n\nThen.", "call · time; open · 30 s; a b · none; Then."},
		{"either a | b", "either a | b"},
	} {
		if got := plainText(tt.markdown); got != tt.want {
			t.Errorf("plainText(%q) = %q, want %q", tt.markdown, got, tt.want)
		}
	}
}

// Whatever query and text: the parts put together are the text, cut at whole
// characters, and a window shows a mark.
func FuzzFragments(f *testing.F) {
	f.Add("lease grant", "The lease does not grant the lease.")
	f.Add("a b", strings.Repeat("aé ", 300)+"b")
	f.Add("é", strings.Repeat("日本", 200)+"é"+strings.Repeat("日本", 200))
	f.Add("\xff", "\xff\xfe")
	f.Fuzz(func(t *testing.T, query, text string) {
		query, _ = prepare(query)
		m := newMarker(parse(query), someWords)
		marks := m.marks(text)
		var whole strings.Builder
		for _, p := range parts(text, 0, len(text), marks) {
			whole.WriteString(p.Text)
		}
		if whole.String() != text {
			t.Fatalf("parts make %q of %q", whole.String(), text)
		}
		if len(marks) == 0 {
			return
		}
		start, end, terms := window(text, marks)
		if start < 0 || end > len(text) || start >= end || terms == 0 {
			t.Fatalf("window %d–%d of %d, %d terms", start, end, len(text), terms)
		}
		if utf8.ValidString(text) && !utf8.ValidString(text[start:end]) {
			t.Fatalf("window %q cuts a character", text[start:end])
		}
		if !strings.Contains(showFragment(kb.Fragment{Parts: parts(text, start, end, marks)}), "«") {
			t.Fatalf("no mark in %q", text[start:end])
		}
	})
}

// Leaving out words that begin otherwise changes no mark.
func TestBeginnings(t *testing.T) {
	texts := []string{
		"", "l", "L", "Leases", "a lease, leased; leasing o'Neil’s o’neil dying HTTPServer httpserver",
		"providerLeaseId lease_id lease-id xlease leaseX naïve Ünder\u00a0lease\tlease\nlease",
		"un lease\xff\xfelease \x00lease", "i", "x i", "ID IDs sandboxID",
	}
	for _, r := range bundled(t) {
		texts = append(texts, r.Documentation, r.TriggerScenarios, r.ExampleFix, r.ErrorMessage)
	}
	for _, query := range []string{"lease", "oneil", "die", "http server", "i", "naïve", "ünder", "lease id the", "channel is not", "sandbx", "prov"} {
		m := newMarker(parse(query), misspelt)
		everything := *m
		everything.begins.all = true
		marked := 0
		for _, text := range texts {
			want := everything.marks(text)
			marked += len(want)
			if diff := cmp.Diff(want, m.marks(text), cmp.AllowUnexported(mark{})); diff != "" {
				t.Errorf("%q in %.60q: (-all +begins)\n%s", query, text, diff)
			}
		}
		if marked == 0 {
			t.Errorf("%q marks nothing in the texts", query)
		}
	}
}
