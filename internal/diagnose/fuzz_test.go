package diagnose_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"errorkb/internal/diagnose"
)

// Any bytes give an answer whose offsets hold and whose JSON is valid.
func FuzzDiagnose(f *testing.F) {
	engine, list := bundled(f)
	for _, r := range list {
		for _, d := range disguises {
			f.Add(d.wear(r.ErrorMessage))
		}
		f.Add(r.ErrorMessage[:len(r.ErrorMessage)/2])
	}
	f.Add("\x00\xff{\"log\":\"\\\\\\\"\\u12")
	f.Add("ERROR 1698 (28000): x\nSQLSTATE[HY000] [1045] Minified React error #418; visit https://react.dev/errors/418?args[]=%4")
	f.Fuzz(func(t *testing.T, text string) {
		answer := engine.Diagnose(context.Background(), []byte(text), diagnose.Options{})
		checkSpans(t, text, &answer)
		if answer.Partial {
			t.Fatalf("%q: partial without a deadline", text)
		}
		if !json.Valid(answer.AppendJSON(nil)) {
			t.Fatalf("%q: %s", text, answer.AppendJSON(nil))
		}
		if line := answer.Unknown; line != nil && line.Line != nil && (line.Line.Start < 0 || line.Line.End > len(text) || line.Line.End < line.Line.Start) {
			t.Fatalf("%q: telling line %d:%d", text, line.Line.Start, line.Line.End)
		}
	})
}

// Whatever a message wears, the answer is the same record with the same value.
func FuzzDisguise(f *testing.F) {
	engine := seedEngine(f)
	const id = "fbc48e17530ae3db"
	for i := range disguises {
		f.Add("local", uint8(i))
		f.Add("my-driver_2.x", uint8(i))
		f.Add("A:", uint8(i))
	}
	f.Fuzz(func(t *testing.T, value string, which uint8) {
		if value == "" || len(value) > 40 {
			t.Skip()
		}
		for i := 0; i < len(value); i++ {
			c := value[i]
			// A value that is itself a quote or an escape has more than one reading.
			if !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || strings.IndexByte("-_./@:", c) >= 0) {
				t.Skip()
			}
		}
		text := disguises[int(which)%len(disguises)].wear(`Environment driver "` + value + `" does not support duplex channels.`)
		answer := engine.Diagnose(context.Background(), []byte(text), diagnose.Options{})
		if len(answer.Diagnoses) == 0 || answer.Diagnoses[0].Record.ID != id {
			t.Fatalf("%q gives %s", text, ids(&answer))
		}
		if got := answer.Diagnoses[0].Evidence[0].Captures[0].Value; got != value {
			t.Fatalf("%q: value %q, want %q", text, got, value)
		}
	})
}
