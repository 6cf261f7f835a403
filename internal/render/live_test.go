package render

import (
	"context"
	"slices"
	"strings"
	"testing"

	"errorkb/internal/kb"
)

func TestLiveSummary(t *testing.T) {
	agrees, differs := true, false
	for _, test := range []struct {
		result kb.LiveResult
		want   string
	}{
		{kb.LiveResult{Ended: kb.LiveComplete, Proven: true, Agrees: &agrees, Milliseconds: 1240}, "Proven in 1.2 s. This agrees with the evidence of the data set."},
		{kb.LiveResult{Ended: kb.LiveComplete, Proven: true}, "Proven in 0.0 s. The data set has no evidence to compare this with."},
		{kb.LiveResult{Ended: kb.LiveComplete, Proven: true, Agrees: &differs, Differs: []string{"steps", "emitted"}}, "Proven in 0.0 s. The evidence of the data set differs in steps and emitted."},
		{kb.LiveResult{Ended: kb.LiveComplete, Agrees: &differs, Problems: []string{"a", "b"}}, "Not proven, after 0.0 s: 2 problems."},
		{kb.LiveResult{Ended: kb.LiveTimeLimit, Milliseconds: 30_000}, "Not finished after 30.0 s."},
	} {
		if got := LiveSummary(test.result); got != test.want {
			t.Errorf("%+v: %q, want %q", test.result, got, test.want)
		}
	}
}

// TestLiveButton: only a server that takes live proofs has the button, and only
// for records with a scenario.
func TestLiveButton(t *testing.T) {
	ctx := context.Background()
	full, plain, bare := fullRecord(), plainRecord(), plainRecord()
	full.Scenario, plain.Scenario = to("socket-busy"), to("queue-full")
	bare.ID, bare.Slug, bare.Scenario = "00000000000000b9", "queue-bare", nil
	records := shelf{full, plain, bare}
	for _, live := range []bool{true, false} {
		r := New(records, Options{Base: "/kb", Schema: testSchema(), Proof: testProof(), Code: testCode, LiveProof: live})
		for _, record := range records {
			doc, err := r.Document(ctx, r.site.To(PlaceError, record.Repo, record.Slug))
			mustDocument(t, doc, err)
			checkHTML(t, record.Slug, doc.Body)
			root := parse(t, doc.Body)
			forms := find(root, classed("live-form"))
			if want := live && record.Scenario != nil; (len(forms) == 1) != want || strings.Contains(string(doc.Body), "live.js") != want {
				t.Errorf("%s, live %v: %d buttons", record.Slug, live, len(forms))
				continue
			} else if !want {
				continue
			}
			if action := attribute(forms[0], "action"); action != "/kb/api/errors/"+record.ID+"/prove" || attribute(forms[0], "method") != "post" {
				t.Errorf("%s: the form is sent to %s", record.Slug, action)
			}
			section := find(root, func(n *node) bool { return attribute(n, "id") == "proof" })
			links := find(root, func(n *node) bool { return attribute(n, "href") == "#proof" })
			if len(section) != 1 || len(links) == 0 || len(find(section[0], classed("live-form"))) != 1 {
				t.Errorf("%s: the button does not stand in the section of the proof", record.Slug)
			}
		}
	}
}

func TestLivePage(t *testing.T) {
	r := New(testShelf(), Options{Schema: testSchema(), Proof: testProof(), Code: testCode, LiveProof: true})
	record := fullRecord()
	record.Scenario = to("socket-busy")
	evidence := testProof().Records[0]
	solution := 1
	events := []kb.LiveEvent{
		{Step: &kb.ProofStep{Text: "lost: no part has begun"}},
		{Part: &kb.LivePart{Heading: "A `socket` <is> opened"}},
		{Step: &evidence.Steps[0]},
		{Step: &evidence.Steps[1], Emitted: &evidence.Emitted},
		{Part: &kb.LivePart{Heading: "Remedy: solution 1", Solution: &solution}},
		{Step: &kb.ProofStep{Text: "Open `main.sock`", Result: "It succeeds"}},
	}
	for _, proven := range []bool{true, false} {
		result := kb.LiveResult{Ended: kb.LiveComplete, Proven: proven}
		if !proven {
			result.Problems = []string{"the code is `A`, the record says <B>"}
		}
		doc, err := r.LivePage(t.Context(), record, events, result)
		mustDocument(t, doc, err)
		checkHTML(t, "live page", doc.Body)
		root := parse(t, doc.Body)
		var marked []string
		for _, li := range find(root, named("li")) {
			if class := attribute(li, "class"); strings.HasPrefix(class, "step-") {
				marked = append(marked, class)
			}
		}
		want := []string{"step-fails", "step-works"}
		if !proven {
			want = want[:1]
		}
		if !slices.Equal(marked, want) {
			t.Errorf("proven %v: the steps are marked %q", proven, marked)
		}
		verdict := find(root, classed("verdict"))[0]
		if says := text(verdict); proven != strings.HasPrefix(says, "Proven") || proven == strings.Contains(says, "the code is A, the record says <B>.") {
			t.Errorf("proven %v: the verdict is %q", proven, says)
		}
		if mark := find(root, named("mark")); len(mark) != 1 || text(mark[0]) != "Socket main.sock of 42 is busy." {
			t.Errorf("%d marks in what was seen", len(mark))
		}
		page := text(root)
		for _, part := range []string{"A socket <is> opened", "E_BUSY", "BusyError", "503", "socket/open.go:6", "Prove it again"} {
			if !strings.Contains(page, part) {
				t.Errorf("the page lacks %q", part)
			}
		}
		if strings.Contains(page, "lost") {
			t.Error("a step that belongs to no part is shown")
		}
	}
}
