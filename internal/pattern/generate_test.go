package pattern

import (
	"math/rand/v2"

	"errorkb/internal/pattern/corpus"
)

const gapMark = corpus.GapMark

var values = corpus.Values

func messages(n int) []string                { return corpus.Messages(n) }
func exprFor(m string) string                { return corpus.Expression(m) }
func fillIn(r *rand.Rand, m string) string   { return corpus.Fill(r, m) }
func logText(size int, from []string) []byte { return corpus.Log(size, from) }

func compileAll(exprs []string) []*Pattern {
	out := make([]*Pattern, len(exprs))
	for i, e := range exprs {
		p, err := Compile(e, "")
		if err != nil {
			panic(err)
		}
		out[i] = p
	}
	return out
}
