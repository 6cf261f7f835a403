package eval

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"errorkb/internal/diagnose"
)

// BaselineFinder is what a plain search does: every expression, as it stands in
// the catalogue, by Go's regexp on the text as it is. It is what the engine is
// measured against.
func BaselineFinder(list []diagnose.Entry) (Finder, error) {
	type search struct {
		id   string
		expr *regexp.Regexp
	}
	var searches []search
	for _, e := range list {
		expr, err := regexp.Compile(strings.ReplaceAll(e.Pattern, ".*?", ".+?"))
		if err != nil {
			return nil, fmt.Errorf("record %q: %w", e.Ref.ID, err)
		}
		searches = append(searches, search{e.Ref.ID, expr})
	}
	return func(ctx context.Context, text []byte) []Got {
		var got []Got
		for _, s := range searches {
			for _, m := range s.expr.FindAllSubmatch(text, -1) {
				g := Got{ID: s.id, Kind: "regexp", Confidence: 1, Variables: map[string]string{}}
				for i, name := range s.expr.SubexpNames() {
					if name != "" {
						g.Variables[name] = string(m[i])
					}
				}
				got = append(got, g)
			}
		}
		return got
	}, nil
}
