package render

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"errorkb/internal/diagnose"
	"errorkb/internal/kb"
)

var update = flag.Bool("update", false, "write the golden pages anew")

const pasted = "starting\n2026-01-02 \x1b[31mError: Socket main.sock of 42 is busy.\x1b[0m\r\n    at open (socket.ts:11)\n"

// knownAnswer is what the diagnosis says about pasted.
func knownAnswer() *diagnose.Answer {
	from := strings.Index(pasted, "Socket")
	name, owner := strings.Index(pasted, "main.sock"), strings.Index(pasted, "42")
	r := fullRecord()
	return &diagnose.Answer{
		DatasetVersion: shelf(nil).Version(), Verdict: diagnose.VerdictKnown, Input: diagnose.Input{Bytes: len(pasted), Lines: 3},
		Diagnoses: []diagnose.Diagnosis{{
			Record: diagnose.Ref{ID: r.ID, Repo: r.Repo, Slug: r.Slug, Title: r.ErrorMessage, URL: "/errors/acme/tool/socket-busy/", Severity: "error", Role: "cause", Status: "deprecated"},
			Kind:   diagnose.KindNormalized, Confidence: 0.97, Count: 2, Solutions: r.Solutions,
			Evidence: []diagnose.Evidence{{
				Start: from, End: strings.Index(pasted, "busy.") + 5, Line: 2, Column: 12, Text: "Socket main.sock of 42 is busy.",
				Captures: []diagnose.CaptureSpan{{Name: "name", Value: "main.sock", Start: name, End: name + 9}, {Name: "owner", Value: "42", Start: owner, End: owner + 2}},
				Undone:   []string{"ansi", "prefix"},
			}},
		}},
		RunnersUp: []diagnose.RunnerUp{{Record: diagnose.Ref{ID: "00000000000000a2", Title: "The queue is full.", URL: "/errors/acme/tool/queue-full/"}, Confidence: 0.2, Why: "only its code occurs"}},
	}
}

func unknownAnswer() *diagnose.Answer {
	from := strings.Index(pasted, "Error:")
	return &diagnose.Answer{
		DatasetVersion: shelf(nil).Version(), Verdict: diagnose.VerdictUnknown, Partial: true, Input: diagnose.Input{Bytes: len(pasted), Lines: 3},
		Unknown: &diagnose.Unknown{
			Template: "Socket {} of {} is busy.",
			Line:     &diagnose.TellingLine{Start: from, End: strings.Index(pasted, "\x1b[0m"), Line: 2, Text: "Error: Socket main.sock of 42 is busy.", Why: "it begins with the word Error"},
			Near: []diagnose.NearRecord{{
				Record:     diagnose.Ref{ID: "00000000000000a2", Title: "The queue is full.", URL: "/errors/acme/tool/queue-full/"},
				Similarity: 0.4, Missing: []string{"queue", "full"}, Extra: []string{"Socket"},
			}},
		},
	}
}

func searchResult() (kb.Query, kb.SearchResult) {
	q := kb.Query{Text: "busy socket", Tag: "socket"}
	return q, kb.SearchResult{
		Text: "busy socket", SomeWords: true, Total: 45,
		Hits: []kb.Hit{{Item: itemOf(fullRecord()), Score: 2, Fragments: []kb.Fragment{
			{Field: kb.FieldTitle, Parts: []kb.Part{{Text: "Socket", Marked: true}, {Text: " ${name} of ${owner.id} is "}, {Text: "busy", Marked: true}, {Text: "."}}},
			{Field: kb.FieldMeaning, Parts: []kb.Part{{Text: "holds the "}, {Text: "socket", Marked: true}, {Text: " <b>"}}},
		}}},
		Facets: []kb.Facet{{Kind: kb.GroupSeverity, Groups: []kb.Group{{Name: "error", Count: 40}, {Name: "warning", Count: 5}}}},
	}
}

// goldenPages are one of each kind of page.
func goldenPages(t *testing.T) map[string]Document {
	t.Helper()
	ctx := context.Background()
	r := testRenderer(testShelf())
	pages := map[string]Document{}
	for name, address := range map[string]string{
		"home": "/", "list": "/errors/", "error-full": "/errors/acme/tool/socket-busy/", "error-plain": "/errors/acme/tool/queue-full/",
		"redirect": "/errors/TOOL_BUSY", "repo": "/repos/acme/tool/", "owner": "/repos/acme/", "tag": "/tags/socket/", "tags": "/tags/", "concept": "/backgrounds/resource-in-use/",
		"diagnose": "/diagnose", "search": "/search", "problem": "/problems/text-too-large/", "404": "/404.html",
	} {
		doc, err := r.Document(ctx, address)
		pages[name] = mustDocument(t, doc, err)
	}
	doc, err := r.ErrorsPage(ctx, kb.Filter{Severity: "error", Sort: "changed"})
	pages["list-filtered"] = mustDocument(t, doc, err)
	doc, err = r.DiagnosePage(ctx, []byte(pasted), knownAnswer())
	pages["answer-known"] = mustDocument(t, doc, err)
	doc, err = r.DiagnosePage(ctx, []byte(pasted), unknownAnswer())
	pages["answer-unknown"] = mustDocument(t, doc, err)
	query, result := searchResult()
	doc, err = r.SearchPage(ctx, query, result)
	pages["search-hits"] = mustDocument(t, doc, err)
	provenPages(t, pages)
	pages["failure"] = r.FailurePage(ctx, NewProblem("", ProblemTooLarge, "The text is longer than 16 MiB.", "<in>"))
	return pages
}

func TestGoldenPages(t *testing.T) {
	for name, doc := range goldenPages(t) {
		file := filepath.Join("testdata", "pages", name+".html")
		// One tag a line, so that a difference can be read.
		got := bytes.ReplaceAll(doc.Body, []byte("><"), []byte(">\n<"))
		if *update {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%v (write it with go test ./internal/render -update)", err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("page %s differs (-want +got); if that is meant, run go test ./internal/render -update\n%s", name, diff)
		}
	}
}

func TestPagesKeepTheRules(t *testing.T) {
	pages := goldenPages(t)
	if len(pages) < 20 {
		t.Fatalf("only %d pages", len(pages))
	}
	for name, doc := range pages {
		if name == "redirect" {
			continue
		}
		checkHTML(t, name, doc.Body)
		if doc.ContentType != "text/html; charset=utf-8" {
			t.Errorf("%s: content type %q", name, doc.ContentType)
		}
		if n := len(find(parse(t, doc.Body), named("main"))); n != 1 {
			t.Errorf("%s: %d elements main", name, n)
		}
	}
}

// TestWholeSite loads every address and follows every link.
func TestWholeSite(t *testing.T) {
	ctx := context.Background()
	records := testShelf()
	for i := range 120 { // enough for further pages of the list, a project and a tag
		r := plainRecord()
		r.ID, r.Slug = fmt.Sprintf("%016x", 0xb000+i), fmt.Sprintf("queue-full-%d", i)
		records = append(records, r)
	}
	for _, base := range []Base{"", "/kb/docs"} {
		r := New(records, Options{Base: base, Schema: testSchema(), Proof: testProof(), Code: testCode})
		addresses, err := r.Addresses(ctx)
		if err != nil {
			t.Fatal(err)
		}
		known := map[string]bool{
			base.Address(PlaceAPIDiagnose): true, base.Address(PlaceAPISearch): true,
			base.Address(PlaceAsset, "app.css"): true, base.Address(PlaceAsset, "app.js"): true, base.Address(PlaceAsset, "theme.js"): true, base.Address(PlaceAsset, "icon.svg"): true,
		}
		for _, a := range addresses {
			if known[a] {
				t.Errorf("address %s is listed twice", a)
			}
			known[a] = true
		}
		for _, want := range []string{"/", "/errors/page/3/", "/repos/acme/tool/page/2/", "/tags/queue/page/3/", "/tags/", "/repos/", "/backgrounds/", "/repos/acme/", "/errors/acme/tool/", "/errors/acme", "/errors/TOOL_BUSY", "/errors/00000000000000a1", "/404.html"} {
			if !known[string(base)+want] {
				t.Errorf("address %s%s is not listed", base, want)
			}
		}
		pages := 0
		for _, address := range addresses {
			doc, err := r.Document(ctx, address)
			if err != nil {
				t.Errorf("%s: %v", address, err)
				continue
			}
			again, err := r.Document(ctx, address)
			if err != nil || !bytes.Equal(doc.Body, again.Body) {
				t.Errorf("%s: the second rendering differs", address)
			}
			if doc.Location != "" {
				if doc.Status != http.StatusMovedPermanently || !known[doc.Location] {
					t.Errorf("%s: status %d to %q", address, doc.Status, doc.Location)
				}
				continue
			}
			if !strings.HasPrefix(doc.ContentType, "text/html") {
				continue
			}
			pages++
			for _, link := range checkHTML(t, address, doc.Body) {
				if !known[link] {
					t.Errorf("%s: broken link %s", address, link)
				}
			}
		}
		if pages < 130 {
			t.Errorf("only %d pages", pages)
		}
	}
}

func TestNoPage(t *testing.T) {
	r := testRenderer(testShelf())
	for _, address := range []string{
		"", "x", "/x", "/errors", "/errors/none", "/errors/acme/tool/none/", "/errors/acme/tool/socket-busy", "/errors/page/1/", "/errors/page/2/",
		"/errors/page/02/", "/errors/page/-1/", "/errors/page/99999999999999999999/", "/errors//", "/repos/acme/none/", "/repos/acme/tool/page/2/",
		"/errors/acme/none/", "/errors/none/tool/", "/repos/none/", "/repos/acm/", "/errors/tool",
		"/tags/none/", "/tags/socket/page/x/", "/backgrounds/none/", "/problems/none/", "/errors/acme%2Ftool/socket-busy/", "/errors/acme/tool/../tool/", "/errors/%00", "/%zz",
		"/proof", "/source/", "/source/socket/open.go",
		"/assets/app.css", "/diagnose/", "//", "/errors/?repo=x",
	} {
		if _, err := r.Document(context.Background(), address); !errors.Is(err, kb.ErrNotFound) {
			t.Errorf("Document(%q): error %v, want not found", address, err)
		}
	}
}

func TestHostileRecord(t *testing.T) {
	ctx := context.Background()
	records := append(testShelf(), hostileRecord())
	r := testRenderer(records)
	addresses, err := r.Addresses(ctx)
	if err != nil {
		t.Fatal(err)
	}
	answer := knownAnswer()
	hostile := hostileRecord()
	x := hostile.ErrorType
	answer.Diagnoses[0].Record.ID, answer.Diagnoses[0].Record.Title, answer.Diagnoses[0].Solutions = hostile.ID, hostile.ErrorMessage, hostile.Solutions
	answer.Diagnoses[0].Record.Severity, answer.Diagnoses[0].Evidence[0].Captures[0].Name, answer.Diagnoses[0].Evidence[0].Captures[0].Value = x, x, x
	answer.Diagnoses[0].Evidence[0].Undone, answer.RunnersUp[0].Why = []string{x}, x
	documents := map[string]Document{}
	doc, err := r.DiagnosePage(ctx, []byte(strings.Repeat(x, 50)), answer)
	documents["answer"] = mustDocument(t, doc, err)
	doc, err = r.SearchPage(ctx, kb.Query{Text: x, Tag: x}, kb.SearchResult{Text: x, Hits: []kb.Hit{{Item: itemOf(hostile), Fragments: []kb.Fragment{{Field: x, Parts: []kb.Part{{Text: x, Marked: true}}}}}}, Total: 1})
	documents["search"] = mustDocument(t, doc, err)
	doc, err = r.ErrorsPage(ctx, kb.Filter{Tag: x, Code: x, Sort: x})
	documents["list"] = mustDocument(t, doc, err)
	documents["failure"] = r.FailurePage(ctx, NewProblem("", ProblemNotFound, x, x))
	for _, address := range addresses {
		doc, err := r.Document(ctx, address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
		}
		if strings.HasPrefix(doc.ContentType, "text/html") && doc.Location == "" {
			documents[address] = doc
		}
	}
	if documents["/errors/acme/tool/hostile/"].Body == nil {
		t.Fatal("the hostile record has no page")
	}
	for name, doc := range documents {
		checkHTML(t, name, doc.Body)
		for _, bad := range []string{"<script>alert", "<img", "\x00", `href="javascript`, `href="http://`, "u:p@"} {
			if bytes.Contains(doc.Body, []byte(bad)) {
				t.Errorf("%s holds %q", name, bad)
			}
		}
		// Attributes that are copied or sent keep their characters; what is read
		// shows them.
		root := parse(t, doc.Body)
		for _, box := range find(root, named("textarea")) {
			box.Parent.RemoveChild(box)
		}
		seen := text(root)
		if i := strings.IndexAny(seen, "\u202e\x1b"); i >= 0 {
			t.Errorf("%s shows a hidden character in %q", name, seen[max(0, i-40):i])
		}
	}
	for _, a := range addresses {
		if strings.Contains(a, "..") || strings.Contains(a, "%3C") && strings.HasPrefix(a, "/errors/") {
			t.Errorf("address %q", a)
		}
	}
}

func TestErrorPageOrder(t *testing.T) {
	doc, err := testRenderer(testShelf()).Document(context.Background(), "/errors/acme/tool/socket-busy/")
	root := parse(t, mustDocument(t, doc, err).Body)
	want := []string{"message", "meaning", "source", "solutions", "fix", "defence", "when", "related"}
	var sections, links []string
	for _, article := range find(root, classed("sections")) {
		for n := article.FirstChild; n != nil; n = n.NextSibling {
			if n.Data == "section" {
				sections = append(sections, n.Attr[0].Val)
			}
		}
	}
	for _, nav := range find(root, classed("contents")) {
		for _, a := range find(nav, named("a")) {
			links = append(links, strings.TrimPrefix(a.Attr[0].Val, "#"))
		}
	}
	if !slices.Equal(sections, want) || !slices.Equal(links, want) {
		t.Errorf("sections %v, navigation %v, want %v", sections, links, want)
	}
	if h1 := text(find(root, named("h1"))[0]); h1 != fullRecord().ErrorMessage {
		t.Errorf("title %q", h1)
	}
	marked := find(root, classed("marked"))
	if len(marked) != 1 || text(marked[0]) != "  throw new BusyError(name);\n" {
		t.Errorf("marked lines: %d", len(marked))
	}
	if message := text(find(root, classed("message-text"))[0]); message != fullRecord().ErrorMessage {
		t.Errorf("the message reads %q", message)
	}
}

func TestPlainPageHasNoEmptySection(t *testing.T) {
	v := NewErrorView(testSite(), plainRecord(), nil, nil)
	var ids []string
	for _, a := range v.Contents {
		ids = append(ids, a.ID)
	}
	if want := []string{"message", "meaning", "source"}; !slices.Equal(ids, want) {
		t.Errorf("sections %v, want %v", ids, want)
	}
	if len(v.Banners) != 0 {
		t.Errorf("banners %v on an active, reviewed record", v.Banners)
	}
}

// TestConcurrentUse renders the same pages from many goroutines; the race
// detector and the comparison judge.
func TestConcurrentUse(t *testing.T) {
	r := testRenderer(testShelf())
	want, err := r.Document(context.Background(), "/errors/acme/tool/socket-busy/")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			doc, err := r.Document(context.Background(), "/errors/acme/tool/socket-busy/")
			if err != nil || !bytes.Equal(doc.Body, want.Body) {
				t.Errorf("a concurrent rendering differs: %v", err)
			}
		})
	}
	wg.Wait()
}
