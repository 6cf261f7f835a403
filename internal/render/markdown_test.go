package render

import (
	"strings"
	"testing"
)

func TestProse(t *testing.T) {
	for in, want := range map[string]string{
		"":                                  "",
		"one\n\ntwo":                        "<p>one</p>\n<p>two</p>",
		"**b** `c<d>`":                      "<p><strong>b</strong> <code>c&lt;d&gt;</code></p>",
		"[a](https://x.y/?b=c&d)":           `<p><a rel="nofollow noopener noreferrer" href="https://x.y/?b=c&amp;d">a</a></p>`,
		"[a](http://x.y)":                   "<p>a</p>",
		"[a](javascript:alert(1))":          "<p>a</p>",
		"[a](/errors/)":                     "<p>a</p>",
		"[a](//x.y)":                        "<p>a</p>",
		"[a](https://u:p@x.y)":              "<p>a</p>",
		"[a]( HTTPS://x.y \"t\")":           `<p><a rel="nofollow noopener noreferrer" href="HTTPS://x.y">a</a></p>`,
		"<https://x.y>":                     `<p><a rel="nofollow noopener noreferrer" href="https://x.y">https://x.y</a></p>`,
		"<javascript:x>":                    "<p>javascript:x</p>",
		"<a@x.y>":                           "<p>a@x.y</p>",
		"![alt](https://x/y.png)":           "<p>alt</p>",
		"a Map<string> b":                   "<p>a Map&lt;string&gt; b</p>",
		"<div onclick=x>\nraw":              "<p>&lt;div onclick=x&gt;\nraw</p>",
		"# Head\n\n###### Small":            "<h3>Head</h3>\n<h3>Small</h3>",
		"```ts\nlet a = 1;\n```":            `<pre class="code"><code><span class="line"><span class="tk">let</span> a = <span class="tn">1</span>;` + "\n</span></code></pre>",
		"```nonsense\n<b>\n```":             `<pre class="code"><code><span class="line">&lt;b&gt;` + "\n</span></code></pre>",
		"> q":                               "<blockquote>\n<p>q</p>\n</blockquote>",
		"&lt;script&gt; &#0; &#x202e;&amp;": "<p>&lt;script&gt; \uFFFD ⟨U+202E⟩&amp;</p>",
	} {
		if got := string(prose(in)); got != want {
			t.Errorf("prose(%q)\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestInlineProse(t *testing.T) {
	for in, want := range map[string]string{
		"do `x`":       "do <code>x</code>",
		"1. not":       "1. not",
		"# not":        "# not",
		"- not\n- a":   "- not\n- a",
		"    not code": "not code",
		"a\n\nb":       "a<br><br>b",
		"<div>":        "&lt;div&gt;",
	} {
		if got := string(inlineProse(in)); got != want {
			t.Errorf("inlineProse(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzProse(f *testing.F) {
	for _, seed := range []string{"<script>x</script>", "[a](javascript:x)", "```\n</code><script>", "<a href=x onclick=y>", "[a]: javascript:x\n\n[a]", "| a |\n|--|\n| <b> |", "\\<b>", "&#60;script&#62;"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, markdown string) {
		for _, out := range []Prose{prose(markdown), inlineProse(markdown)} {
			page := "<title>t</title><h1>h</h1><h2>h</h2>" + string(out)
			for _, failure := range check(parse(t, []byte(page))).failures {
				if !strings.HasPrefix(failure, "empty heading") {
					t.Errorf("%q: %s in %q", markdown, failure, out)
				}
			}
		}
	})
}
