package main

import (
	"sort"
	"strings"

	"errorkb/internal/diagnose"
)

// maskAnswer takes secrets out of what an answer quotes of its text. Places
// stay what they are.
func maskAnswer(a *diagnose.Answer, text []byte) {
	secrets := diagnose.Secrets(text)
	// masker replaces what the whole text shows to be secret, and then what looks
	// so by itself: after undoing, the bytes can be others.
	masker := func(from, to int) func(*string) {
		k := sort.Search(len(secrets), func(k int) bool { return secrets[k].End > from })
		var pairs []string
		for ; k < len(secrets) && secrets[k].Start < to; k++ {
			pairs = append(pairs, string(text[secrets[k].Start:secrets[k].End]), "[masked "+secrets[k].Kind+"]")
		}
		replacer := strings.NewReplacer(pairs...)
		return func(s *string) { *s = string(diagnose.Mask([]byte(replacer.Replace(*s)))) }
	}
	for i := range a.Diagnoses {
		for k := range a.Diagnoses[i].Evidence {
			e := &a.Diagnoses[i].Evidence[k]
			mask := masker(e.Start, e.End)
			mask(&e.Text)
			for c := range e.Captures {
				mask(&e.Captures[c].Value)
			}
		}
	}
	if u := a.Unknown; u != nil && u.Line != nil {
		mask := masker(u.Line.Start, u.Line.End)
		mask(&u.Line.Text)
		mask(&u.Template)
	}
}
