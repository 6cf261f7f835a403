package pattern

import (
	"strings"
	"testing"
)

// TestWorstCaseIsLinear counts the bytes looked at on texts that are made to hurt:
// twice the text must not be more than about twice the work, and the work must
// stay within a factor of the text.
func TestWorstCaseIsLinear(t *testing.T) {
	exprs := []string{
		`aaaa aaaa`, `aaaaaaaa(?P<x>.+?)aaaaaaaa`, `aaaa (?P<x>.+?) aaaa (?P<y>.+?) aaab`,
		`file '(?P<x>.+?)' is missing`, `file '(?P<x>(?s:.+?))' is missing`, `file '(?P<x>[^']*)' is missing`,
		`error (?P<x>.+?) error (?P<y>.+?) error (?P<z>.+?) fatal`, `error (?P<x>.+?): (?P<y>\d+) fatal`,
		`(?P<x>.+?) error`, `error (?P<x>.+?)`, `(?P<x>\d+) error`, `error (?P<x>.+?)(?P<y>\d+) fatal`,
		`error\s+(?P<x>.+?)\s+error\s+fatal`, `error (?P<x>.+?) error (?P<y>.+?) error (?P<z>\d+) error`,
		`(?i)error (?P<x>.+?) fatal`, `error (?:one|two|three) (?P<x>.+?) fatal`,
	}
	for i := range 60 { // all in the same bucket
		exprs = append(exprs, `error error error `+strings.Repeat("error ", i%7)+`(?P<x>.+?)`+string(rune('a'+i%26))+string(rune('a'+i/26)))
	}
	ix := Build(compileAll(exprs))
	const size = 1 << 17
	for _, c := range []struct{ name, piece string }{
		{"one letter", "a"},
		{"literal", "error "},
		{"literal and quote", "file '"},
		{"literal in quotes", "file 'error' "},
		{"literal and number", "error 1: "},
		{"short lines", "error in line\n"},
		{"empty lines", "\n"},
		{"quotes", "'"},
		{"brackets", "error ("},
		{"closing brackets", ") error"},
		{"blanks", "error    \n"},
		{"digits", "1"},
		{"digits and literal", "1 error"},
	} {
		for _, head := range []string{"", "file '"} {
			work := func(n int) int {
				f := newFinder()
				f.find(ix, []byte(head+strings.Repeat(c.piece, n/len(c.piece))), func(int, Match) bool { return true })
				return f.work + n
			}
			one, two := work(size), work(2*size)
			t.Logf("%-20s %-8q %6.1f bytes looked at per byte", c.name, head, float64(two)/(2*size))
			if float64(two) > 2.3*float64(one) {
				t.Errorf("%s after %q: work %d for twice %d", c.name, head, two, one)
			}
			if two > 2*size*len(exprs)*16 {
				t.Errorf("%s after %q: %d bytes looked at per byte", c.name, head, two/(2*size))
			}
		}
	}
}

// Patterns that are all alike, in a text of nothing else, take no more memory than
// others.
func TestManyAlikeTakeLittleMemory(t *testing.T) {
	exprs := make([]string, 5000)
	for i := range exprs {
		exprs[i] = "error in the file"
	}
	ix := Build(compileAll(exprs))
	f := newFinder()
	found := 0
	f.find(ix, []byte(strings.Repeat("error in the file\n", 300)), func(int, Match) bool {
		found++
		return true
	})
	if found != 300*len(exprs) {
		t.Errorf("%d found, want %d", found, 300*len(exprs))
	}
	if cap(f.found) > 2*maxFound {
		t.Errorf("%d entries were kept", cap(f.found))
	}
}
