package search

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"errorkb/internal/kb"
)

// benchSet is n records of about 2 KB of text from a made-up vocabulary in
// which few words are common and most are rare.
func benchSet(n int) *kb.Set {
	random := rand.New(rand.NewPCG(1, 2))
	syllables := strings.Fields("con nec tion re fu sed ti me out lock dri ver chan nel du plex sand box lea se gran ted cap ab il ity de ni ed pro vi der")
	vocabulary := make([]string, 5000)
	for i := range vocabulary {
		for range 2 + random.IntN(3) {
			vocabulary[i] += syllables[random.IntN(len(syllables))]
		}
	}
	words := func(n int) string {
		var out []string
		for range n {
			f := random.Float64()
			out = append(out, vocabulary[int(f*f*f*float64(len(vocabulary)))])
		}
		return strings.Join(out, " ")
	}
	records := make([]*kb.Record, n)
	for i := range records {
		records[i] = made(i, fmt.Sprintf("acme/repo-%d", i%20), fmt.Sprintf("error-%d", i), words(7), func(r *kb.Record) {
			r.Documentation, r.TriggerScenarios, r.CommonSituations = words(100)+".", words(60), words(40)
			r.Solutions, r.PreventionTips = []string{words(15), words(15)}, []string{words(10)}
			r.Tags = []string{vocabulary[i%50], vocabulary[i%70]}
		})
	}
	return kb.NewSetOf(records...)
}

func BenchmarkBuild(b *testing.B) {
	set := benchSet(2000)
	for b.Loop() {
		close(b, open(b, b.TempDir(), set))
	}
}

func BenchmarkOpenMatching(b *testing.B) {
	set, dir := benchSet(2000), b.TempDir()
	close(b, open(b, dir, set))
	for b.Loop() {
		close(b, open(b, dir, set))
	}
}

func BenchmarkSearch(b *testing.B) {
	set := benchSet(2000)
	x := open(b, b.TempDir(), set)
	defer close(b, x)
	title := strings.Fields(set.Records[1234].ErrorMessage)
	for name, text := range map[string]string{
		"word":     title[0] + " ",
		"message":  set.Records[1234].ErrorMessage,
		"three":    strings.Join(title[:3], " ") + " ",
		"prefix":   title[0][:3],
		"misspelt": title[0] + " " + title[1][:2] + title[1][3:] + "x ",
		"some":     strings.Join(title[:4], " ") + " zzzz qqqq ",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if r := find(b, x, kb.Query{Text: text}); r.Total == 0 && name != "misspelt" {
					b.Fatal("no hit")
				}
			}
		})
	}
}
