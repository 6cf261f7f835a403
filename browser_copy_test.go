package errorkb

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"errorkb/internal/diagnose"
	"errorkb/internal/diagnose/entry"
	"errorkb/internal/kb"
	"errorkb/records"
)

// copyOfSite is a site made of plain files, on a file server that knows nothing
// of it.
type copyOfSite struct {
	*site
	posts atomic.Int64 // texts that were sent to the file server
	loads atomic.Int64 // of the program
}

func startCopy(t *testing.T, s *site, dir string, withHeaders bool) *copyOfSite {
	t.Helper()
	c := &copyOfSite{}
	rules := map[string]http.Header{}
	if withHeaders {
		rules = readHeaders(t, filepath.Join(dir, "_headers"))
	}
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			c.posts.Add(1)
			http.Error(w, "only files here", http.StatusMethodNotAllowed)
			return
		}
		if strings.HasSuffix(r.URL.Path, ".wasm") {
			c.loads.Add(1)
		}
		for address, header := range rules {
			folder, all := strings.CutSuffix(address, "*")
			if address == r.URL.Path || all && strings.HasPrefix(r.URL.Path, folder) {
				for name, values := range header {
					w.Header()[name] = append(w.Header()[name], values...)
				}
			}
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	c.site = &site{address: server.URL, browser: s.browser}
	return c
}

// readHeaders reads a _headers file as hosts do.
func readHeaders(t *testing.T, name string) map[string]http.Header {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]http.Header{}
	address := ""
	for line := range strings.Lines(string(content)) {
		key, value, isHeader := strings.Cut(strings.TrimSpace(line), ": ")
		if !isHeader {
			address = key
			continue
		}
		if rules[address] == nil {
			rules[address] = http.Header{}
		}
		rules[address].Add(key, value)
	}
	if len(rules) == 0 {
		t.Fatalf("%s has no rule", name)
	}
	return rules
}

// buildSite writes the static site as a person would.
func buildSite(t *testing.T, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", append([]string{"run", "./cmd/build-site", "--quiet", "--out", dir}, args...)...)
	if message, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build-site: %v\n%s", err, message)
	}
	return dir
}

func TestBrowserWithoutServer(t *testing.T) {
	s := startSite(t)
	dir := buildSite(t)
	t.Run("paste", func(t *testing.T) { testPasteOnCopy(t, startCopy(t, s, dir, false)) })
	t.Run("policy of hosts", func(t *testing.T) { testPasteOnCopy(t, startCopy(t, s, dir, true)) })
	t.Run("same bytes", func(t *testing.T) { testSameBytes(t, startCopy(t, s, dir, false)) })
	t.Run("same answer", func(t *testing.T) { testSameAnswer(t, startCopy(t, s, dir, false), s.address) })
	t.Run("program missing", func(t *testing.T) { testDamagedCopy(t, s, dir) })
}

func testPasteOnCopy(t *testing.T, c *copyOfSite) {
	for _, v := range []view{desktop, {name: "phone-dark", width: phone.width, height: phone.height, dark: true}} {
		b := c.open(t, v)
		b.visit("/")
		eval[bool](b, `(() => {
			window.said = [];
			window.took = []; // milliseconds from each click to the answer
			let clicked = 0;
			addEventListener("submit", () => { clicked = performance.now(); }, true);
			new MutationObserver(() => {
				if (!clicked || !document.querySelector("#answer .match, #answer .verdict-unknown")) return;
				took.push(Math.round(performance.now() - clicked));
				clicked = 0;
			}).observe(document.querySelector("#answer"), {childList: true, subtree: true});
			const status = document.querySelector("[data-status]");
			new MutationObserver(() => said.push(status.textContent)).observe(status, {childList: true, characterData: true, subtree: true});
			return true;
		})()`)
		paste := func(text, want string) {
			b.do(chromedp.SetValue(chromedp.CSS("[data-paste]"), text))
			b.click("form.paste-box button[type=submit]")
			b.see(want)
		}
		paste(pastedLog, "#answer .match")
		if values := b.text("#answer .values"); !strings.Contains(values, "driver") || !strings.Contains(values, "local") {
			t.Errorf("the captured value is not shown: %q", values)
		}
		if w := eval[int](b, `document.documentElement.scrollWidth`); w > int(v.width) {
			t.Errorf("the answer is %d pixels wide in a window of %d", w, v.width)
		}
		b.shoot("copy known " + v.name)
		paste("The weather was fine and nobody complained.", "#answer .verdict-unknown")
		b.shoot("copy unknown " + v.name)
		said := eval[[]string](b, `said`)
		if loading := strings.Count(strings.Join(said, "|"), "Loading the diagnosis ("); loading != 1 {
			t.Errorf("the page said %d times that it loads: %q", loading, said)
		}
		paste(pastedLog, "#answer .match")
		t.Logf("%s: answers after %d ms, the first one with the program", v.name, eval[[]int](b, `took`))
		b.follow(driverPage, chromedp.Click(chromedp.CSS("#answer .match-title a")))
	}
	if n := c.posts.Load(); n != 0 {
		t.Errorf("%d texts were sent to the file server", n)
	}
	if n := c.loads.Load(); n < 1 || n > 2 {
		t.Errorf("the program was loaded %d times in two pages", n)
	}
}

// asker makes ask(base64) in the page: the answer of the worker as it is.
const asker = `(async () => {
	window.files = await (await fetch("/diagnosis.json")).json();
	window.module = await import(files.answer);
	const worker = new Worker(files.worker), waiting = [];
	await new Promise((ok, fail) => {
		worker.onerror = fail;
		worker.onmessage = ({data}) => data.ready ? ok() : fail(data.failure);
		worker.postMessage({open: files});
	});
	worker.onmessage = ({data}) => waiting.shift()(data);
	window.bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
	window.ask = (text) => new Promise((ok) => {
		waiting.push(ok);
		worker.postMessage({id: 1, text: bytesOf(text), limit: 0});
	});
	return true;
})()`

// text is a paste with a name.
type text struct{ name, text string }

// goldenTexts are the pastes for which every face must give the same answer:
// the golden texts of the diagnosis, and the examples of all bundled records,
// bare and dressed up.
func goldenTexts(t *testing.T, list []*kb.Record) []text {
	t.Helper()
	var all []text
	files, err := filepath.Glob("internal/diagnose/testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("golden texts of the diagnosis: %q, %v", files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text{file, string(content)})
	}
	quote := func(s string) string { return fmt.Sprintf("%+q", s) }
	dress := []func(string) string{
		func(m string) string { return "Error: " + m },
		func(m string) string { return "working 10%\rworking 90%\r" + m },
		func(m string) string { return strings.NewReplacer(`"`, "”", " ", "\u00a0").Replace(m) },
		func(m string) string { return `{"log":` + quote(m+"\n") + `,"stream":"stderr"}` },
		func(m string) string { return "npm ERR! code 1\nnpm ERR! " + m },
		func(m string) string { return "╷\n│ Error: " + m + "\n╵" },
		func(m string) string {
			return "server_1  | " + strings.Join(strings.SplitAfterN(m, " ", 4), "\nserver_1  | ")
		},
		func(m string) string {
			return "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()\nValueError: " + m + "\n"
		},
		func(m string) string { return "before\r\n" + m + "\r\nafter\r\n" },
		func(m string) string { return "\x1b[1;31m" + m + "\x1b[0m" },
		func(m string) string { return `{"level":50,"msg":` + quote(`{"log":`+quote(m)+`}`) + `}` },
		func(m string) string { return "> " + strings.ReplaceAll(html.EscapeString(m), "\n", "\n> ") },
		func(m string) string { return m[:len(m)*3/4] + "…" },
	}
	var everything strings.Builder
	for i, r := range list {
		for j, example := range append(r.Examples.Match, r.Examples.NoMatch...) {
			name := fmt.Sprintf("%s %d", r.Slug, j)
			all = append(all, text{name, example}, text{name + " dressed", dress[(i+j)%len(dress)](example)})
			fmt.Fprintf(&everything, "2026-11-29T10:00:%02dZ ERROR [%s] %s\n    at f (a.js:1:2)\n", i%60, r.Slug, example)
		}
	}
	return append(all,
		text{"every example in one log", everything.String()},
		text{"empty", ""}, text{"spaces", " \r\n\t\r\n"}, text{"one character", "x"}, text{"NUL", "a\x00b\x00"},
		text{"not UTF-8", "error: \xff\xfe\xc3 failed \xe2\x82"},
		text{"byte order mark and marks of direction", "\ufeffError: \u202efailed\u202c to open \u200bfile\u00a0“x”\u2028next"},
		text{"emoji", "💥 Error: 👩‍🚀 cannot \U000e0041 leave — “orbit”"},
		text{"markdown", "*Error*: `a` [b](https://x) **c** <b>d</b> &amp; ${e} cannot be read"},
		text{"one long line", strings.Repeat("word ", 20_000) + list[0].ErrorMessage + strings.Repeat(" word", 20_000)},
	)
}

// bundledEngine is the diagnosis of the bundled records as the programs have it.
func bundledEngine(t *testing.T) (*diagnose.Engine, []*kb.Record) {
	t.Helper()
	sources, findings := kb.ReadDir(records.FS)
	if kb.HasErrors(findings) {
		t.Fatal(findings)
	}
	set := kb.NewSet(sources)
	var list []diagnose.Entry
	for _, r := range set.Records {
		list = append(list, entry.Of(r, "/errors/"+r.Repo+"/"+r.Slug+"/"))
	}
	engine, err := diagnose.New(set.Version, list)
	if err != nil {
		t.Fatal(err)
	}
	return engine, set.Records
}

func testSameBytes(t *testing.T, c *copyOfSite) {
	engine, list := bundledEngine(t)
	b := c.open(t, desktop)
	b.visit("/")
	eval[bool](b, asker)
	texts := goldenTexts(t, list)
	var log strings.Builder
	for i := 0; log.Len() < 1<<20; i++ {
		fmt.Fprintf(&log, "2026-11-29T10:00:00.%03dZ INFO request %d of worker-%d took %d ms\r\n", i%1000, i, i%7, i*37%911)
		if i%50 == 0 {
			log.WriteString(texts[i%len(texts)].text + "\n")
		}
	}
	texts = append(texts, text{"a log of 1 MB", log.String()})
	verdicts := map[diagnose.Verdict]int{}
	for _, c := range texts {
		answer := engine.Diagnose(t.Context(), []byte(c.text), diagnose.Options{})
		verdicts[answer.Verdict]++
		want := string(answer.AppendJSON(nil))
		got := eval[string](b, `ask("`+base64.StdEncoding.EncodeToString([]byte(c.text))+`").then((data) => data.json)`)
		if got != want {
			t.Fatalf("%s: the browser answers\n%s\nwant\n%s", c.name, got, want)
		}
	}
	if len(verdicts) < 2 || verdicts[diagnose.VerdictKnown] < 100 {
		t.Errorf("verdicts of the golden texts: %v", verdicts)
	}
	t.Logf("%d texts: %v", len(texts), verdicts)
}

// outline lists the elements, attributes and texts of nodes, as far as a reader
// can tell them apart. The last paragraph names the way to the answer, which
// differs.
const outline = `window.outline = (nodes) => {
	const out = [];
	const walk = (node, pre) => {
		if (node.nodeType === Node.TEXT_NODE) {
			const text = pre ? node.data : node.data.replace(/\s+/g, " ");
			if (text.trim() === "" && !pre) return;
			if (out.length && out.at(-1).startsWith("\"")) out.push(JSON.stringify(JSON.parse(out.pop()) + text));
			else out.push(JSON.stringify(text));
		} else if (node.nodeType === Node.ELEMENT_NODE) {
			const attributes = [...node.attributes].map((a) => a.name + "=" + JSON.stringify(a.value)).sort();
			out.push("<" + [node.localName, ...attributes].join(" ") + ">");
			for (const child of node.childNodes) walk(child, pre || node.localName === "pre");
			out.push("</" + node.localName + ">");
		}
	};
	nodes.filter((node) => node.nodeType === Node.ELEMENT_NODE).slice(0, -1).forEach((node) => walk(node, false));
	return out.join("\n").replace(/" ?(.*?) ?"\n/g, "\"$1\"\n");
}; true`

func testSameAnswer(t *testing.T, c *copyOfSite, server string) {
	_, list := bundledEngine(t)
	b := c.open(t, desktop)
	b.visit("/")
	eval[bool](b, asker)
	eval[bool](b, outline)
	for _, c := range goldenTexts(t, list) {
		if c.name == "not UTF-8" {
			continue // a browser has no such text
		}
		page := serverPage(t, server, c.text)
		encoded, err := json.Marshal(page)
		if err != nil {
			t.Fatal(err)
		}
		got := eval[struct{ Browser, Server string }](b, `(async (text, page) => {
			const {json, about} = await ask(text);
			const nodes = module.answerNodes(JSON.parse(json), bytesOf(text), about, files.search);
			const parsed = new DOMParser().parseFromString(page, "text/html");
			return {Browser: outline(nodes), Server: outline([...parsed.querySelector("[data-answer]").childNodes])};
		})("`+base64.StdEncoding.EncodeToString([]byte(c.text))+`", `+string(encoded)+`)`)
		if got.Server == "" {
			t.Errorf("%s: the server's answer is empty", c.name)
		}
		if diff := cmp.Diff(got.Server, got.Browser); diff != "" {
			t.Fatalf("%s: the answer of the browser differs (-server +browser):\n%s", c.name, diff)
		}
	}
}

// serverPage is the page that a server answers a text with.
func serverPage(t *testing.T, server, text string) string {
	t.Helper()
	response, err := http.Post(server+"/diagnose", "text/plain; charset=utf-8", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("the server answers %d, %v", response.StatusCode, err)
	}
	return string(page)
}

// testDamagedCopy takes the program away: the page says what to do instead.
func testDamagedCopy(t *testing.T, s *site, dir string) {
	programs, err := filepath.Glob(filepath.Join(dir, "assets", "*.wasm"))
	if err != nil || len(programs) != 1 {
		t.Fatalf("programs of the site: %q, %v", programs, err)
	}
	if err := os.Remove(programs[0]); err != nil {
		t.Fatal(err)
	}
	b := startCopy(t, s, dir, false).open(t, desktop)
	b.visit("/diagnose/")
	b.do(chromedp.SetValue(chromedp.CSS("[data-paste]"), pastedLog))
	b.click("form.paste-box button[type=submit]")
	b.see("#answer .verdict-unknown")
	if answer := b.text("#answer"); !strings.Contains(answer, "kb serve") {
		t.Errorf("the page says %q", answer)
	}
	b.forget()
}
