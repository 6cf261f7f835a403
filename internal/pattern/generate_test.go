package pattern

import (
	"errorkb/internal/pattern/corpus"
)

const gapMark = corpus.GapMark

func messages(n int) []string                { return corpus.Messages(n) }
func exprFor(m string) string                { return corpus.Expression(m) }
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
