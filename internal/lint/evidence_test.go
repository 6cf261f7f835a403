package lint

import (
	"strings"
	"testing"
	"testing/fstest"

	"errorkb/internal/kb"
)

func TestEvidence(t *testing.T) {
	name, code, other := "one", "E_ONE", "E_TWO"
	record := &kb.Record{ID: "00000000000000a1", Scenario: &name, MessagePattern: `^It broke( "now")?\.$`, ErrorCode: &code, Solutions: []string{"mend it"}}
	set := kb.NewSetOf(record)
	proof := func(change func(e *kb.Evidence)) fstest.MapFS {
		e := kb.Evidence{Record: record.ID, Scenario: name, Proven: true, Remedies: []kb.Remedy{{Solution: 1}},
			Emitted: kb.Emitted{Text: "Error: It broke.", Message: "It broke.", Code: &code}}
		change(&e)
		p := kb.Proof{SchemaVersion: kb.EvidenceVersion, Records: []kb.Evidence{e}}
		return fstest.MapFS{kb.EvidenceFile: {Data: p.Canonical()}}
	}
	for _, c := range []struct {
		name string
		fsys fstest.MapFS
		code string // of the finding, "" for none
		says string
		left int // evidence in the proof, -1 when there is no proof
	}{
		{"none", fstest.MapFS{}, "", "", -1},
		{"good", proof(func(*kb.Evidence) {}), "", "", 1},
		{"not JSON", fstest.MapFS{kb.EvidenceFile: {Data: []byte("{")}}, codeEvidence, "evidence.json", -1},
		{"unknown field", fstest.MapFS{kb.EvidenceFile: {Data: []byte(`{"schemaVersion": 1, "x": 1}`)}}, codeEvidence, `"x"`, -1},
		{"other version", fstest.MapFS{kb.EvidenceFile: {Data: []byte(`{"schemaVersion": 9}`)}}, codeEvidence, "9", -1},
		{"quoted in a log", proof(func(e *kb.Evidence) {
			e.Emitted.Message, e.Emitted.Text = `It broke "now".`, `level=WARN error="It broke \"now\"."`
		}), "", "", 1},
		{"no record", proof(func(e *kb.Evidence) { e.Record = "00000000000000a9" }), codeStale, "no such record", 0},
		{"other scenario", proof(func(e *kb.Evidence) { e.Scenario = "two" }), codeStale, `not "two"`, 0},
		{"other message", proof(func(e *kb.Evidence) { e.Emitted.Message, e.Emitted.Text = "It bent.", "It bent." }), codeStale, "It bent.", 0},
		{"message elsewhere", proof(func(e *kb.Evidence) { e.Emitted.Text = "x" }), codeStale, "does not hold", 0},
		{"other code", proof(func(e *kb.Evidence) { e.Emitted.Code = &other }), codeStale, other, 0},
		{"class", proof(func(e *kb.Evidence) { e.Emitted.Class = &other }), codeStale, "class", 0},
		{"no such solution", proof(func(e *kb.Evidence) { e.Remedies[0].Solution = 2 }), codeStale, "solution 2", 0},
		{"not proven", proof(func(e *kb.Evidence) { e.Proven, e.Emitted = false, kb.Emitted{} }), "", "", 1},
	} {
		proof, findings := Evidence(c.fsys, set)
		left := -1
		if proof != nil {
			left = len(proof.Records)
		}
		if left != c.left {
			t.Errorf("%s: %d records in the proof, want %d", c.name, left, c.left)
		}
		switch {
		case c.code == "" && len(findings) != 0:
			t.Errorf("%s: findings %v", c.name, findings)
		case c.code != "" && (len(findings) != 1 || findings[0].Code != c.code || !strings.Contains(findings[0].Message, c.says) || findings[0].Advice == ""):
			t.Errorf("%s: findings %v, want one with code %s that says %q", c.name, findings, c.code, c.says)
		}
	}
}
