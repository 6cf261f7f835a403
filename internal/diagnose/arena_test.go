package diagnose

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"errorkb/internal/pattern/corpus"
)

// What a diagnosis works with is used again by the next. Nothing of a text may get
// into the answer about another one, and an answer stays as it is, whatever becomes
// of its text and of that memory.
func TestAnswersStandAlone(t *testing.T) {
	e, messages := madeEngine(t, 300)
	texts := [][]byte{corpus.Log(largeText*3, messages), corpus.Log(largeText*2, nil)}
	for _, p := range corpus.Pastes(60, 1<<10, messages) {
		quoted := strings.NewReplacer(`"`, `\"`, "\n", `\n`).Replace(string(p))
		texts = append(texts, p, corpus.Disguise(p), []byte(`{"msg":"`+quoted+`"}`), p[:len(p)*2/3], bytes.ToUpper(p))
	}
	answers, want := make([]Answer, len(texts)), make([][]byte, len(texts))
	verdicts := map[Verdict]bool{}
	for i, text := range texts {
		text = bytes.Clone(text)
		answers[i] = e.Diagnose(context.Background(), text, Options{})
		want[i] = answers[i].AppendJSON(nil)
		verdicts[answers[i].Verdict] = true
		copy(text, bytes.Repeat([]byte("#"), len(text)))
	}
	if !verdicts[VerdictKnown] || !verdicts[VerdictUnknown] {
		t.Fatalf("verdicts %v; one of them is missing", verdicts)
	}
	for i := len(texts) - 1; i >= 0; i-- {
		again := e.Diagnose(context.Background(), texts[i], Options{})
		if got := again.AppendJSON(nil); !bytes.Equal(got, want[i]) {
			t.Fatalf("text %d has another answer after other texts:\n%s\nwant\n%s", i, got, want[i])
		}
	}
	for i := range answers {
		if got := answers[i].AppendJSON(nil); !bytes.Equal(got, want[i]) {
			t.Fatalf("answer %d has changed:\n%s\nwant\n%s", i, got, want[i])
		}
	}
}
