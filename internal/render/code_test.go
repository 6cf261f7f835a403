package render

import (
	"strings"
	"testing"
)

// TestHighlightKeepsText demands that colouring loses and adds nothing.
func TestHighlightKeepsText(t *testing.T) {
	sources := []string{
		"", "\n", "a\n\nb", "const a = `x ${b}\ny`; // <c> & \"d\"\n", "/* open\ncomment", "\"unclosed\n", "if (a < b && c > d) {}\n\tthrow new Error('x');",
		"{\"a\": [1, 2.5, true, null]}", "$ kb diagnose - <<'E'\n# x\nE", "func f() (int, error) { return 0, nil }", strings.Repeat("a = 1;\n", 2000), strings.Repeat("(", 40_000),
	}
	for _, language := range []string{"ts", "js", "go", "json", "sh", "py", "rs", "java", "sql", "yaml", "", "nonsense"} {
		for _, source := range sources {
			code := newCode(source, language)
			got := text(parse(t, []byte(code.HTML())))
			want := strings.TrimRight(source, "\n") + "\n"
			if got != want {
				t.Errorf("%s: %.60q became %.60q", language, want, got)
			}
		}
	}
}

func TestCodeClasses(t *testing.T) {
	html := string(newCode("const n: number = 1; // why\nthrow new Error(\"x\");", "ts").HTML())
	for _, want := range []string{`<span class="tk">const</span>`, `<span class="tn">1</span>`, `<span class="tc">// why</span>`, `<span class="ts">&#34;x&#34;</span>`, `<span class="tk">throw</span>`} {
		if !strings.Contains(html, want) {
			t.Errorf("%s lacks %s", html, want)
		}
	}
}

func TestNumberedCode(t *testing.T) {
	html := string(newCode("a\nb\nc", "").numbered(41, 42).HTML())
	want := `<pre class="code numbered"><code><span class="line" data-n="41">a` + "\n</span>" +
		`<mark class="line marked" data-n="42">b` + "\n</mark>" + `<span class="line" data-n="43">c` + "\n</span></code></pre>"
	if html != want {
		t.Errorf("got  %s\nwant %s", html, want)
	}
}
