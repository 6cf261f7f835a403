package render

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"errorkb/internal/kb"
)

// testCode is the source that testProof points to.
var testCode = fstest.MapFS{
	"socket/open.go": {Data: []byte("package socket\n\n// Open opens it.\nfunc Open(name string) error {\n\tif busy(name) {\n\t\treturn fault.New(\"Socket %s of %s is busy.\", name, owner)\n\t}\n\treturn errors.New(\"<nothing>\")\n}\n")},
	"queue.go":       {Data: []byte("package queue\n")},
	"unrelated.go":   {Data: []byte("package unrelated\n")},
}

// testProof proves the full record; nothing proves the plain one.
func testProof() *kb.Proof {
	full, plain := fullRecord().ID, plainRecord().ID
	open := kb.Place{File: "socket/open.go", Line: 6, Symbol: "Open"}
	return &kb.Proof{
		SchemaVersion: kb.EvidenceVersion,
		Records: []kb.Evidence{{
			Record: full, Scenario: "socket-busy", Title: "A second process opens a `socket` that the first one holds", Proven: true, Problems: []string{},
			Steps: []kb.ProofStep{{Text: "Start a process that holds `main.sock`", Result: "It is `ready`"}, {Text: "Open `main.sock`", Result: "It fails: `Socket main.sock of 42 is busy.`"}},
			Emitted: kb.Emitted{
				Channel: kb.ChannelError, Text: "open: Socket main.sock of 42 is busy.", Message: "Socket main.sock of 42 is busy.",
				Code: to("E_BUSY"), Class: to("BusyError"), Status: to(503),
				Chain: []kb.ChainLink{{Message: "open: Socket main.sock of 42 is busy."}, {Message: "Socket main.sock of 42 is busy.", Code: to("E_BUSY"), Class: to("BusyError"), Place: &open}},
				Place: kb.ProofPlace{Place: open, Start: 5, Lines: []string{"\tif busy(name) {", "\t\treturn fault.New(\"Socket %s of %s is busy.\", name, owner)", "\t}"}},
			},
			Diagnosis: kb.PasteResult{Verdict: "known", Kind: "exact", Confidence: 0.97, First: true, Captures: []kb.CaptureValue{{Name: "name", Value: "main.sock"}, {Name: "owner", Value: "4"}}},
			Remedies: []kb.Remedy{
				{Solution: 2, Steps: []kb.ProofStep{{Text: "Open `other.sock`"}}, Works: true},
				{Solution: 1, Steps: []kb.ProofStep{{Text: "Stop the other process"}, {Text: "Open `main.sock`"}}, Again: true},
			},
			Captures: []kb.CaptureValue{{Name: "name", Value: "main.sock"}, {Name: "owner", Value: "42"}},
			Also: []kb.Variant{
				{Title: "The queue is full as well", Steps: []kb.ProofStep{{Text: "Open `main.sock`", Result: "It fails"}}, Place: open, Then: []kb.Then{
					{Record: plain, Message: "The queue is full.", Steps: []kb.ProofStep{{Text: "Free `main.sock`"}, {Text: "Open `main.sock`", Result: "It fails"}}},
				}},
				{Title: "All is listed", Place: kb.Place{File: "gone.go", Line: 1}, Then: []kb.Then{{Record: plain, Message: "The queue is full."}, {Record: "0000000000000000", Message: "gone"}}},
			},
		}},
		Places: []kb.RaisePlace{
			{Place: kb.Place{File: "queue.go", Line: 1, Symbol: "Push"}, Message: "The queue is full.", Record: &plain},
			{Place: kb.Place{File: "queue.go", Line: 900, Symbol: "Gone"}, Message: "gone"},
			{Place: open, Message: "Socket %s of %s is busy.", Record: &full},
			{Place: kb.Place{File: "socket/open.go", Line: 8, Symbol: "Open"}, Message: "<nothing>", Exemption: to("it cannot happen")},
			{Place: kb.Place{File: "../secret.go", Line: 1}, Exemption: to("not below the folder")},
		},
		Operations: []kb.Operation{{Name: "open-socket", Title: "Open a socket", Guards: []kb.Guard{
			{Place: kb.Place{File: "socket/open.go", Line: 8, Symbol: "Open"}, Message: "<nothing> that is long enough to be broken into lines, one after another, until it has to be cut off somewhere"},
			{Place: kb.Place{File: "queue.go", Line: 1, Symbol: "Push"}, Message: "The queue is full.", Record: &plain},
			{Place: open, Message: "Socket %s of %s is busy.", Record: &full},
			{Place: kb.Place{File: "missing.go", Line: 3}},
		}}},
		Siblings: []kb.Sibling{
			{Record: full, Text: "Socket main.sock of 42 is busy.", Found: []string{full, plain}},
			{Record: plain, Text: "The queue is full.", Found: []string{full}},
		},
	}
}

// hostileProof tries to break out of every text of a proof.
func hostileProof() *kb.Proof {
	p := testProof()
	x := hostileRecord().ErrorType
	var spoil func(v reflect.Value)
	spoil = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			if v.String() != fullRecord().ID && v.String() != plainRecord().ID {
				v.SetString(x + v.String() + x)
			}
		case reflect.Pointer:
			if !v.IsNil() {
				spoil(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				spoil(v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				spoil(v.Field(i))
			}
		}
	}
	p.Records[0].Problems, p.Records[0].Proven, p.Records[0].NoRemedy = []string{"no"}, false, to("no")
	spoil(reflect.ValueOf(p).Elem())
	ghost := x
	p.Records = append(p.Records, kb.Evidence{Record: ghost, Diagnosis: kb.PasteResult{Cause: &ghost}, Remedies: []kb.Remedy{{Solution: -1}, {Solution: 1 << 30}}})
	p.Siblings = append(p.Siblings, kb.Sibling{Record: ghost})
	p.Places = append(p.Places, kb.RaisePlace{Place: kb.Place{File: x + ".go", Line: -5}})
	return p
}

func provenRenderer(s shelf, proof *kb.Proof) *Renderer {
	return New(s, Options{Schema: testSchema(), SiteURL: "https://kb.example.org", ReportURL: "https://example.org/report", Proof: proof, Code: testCode})
}

// provenPages are the golden pages that show a proof.
func provenPages(t *testing.T, pages map[string]Document) {
	r := provenRenderer(testShelf(), testProof())
	for name, address := range map[string]string{
		"error-proven": "/errors/acme/tool/socket-busy/", "error-guard": "/errors/acme/tool/queue-full/", "proof": "/proof/", "source": "/source/socket/open.go",
	} {
		doc, err := r.Document(context.Background(), address)
		pages[name] = mustDocument(t, doc, err)
	}
	doc, err := testRenderer(testShelf()).Document(context.Background(), "/proof/")
	pages["proof-none"] = mustDocument(t, doc, err)
}

func TestProvenPage(t *testing.T) {
	doc, err := provenRenderer(testShelf(), testProof()).Document(context.Background(), "/errors/acme/tool/socket-busy/")
	root := parse(t, mustDocument(t, doc, err).Body)
	var sections []string
	for _, s := range find(root, named("section")) {
		sections = append(sections, attribute(s, "id"))
	}
	if want := []string{"message", "meaning", "source", "proof", "solutions", "fix", "defence", "when", "flow", "related"}; !slices.Equal(sections, want) {
		t.Errorf("sections %v, want %v", sections, want)
	}
	section := find(root, func(n *node) bool { return attribute(n, "id") == "proof" })[0]
	if marks := find(section, named("mark")); len(marks) != 2 || text(marks[0]) != "Socket main.sock of 42 is busy." || !strings.Contains(text(marks[1]), "fault.New") {
		t.Errorf("%d marks in the proof, want the message and the raising line", len(marks))
	}
	if links := find(section, func(n *node) bool { return attribute(n, "href") == "/source/socket/open.go#L6" }); len(links) != 3 {
		t.Errorf("%d links to the raising line, want those of the chain, the place and the other way", len(links))
	}
	proven := find(root, func(n *node) bool { return n.Data == "li" && strings.HasPrefix(attribute(n, "id"), "solution-") })
	if len(proven) != 2 || len(find(proven[0], classed("badge-proven"))) != 0 || len(find(proven[1], classed("badge-proven"))) != 1 {
		t.Errorf("of %d solutions only the second has a remedy that works", len(proven))
	}
	here := find(root, classed("flow-here"))
	if len(here) != 1 || !strings.Contains(text(here[0]), "3") || len(find(here[0], named("a"))) != 0 {
		t.Errorf("the third guard is not the marked one of the picture")
	}
	if guards := find(root, classed("guards")); len(guards) != 1 || len(find(guards[0], named("li"))) != 4 || len(find(guards[0], classed("guard-here"))) != 1 {
		t.Errorf("the list of guards is not the whole operation")
	}
}

// TestNoPretence wants nothing about a proof where there is none.
func TestNoPretence(t *testing.T) {
	for _, proof := range []*kb.Proof{nil, {SchemaVersion: kb.EvidenceVersion}} {
		doc, err := provenRenderer(testShelf(), proof).Document(context.Background(), "/errors/acme/tool/socket-busy/")
		root := parse(t, mustDocument(t, doc, err).Body)
		for _, main := range find(root, named("main")) {
			if said := text(main); strings.Contains(said, "roven") || strings.Contains(said, "Proof") {
				t.Errorf("the page of a record without evidence speaks of a proof")
			}
		}
	}
	r := provenRenderer(testShelf(), testProof())
	if doc, err := r.Document(context.Background(), "/errors/acme/tool/queue-full/"); err != nil || bytes.Contains(doc.Body, []byte(`id="proof"`)) || !bytes.Contains(doc.Body, []byte(`id="flow"`)) {
		t.Errorf("a record with a place but no evidence: error %v", err)
	}
	doc, err := r.Document(context.Background(), "/proof/")
	said := strings.Join(strings.Fields(text(parse(t, mustDocument(t, doc, err).Body))), " ")
	for _, want := range []string{"1 of 2 records proven", "4 of 5 places accounted for", "1 of 2 messages told apart", "1 record has no evidence"} {
		if !strings.Contains(said, want) {
			t.Errorf("the report does not say %q:\n%s", want, said)
		}
	}
}

// TestCauseFirst tells a wrapper behind its cause from a message that is
// mistaken for another.
func TestCauseFirst(t *testing.T) {
	p := testProof()
	cause := plainRecord().ID
	p.Records[0].Diagnosis.First, p.Records[0].Diagnosis.Cause = false, &cause
	wrapper := p.Records[0].Record
	for _, c := range []struct {
		found []string
		cell  string
		told  string
	}{
		{[]string{wrapper}, "cell-right", "1"},
		{[]string{cause, wrapper}, "cell-cause", "1"},
		{[]string{cause}, "cell-wrong", "0"},
		{nil, "", "0"},
	} {
		p.Siblings = []kb.Sibling{{Record: wrapper, Found: c.found}}
		doc, err := provenRenderer(testShelf(), p).Document(context.Background(), "/proof/")
		root := parse(t, mustDocument(t, doc, err).Body)
		said := strings.Join(strings.Fields(text(root)), " ")
		if !strings.Contains(said, c.told+" of 1 messages told apart") {
			t.Errorf("found %q: want %s told apart", c.found, c.told)
		}
		cells := find(find(root, classed("matrix"))[0], func(n *node) bool { return c.cell != "" && classed(c.cell)(n) })
		if c.cell != "" && len(cells) != 1 {
			t.Errorf("found %q: %d cells of class %s", c.found, len(cells), c.cell)
		}
	}
}

func TestSourcePages(t *testing.T) {
	r := provenRenderer(testShelf(), testProof())
	addresses, err := r.Addresses(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var sources []string
	for _, a := range addresses {
		if strings.HasPrefix(a, "/source/") {
			sources = append(sources, a)
		}
	}
	if want := []string{"/source/queue.go", "/source/socket/open.go"}; !slices.Equal(sources, want) {
		t.Fatalf("pages of source %q, want %q", sources, want)
	}
	for _, other := range []string{"/source/", "/source/unrelated.go", "/source/missing.go", "/source/../secret.go", "/source/socket", "/source/socket/open.go/", "/source/socket%2Fopen.go", "/source//queue.go"} {
		if _, err := r.Document(context.Background(), other); err == nil {
			t.Errorf("%s has a page", other)
		}
	}
	doc, err := r.Document(context.Background(), "/source/socket/open.go")
	root := parse(t, mustDocument(t, doc, err).Body)
	line := find(root, func(n *node) bool { return attribute(n, "id") == "L6" })
	if len(line) != 1 || !classed("marked")(line[0]) || !strings.Contains(text(line[0]), "fault.New") || attribute(line[0], "data-n") != "6" {
		t.Errorf("line 6 is not the raising one")
	}
	code := text(find(root, named("pre"))[0])
	if want := string(testCode["socket/open.go"].Data); code != want {
		t.Errorf("copying gives %q, want %q", code, want)
	}
}

func TestRecordJSONHasEvidence(t *testing.T) {
	r := provenRenderer(testShelf(), testProof())
	var got struct {
		Record struct {
			Evidence *kb.Evidence `json:"evidence"`
		} `json:"record"`
	}
	if err := json.Unmarshal(documentOf(t, r, "/api/errors/"+fullRecord().ID), &got); err != nil {
		t.Fatal(err)
	}
	if want := testProof().Of(fullRecord().ID); !reflect.DeepEqual(got.Record.Evidence, want) {
		t.Errorf("evidence %+v, want %+v", got.Record.Evidence, want)
	}
	if body := documentOf(t, r, "/api/errors/"+plainRecord().ID); !bytes.Contains(body, []byte(`"evidence":null`)) {
		t.Errorf("a record without evidence: %s", body)
	}
}

func TestHostileProof(t *testing.T) {
	r := provenRenderer(append(testShelf(), hostileRecord()), hostileProof())
	addresses, err := r.Addresses(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, address := range addresses {
		doc, err := r.Document(context.Background(), address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
		}
		if !strings.HasPrefix(doc.ContentType, "text/html") || doc.Location != "" {
			continue
		}
		seen++
		checkHTML(t, address, doc.Body)
		for _, bad := range []string{"<script>alert", "<img", "\x00"} {
			if bytes.Contains(doc.Body, []byte(bad)) {
				t.Errorf("%s holds %q", address, bad)
			}
		}
		root := parse(t, doc.Body)
		for _, box := range find(root, named("textarea")) {
			box.Parent.RemoveChild(box)
		}
		if said := text(root); strings.ContainsAny(said, "\u202e\x1b") {
			t.Errorf("%s shows a hidden character", address)
		}
	}
	if seen < 10 {
		t.Errorf("only %d pages", seen)
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"one two", []string{"one two"}},
		{"one two three", []string{"one two", "three"}},
		{"abcdefghijkl m", []string{"abcdefgh", "ijkl m"}},
		{"a b c d e f g h i j k l m n o p", []string{"a b c d", "e f g h", "i j k l…"}},
		{"äöüäöüäöüä", []string{"äöüäöüäö", "üä"}},
		{"a 漢字漢字漢 — b", []string{"a", "漢字漢字", "漢 — b"}},
		{strings.Repeat("x", 100), []string{"xxxxxxxx", "xxxxxxxx", "xxxxxxx…"}},
	} {
		if got := wrap(c.text, 8, 3); !slices.Equal(got, c.want) {
			t.Errorf("wrap(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

// TestFlowWindow draws operations of every size with the guard of the page at
// every place: what is not drawn is counted.
func TestFlowWindow(t *testing.T) {
	for size := 1; size <= 12; size++ {
		for here := range size {
			guards := make([]GuardView, size)
			for i := range guards {
				guards[i] = GuardView{Number: i + 1, Message: fmt.Sprint("m", i+1), Here: i == here}
			}
			picture := string(flowPicture("f", "t", guards))
			drawn := strings.Count(picture, `class="flow-guard`)
			before, after := max(0, here-flowAround), max(0, size-1-here-flowAround)
			if drawn != size-before-after {
				t.Errorf("guard %d of %d: %d are drawn", here+1, size, drawn)
			}
			if before > 0 != strings.Contains(picture, " before</text>") || after > 0 != strings.Contains(picture, " after</text>") {
				t.Errorf("guard %d of %d: what is left out is not told: %s", here+1, size, picture)
			}
		}
	}
}
