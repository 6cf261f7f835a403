package pattern

import "testing"

func TestPartial(t *testing.T) {
	const long = `Sandbox duplex channel needs a plugin id, a provider key, and a provider lease id on the lease\.`
	for _, c := range []struct {
		pattern, text  string
		share          float64 // at least; 0 for none
		noHead, noTail bool
		value          string // of the first capture
	}{
		{long, "Sandbox duplex channel needs a plugin id, a provider key, an", 0.6, false, true, ""},
		{long, "Error: Sandbox duplex channel needs a plugin id, …", 0.4, false, true, ""},
		{long, "...and a provider lease id on the lease.", 0.3, true, false, ""},
		{long, "nothing of the kind is in here", 0, false, false, ""},
		{`Cannot find module '(?P<m>.+?)' or its corresponding type declarations\.`, "TS2307: Cannot find module '@/interfaces/Rule' or its corres...", 0.5, false, true, "@/interfaces/Rule"},
		{`Cannot find module '(?P<m>.+?)' or its corresponding type declarations\.`, "TS2307: Cannot find module '@/interfaces/Rule' or its corresponding type declarations", 1, false, false, "@/interfaces/Rule"},
		{`Cannot find module '(?P<m>.+?)' or its corresponding type declarations\.`, "terfaces/Rule' or its corresponding type declarations.", 0.6, true, false, "terfaces/Rule"},
		{`Cannot find module '(?P<m>.+?)' or its`, "x Cannot find module 'b' or its", 1, false, false, "b"},
	} {
		p, err := Compile(c.pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		got, ok := p.Partial([]byte(c.text))
		if ok != (c.share > 0) || got.Share < c.share || got.Share > 1 {
			t.Errorf("%q: share %.2f, %v; want at least %.2f", c.text, got.Share, ok, c.share)
			continue
		}
		if got.NoHead != c.noHead || got.NoTail != c.noTail {
			t.Errorf("%q: no head %v, no tail %v; want %v, %v", c.text, got.NoHead, got.NoTail, c.noHead, c.noTail)
		}
		if c.value != "" {
			if len(got.Match.Captures) == 0 {
				t.Errorf("%q: no capture", c.text)
			} else if k := got.Match.Captures[0]; c.text[k.Start:k.End] != c.value {
				t.Errorf("%q: capture %q, want %q", c.text, c.text[k.Start:k.End], c.value)
			}
		}
	}
}
