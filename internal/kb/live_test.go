package kb

import (
	"slices"
	"testing"
)

func TestEvidenceResult(t *testing.T) {
	code := "E_ONE"
	evidence := func() *Evidence {
		return &Evidence{
			Record: "0123456789abcdef", Proven: true, Problems: []string{}, Steps: []ProofStep{{"Do it", "It fails"}},
			Emitted: Emitted{Channel: ChannelError, Text: "a <text>", Code: &code}, Remedies: []Remedy{{Solution: 1, Works: true}},
		}
	}
	if r := evidence().Result(nil); r.Agrees != nil || !r.Proven || r.Ended != LiveComplete || r.Problems == nil || r.Differs == nil {
		t.Errorf("without evidence to compare with: %+v", r)
	}
	if r := evidence().Result(evidence()); r.Agrees == nil || !*r.Agrees || len(r.Differs) != 0 {
		t.Errorf("the same evidence: %+v", r)
	}
	other := evidence()
	other.Proven, other.Problems = false, []string{"it is late"}
	other.Also = []Variant{{Title: "another way"}}
	other.Steps[0].Result, other.Emitted.Code = "It works", nil
	if r := evidence().Result(other); !slices.Equal(r.Differs, []string{"also", "emitted", "problems", "proven", "steps"}) {
		t.Errorf("the other way round: %+v", r)
	}
	if r := other.Result(evidence()); r.Proven || r.Agrees == nil || *r.Agrees ||
		!slices.Equal(r.Differs, []string{"also", "emitted", "problems", "proven", "steps"}) || !slices.Equal(r.Problems, []string{"it is late"}) {
		t.Errorf("other evidence: %+v", r)
	}
}
