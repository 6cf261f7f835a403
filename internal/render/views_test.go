package render

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"errorkb/internal/diagnose"
	"errorkb/internal/kb"
)

func TestMarkPlaceholders(t *testing.T) {
	one := []kb.Capture{{Name: "a"}}
	for _, c := range []struct {
		message  string
		captures []kb.Capture
		want     []MessagePart
	}{
		{"plain", nil, []MessagePart{{"plain", 0}}},
		{"a ${x} b", one, []MessagePart{{"a ", 0}, {"${x}", 1}, {" b", 0}}},
		{"${x}", one, []MessagePart{{"${x}", 1}}},
		{"${x}${y}", one, []MessagePart{{"${x}", 1}, {"${y}", 0}}},
		{"a ${x} b", nil, []MessagePart{{"a ${x} b", 0}}},
		{"no gap", one, []MessagePart{{"no gap", 0}}},
	} {
		got, _ := markPlaceholders(c.message, c.captures)
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.message, got, c.want)
		}
	}
}

func TestFixParts(t *testing.T) {
	type part struct{ kind, note, code string }
	for name, c := range map[string]struct {
		fix  string
		want []part
	}{
		"none":      {" \n", nil},
		"unmarked":  {"a();", []part{{"", "", "a();"}}},
		"both":      {"// before\na();\n\n// after\nb();\n", []part{{"before", "", "a();"}, {"after", "", "b();"}}},
		"notes":     {"// Before: wrong\na();\n// after (right)\nb();", []part{{"before", "wrong", "a();"}, {"after", "right", "b();"}}},
		"others":    {"# before\na\n-- after\nb", []part{{"before", "", "a"}, {"after", "", "b"}}},
		"prose":     {"// before\na(); // before it\n// beforehand\n", []part{{"before", "", "a(); // before it\n// beforehand"}}},
		"empty":     {"// before\n\n// after\nb", []part{{"after", "", "b"}}},
		"head":      {"import x\n// before\na", []part{{"", "", "import x"}, {"before", "", "a"}}},
		"windows":   {"// before\r\na\r\n// after\r\nb\r\n", []part{{"before", "", "a"}, {"after", "", "b"}}},
		"block":     {"/* before */\na\n/* after */\nb", []part{{"before", "", "a"}, {"after", "", "b"}}},
		"indented":  {"  // before\n  a", []part{{"before", "", "  a"}}},
		"same word": {"// before\na\n// before\nb", []part{{"before", "", "a"}, {"before", "", "b"}}},
	} {
		r := plainRecord()
		r.ExampleFix = c.fix
		var got []part
		for _, p := range fixParts(r) {
			got = append(got, part{p.Kind, p.Note, p.Copy})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestWarnsOfTextTests(t *testing.T) {
	for code, want := range map[string]bool{
		`if (e.message === "x") {}`:                         true,
		`if ((err as Error).message !== X) throw err;`:      true,
		`if (e?.message?.includes("x")) {}`:                 true,
		`if (/busy/.test(e.message)) {}`:                    true,
		`if err.Error() == "x" {`:                           true,
		`if strings.Contains(err.Error(), "x") {`:           true,
		`if "busy" in str(e):`:                              true,
		`if (e.code === "E_BUSY") {}`:                       false,
		`if errors.Is(err, ErrBusy) {`:                      false,
		`console.log(e.message); if (e.code === 1) {}`:      false,
		`if (e instanceof BusyError) report(e.message);`:    false,
		`throw new Error("message === not tested", {e});`:   false,
		"const message = `x`; if (a === b) log(message);":   false,
		`switch (e.code) { case 1: return show(message); }`: false,
	} {
		r := plainRecord()
		r.TryCatchPattern = &code
		if got := defenceView(r).Snippets[0].Warning != ""; got != want && !strings.Contains(code, "not tested") {
			t.Errorf("%s: warned %v, want %v", code, got, want)
		}
	}
}

func TestBannersAndSuccessor(t *testing.T) {
	v := NewErrorView(testSite(), fullRecord(), nil, plainRecord())
	if len(v.Banners) != 2 || v.Banners[0].Text != "the <code>queue</code> replaces the socket." || v.Banners[0].Link.URL != "/errors/acme/tool/queue-full/" {
		t.Errorf("banners %+v", v.Banners)
	}
}

func TestRows(t *testing.T) {
	item := itemOf(plainRecord())
	if row := newRow(testSite(), item); row.Full != "" || row.Title != item.Title {
		t.Errorf("a short title has the tooltip %q", row.Full)
	}
	item.Title = strings.Repeat("word ", 100)
	row := newRow(testSite(), item)
	if row.Full != item.Title || len(row.Title) > rowTitle+2 || !strings.HasSuffix(row.Title, "word…") {
		t.Errorf("a long title became %q", row.Title)
	}
}

func TestPager(t *testing.T) {
	page := func(n int) string { return thousands(n) }
	for _, c := range []struct {
		offset, total int
		want          Pager
	}{
		{0, 0, Pager{}},
		{0, 50, Pager{}},
		{0, 51, Pager{"", "2", "Page 1 of 2"}},
		{50, 51, Pager{"1", "", "Page 2 of 2"}},
		{50, 151, Pager{"1", "3", "Page 2 of 4"}},
		{500, 51, Pager{"2", "", "Page 11 of 2"}},
	} {
		if got := newPager(c.offset, 50, c.total, page); got != c.want {
			t.Errorf("offset %d of %d: %+v, want %+v", c.offset, c.total, got, c.want)
		}
	}
}

func TestListAddress(t *testing.T) {
	s := Site{Base: "/kb"}
	for want, c := range map[string]struct {
		filter kb.Filter
		page   int
	}{
		"/kb/errors/":                             {kb.Filter{Sort: "title"}, 1},
		"/kb/errors/page/2/":                      {kb.Filter{}, 2},
		"/kb/errors/?sort=changed":                {kb.Filter{Sort: "changed"}, 1},
		"/kb/errors/?repo=a%2Fb&tag=c+d&page=3":   {kb.Filter{Repo: "a/b", Tag: "c d"}, 3},
		"/kb/errors/?severity=error&status=x%26y": {kb.Filter{Severity: "error", Status: "x&y"}, 1},
	} {
		if got := s.listAddress(c.filter, c.page); got != want {
			t.Errorf("%+v page %d: %s, want %s", c.filter, c.page, got, want)
		}
	}
}

func TestListFilters(t *testing.T) {
	ctx := context.Background()
	r := testRenderer(testShelf())
	doc, err := r.ErrorsPage(ctx, kb.Filter{Tag: "unheard-of"})
	body := string(mustDocument(t, doc, err).Body)
	for _, want := range []string{"0 errors match", "No error fits", `<option value="unheard-of" selected>`, `data-applied="tag=unheard-of"`, `content="noindex"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the empty list lacks %q", want)
		}
	}
	first, err := r.Document(ctx, "/errors/")
	if err != nil {
		t.Fatal(err)
	}
	if same, err := r.ErrorsPage(ctx, kb.Filter{Offset: 7, Limit: 3}); err != nil || string(same.Body) != string(first.Body) {
		t.Errorf("an offset inside the first page gives another page than /errors/: %v", err)
	}
	if _, err := r.ErrorsPage(ctx, kb.Filter{Offset: 50}); !errors.Is(err, kb.ErrNotFound) {
		t.Errorf("a page behind the end: %v", err)
	}
}

func TestGroupIntro(t *testing.T) {
	one := GroupData{Place: PlaceTag, Name: "x", Page: kb.Page{Total: 1}, Severities: []kb.Group{{Name: "error", Count: 1}}, Repos: []kb.Group{{Name: "a/b", Count: 1}}}
	many := GroupData{
		Place: PlaceBackground, Name: "resource-in-use", Page: kb.Page{Total: 1200},
		Severities: []kb.Group{{Name: "warning", Count: 1100}, {Name: "fatal", Count: 100}},
		Repos:      []kb.Group{{Name: "a/b", Count: 9}, {Name: "c/d", Count: 8}, {Name: "e/f", Count: 7}, {Name: "g/h", Count: 6}, {Name: "i/j", Count: 5}},
		Tags:       []kb.Group{{Name: "file-lock", Count: 3}, {Name: "socket", Count: 2}},
		Newest:     []kb.Item{{ContentChangedAt: "2026-08-22T00:00:00Z"}},
	}
	for want, d := range map[string]GroupData{
		"1 documented error carries the tag “x”, severity error. It comes from a/b.": one,
		"1,200 documented errors with one concept behind them (100 fatal, 1,100 warning). Found in 5 projects: a/b, c/d, e/f and 2 more. What they are mostly about: file lock and socket. Last changed on 22 August 2026.": many,
	} {
		if got := strings.Join(groupIntro(d), " "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestDiagnosisView(t *testing.T) {
	about := map[string]About{"00000000000000a1": {Captures: fullRecord().Captures, Proven: true}}
	v := NewDiagnosisView(testSite(), []byte(pasted), knownAnswer(), about)
	m := v.Answer.Matches[0]
	if m.Values[1].Value != "42" || m.Values[1].Class != "cap2" || m.Values[0].Meaning != "Name of the <code>socket</code>" {
		t.Errorf("values %+v", m.Values)
	}
	proven := Badge{"proven", "Evidence", "Proven", ""}
	if !slices.Contains(m.Badges, proven) || slices.Contains(NewDiagnosisView(testSite(), []byte(pasted), knownAnswer(), nil).Answer.Matches[0].Badges, proven) {
		t.Errorf("badges %+v", m.Badges)
	}
	if m.More != "1 further occurrence is not shown." || m.Times != "Found 2 times." || m.Undone != "Taken off before reading: terminal colours and prefixes of log lines." {
		t.Errorf("%q, %q, %q", m.More, m.Times, m.Undone)
	}
	large := strings.Repeat("x", maxShownText+1)
	if v := NewDiagnosisView(testSite(), []byte(large), &diagnose.Answer{}, nil); v.Form.Text != "" || v.Note == "" {
		t.Error("a large text is repeated in the box")
	}
	if v := NewDiagnosisView(testSite(), nil, &diagnose.Answer{Verdict: diagnose.VerdictUnknown, Unknown: &diagnose.Unknown{}}, nil); v.Answer.Headline != "Nothing to diagnose" || v.Answer.Unknown != nil {
		t.Errorf("an empty text gives %q", v.Answer.Headline)
	}
}

func TestSearchWordsOfATemplate(t *testing.T) {
	for template, want := range map[string]string{
		"Socket {} of \"{}\" is busy.": "Socket of is busy",
		"Cannot open ${file}: denied":  "Cannot open denied",
		"<n> files":                    "files",
		"":                             "",
	} {
		if got := literalWords(template); got != want {
			t.Errorf("%q: %q, want %q", template, got, want)
		}
	}
}

func TestSearchView(t *testing.T) {
	q, result := searchResult()
	q.Offset = 20
	v := NewSearchView(testSite(), q, result)
	if v.Pager.Previous != "/search?q=busy+socket&tag=socket" || v.Pager.Next != "/search?q=busy+socket&tag=socket&page=3" {
		t.Errorf("pager %+v", v.Pager)
	}
	if v.Active[0].Without != "/search?q=busy+socket" || v.Facets[0].Links[0].URL != "/search?q=busy+socket&tag=socket&severity=error" {
		t.Errorf("filters %+v, facets %+v", v.Active, v.Facets)
	}
	if got := string(markedHTML(v.Hits[0].Fragments[0].Parts)); got != "holds the <mark>socket</mark> &lt;b&gt;" {
		t.Errorf("fragment %s", got)
	}
	if v := NewSearchView(testSite(), kb.Query{Text: "  "}, kb.SearchResult{}); v.Asked {
		t.Error("spaces count as a query")
	}
}

func TestGroupsView(t *testing.T) {
	groups := []kb.Group{{Name: "resource-in-use", Count: 1200}, {Name: "b", Count: 1}}
	v := NewGroupsView(testSite(), PlaceBackgrounds, groups)
	if v.Summary != "2 concepts, most errors first." || len(v.Links) != 2 ||
		v.Links[0] != (CountLink{Link{"resource in use", "/backgrounds/resource-in-use/"}, "1,200"}) {
		t.Errorf("%q, %+v", v.Summary, v.Links)
	}
	if v := NewGroupsView(testSite(), PlaceTags, groups[:1]); v.Summary != "1 tag." || v.Links[0].URL != "/tags/resource-in-use/" || len(v.Others) != 3 {
		t.Errorf("%q, %+v", v.Summary, v)
	}
	if v := NewGroupsView(testSite(), PlaceRepos, nil); v.Summary != "No error has one." {
		t.Errorf("without any: %q", v.Summary)
	}
	// The first page leads there when it leaves some out.
	many := make([]kb.Group, maxBeside+1)
	for i := range many {
		many[i] = kb.Group{Name: fmt.Sprint("tag-", i), Count: 1}
	}
	home := NewHomeView(testSite(), HomeData{Tags: many, Concepts: groups})
	if len(home.Entries) != 2 || home.Entries[0].All.URL != "" || home.Entries[1].All != (Link{"All 13 tags", "/tags/"}) {
		t.Errorf("entries %+v", home.Entries)
	}
}
