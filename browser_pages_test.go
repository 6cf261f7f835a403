package errorkb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

const (
	driverPage = "/errors/paperclipai/paperclip/environment-driver-does-not-support-duplex-channels/"
	deniedPage = "/errors/paperclipai/paperclip/duplex-channel-capability-denied/"
)

// pages are the addresses whose form is checked; each kind of page is there.
var pages = []struct{ name, path string }{
	{"home", "/"},
	{"errors", "/errors/"},
	{"errors filtered", "/errors/?tag=duplex-channel&sort=changed"},
	{"error", driverPage},
	{"error without captures", deniedPage},
	{"repo", "/repos/paperclipai/paperclip/"},
	{"tag", "/tags/duplex-channel/"},
	{"tags", "/tags/"},
	{"background", "/backgrounds/unsupported-operation/"},
	{"diagnose", "/diagnose"},
	{"search", "/search?q=duplex+channel"},
	{"search without hits", "/search?q=zebra"},
	{"proof", "/proof/"},
	{"source", "/source/duplex/table.go"},
}

const pastedLog = "2026-11-29T10:00:01Z INFO run run_42 started\n" +
	"2026-11-29T10:00:02Z \x1b[31mERROR\x1b[0m Error: Environment driver \"local\" does not support duplex channels.\n" +
	"    at Object.openDuplexChannel (file:///app/environment-runtime.js:12:15)\n"

func TestBrowser(t *testing.T) {
	s := startSite(t)
	t.Run("paste and follow", func(t *testing.T) { testPaste(t, s) })
	t.Run("unknown", func(t *testing.T) { testUnknown(t, s) })
	t.Run("without a script", func(t *testing.T) { testNoScript(t, s) })
	t.Run("keyboard", func(t *testing.T) { testKeyboard(t, s) })
	t.Run("copy", func(t *testing.T) { testCopy(t, s) })
	t.Run("side navigation", func(t *testing.T) { testSideNavigation(t, s) })
	t.Run("colour scheme", func(t *testing.T) { testColourScheme(t, s) })
	t.Run("missing page", func(t *testing.T) { testMissing(t, s) })
	t.Run("form of every page", func(t *testing.T) { testForm(t, s) })
	t.Run("accessibility", func(t *testing.T) { testAccessibility(t, s) })
}

func testPaste(t *testing.T, s *site) {
	b := s.open(t, desktop)
	b.visit("/")
	b.do(chromedp.SetValue(chromedp.CSS("[data-paste]"), pastedLog))
	b.click("form.paste-box button[type=submit]")
	b.see("#answer .match")
	if at := b.location(); at != s.address+"/" {
		t.Errorf("the answer left the page for %s", at)
	}
	if values := b.text("#answer .values"); !strings.Contains(values, "driver") || !strings.Contains(values, "local") {
		t.Errorf("the captured value is not shown: %q", values)
	}
	marked := eval[string](b, `[...document.querySelectorAll("#answer mark")].map(m => m.textContent).join("|")`)
	if !strings.Contains(marked, "local") {
		t.Errorf("the capture is not marked in the paste: %q", marked)
	}
	b.follow(driverPage, chromedp.Click(chromedp.CSS("#answer .match-title a")))
	if title := b.text("h1"); title != `Environment driver "${driver.driver}" does not support duplex channels.` {
		t.Errorf("the title of the error page is %q", title)
	}
}

func testUnknown(t *testing.T, s *site) {
	b := s.open(t, phone)
	b.visit("/diagnose")
	b.do(chromedp.SetValue(chromedp.CSS("[data-paste]"), "The weather was fine and nobody complained."))
	b.click("form.paste-box button[type=submit]")
	b.see("#answer .verdict-unknown")
	if n := eval[int](b, `document.querySelectorAll("#answer .match").length`); n != 0 {
		t.Errorf("%d diagnoses of ordinary prose", n)
	}
}

func testNoScript(t *testing.T, s *site) {
	b := s.open(t, view{width: 1280, height: 900, noScript: true})
	b.visit("/")
	b.do(chromedp.SendKeys(chromedp.CSS("[data-paste]"), `Environment driver "ssh" does not support duplex channels.`))
	b.click("form.paste-box button[type=submit]")
	b.see("#answer .match")
	if at := b.location(); at != s.address+"/diagnose" {
		t.Errorf("the form led to %s", at)
	}
	if values := b.text("#answer .values"); !strings.Contains(values, "ssh") {
		t.Errorf("the captured value is not shown: %q", values)
	}
	b.visit("/search?q=duplex")
	b.see("main a[href*='/errors/']")
}

func testKeyboard(t *testing.T, s *site) {
	b := s.open(t, desktop)
	b.visit(deniedPage)
	b.do(chromedp.KeyEvent("/"))
	b.until(`document.activeElement && document.activeElement.matches("[data-search]")`)
	b.follow("/search", chromedp.KeyEvent("capability\r"))
	if first := b.text("main .row-title"); !strings.Contains(first, "capability") {
		t.Errorf("first hit of the search is %q", first)
	}
	b.visit("/")
	b.do(chromedp.SetValue(chromedp.CSS("[data-paste]"), "Sandbox driver does not support duplex channels for this lease."))
	b.do(chromedp.Focus(chromedp.CSS("[data-paste]")))
	b.do(chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.see("#answer .match")
	b.visit("/")
	b.do(chromedp.KeyEvent("\t"), chromedp.KeyEvent("\r"))
	b.until(`location.hash === "#main"`)
}

func testCopy(t *testing.T, s *site) {
	b := s.open(t, desktop)
	b.visit(driverPage)
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		grant := browser.SetPermissionParams{
			Origin:     s.address,
			Permission: &browser.PermissionDescriptor{Name: name},
			Setting:    browser.PermissionSettingGranted,
		}
		if _, err := chromedp.CallBrowser(b.ctx, browser.SetPermission, grant); err != nil {
			t.Fatal(err)
		}
	}
	b.click("[data-copy]")
	b.until(`document.querySelector("[data-copy]").textContent.includes("Copied")`)
	if got := eval[string](b, `navigator.clipboard.readText()`); got != `Environment driver "${driver.driver}" does not support duplex channels.` {
		t.Errorf("the clipboard holds %q", got)
	}
	if n := eval[int](b, `document.querySelectorAll("pre [data-copy], .code-block [data-copy], [data-copy]").length`); n < 3 {
		t.Errorf("only %d copy buttons on the page", n)
	}
}

func testSideNavigation(t *testing.T, s *site) {
	b := s.open(t, desktop)
	b.visit(deniedPage)
	ids := eval[[]string](b, `[...document.querySelectorAll("[data-contents] a")].map(a => a.hash.slice(1))`)
	if len(ids) < 6 {
		t.Fatalf("side navigation has the entries %q", ids)
	}
	for _, id := range ids {
		if !eval[bool](b, `document.getElementById("`+id+`") !== null`) {
			t.Errorf("no section %q on the page", id)
		}
	}
	b.click(`[data-contents] a[href$="#solutions"]`)
	b.until(`document.querySelector("[data-contents] [aria-current]")?.hash === "#solutions"`)
}

func testColourScheme(t *testing.T, s *site) {
	b := s.open(t, desktop)
	b.visit("/")
	background := `getComputedStyle(document.body).backgroundColor`
	light := eval[string](b, background)
	b.click("[data-theme-switch]")
	b.click("[data-theme-switch]")
	b.until(`document.documentElement.dataset.theme === "dark"`)
	dark := eval[string](b, background)
	if dark == light {
		t.Errorf("the dark scheme has the background of the light one, %s", light)
	}
	b.visit("/errors/")
	if got := eval[string](b, background); got != dark {
		t.Errorf("the choice was not remembered: background %s, want %s", got, dark)
	}
	b.click("[data-theme-switch]")
	b.until(`!document.documentElement.dataset.theme`)
}

func testMissing(t *testing.T, s *site) {
	b := s.open(t, desktop)
	b.visit("/errors/paperclipai/paperclip/no-such-error/")
	b.see("main h1")
	if n := eval[int](b, `document.querySelectorAll("main a[href]").length`); n == 0 {
		t.Error("the page for a missing error leads nowhere")
	}
	b.forget()
}

// testForm looks at every kind of page in each width and scheme: nothing is
// wider than the window, nothing shifts, nothing is refused by the policy.
func testForm(t *testing.T, s *site) {
	for _, v := range views() {
		t.Run(v.name, func(t *testing.T) {
			b := s.open(t, v)
			for _, page := range pages {
				b.visit(page.path)
				if w := eval[int](b, `document.documentElement.scrollWidth`); w > int(v.width) {
					t.Errorf("%s is %d pixels wide in a window of %d", page.name, w, v.width)
				}
				shifts := eval[[]string](b, `new Promise(done => {
					const moved = [];
					new PerformanceObserver(list => {
						for (const e of list.getEntries()) if (!e.hadRecentInput) moved.push(e.value + ": " + e.sources.map(s =>
							(s.node?.outerHTML ?? s.node?.textContent ?? "gone").slice(0, 80) + " from " + JSON.stringify(s.previousRect) + " to " + JSON.stringify(s.currentRect)).join(", "));
					}).observe({type: "layout-shift", buffered: true});
					requestAnimationFrame(() => requestAnimationFrame(() => done(moved)));
				})`)
				for _, shift := range shifts {
					t.Errorf("%s shifts its layout while it loads: %s", page.name, shift)
				}
				inline := eval[int](b, `document.querySelectorAll("[style], style, script:not([src]), [onclick]").length`)
				if inline != 0 {
					t.Errorf("%s has %d inline scripts or styles", page.name, inline)
				}
				b.shoot(page.name + " " + v.name)
			}
			b.visit("/")
			b.do(chromedp.SetValue(chromedp.CSS("[data-paste]"), pastedLog))
			b.click("form.paste-box button[type=submit]")
			b.see("#answer .match")
			b.shoot("answer " + v.name)
		})
	}
}

// shoot keeps a picture of the whole page in the folder that KB_SCREENSHOTS
// names, for people to look at.
func (b *tab) shoot(name string) {
	b.t.Helper()
	out := os.Getenv("KB_SCREENSHOTS")
	if out == "" {
		return
	}
	file := filepath.Join(out, strings.ReplaceAll(name, " ", "-")+".png")
	if err := os.WriteFile(file, get(b, chromedp.FullScreenshot(100)), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func views() []view {
	var all []view
	for _, base := range []view{desktop, phone} {
		for _, dark := range []bool{false, true} {
			v := base
			v.dark = dark
			v.name += map[bool]string{false: "-light", true: "-dark"}[dark]
			all = append(all, v)
		}
	}
	return all
}

// axeCore is the program of axe-core, which checks the accessibility of a page.
func axeCore(t *testing.T) string {
	t.Helper()
	modules := os.Getenv("KB_NODE_MODULES")
	if modules == "" {
		if os.Getenv("KB_REQUIRE_BROWSER") == "1" {
			t.Fatal("KB_REQUIRE_BROWSER is 1 and KB_NODE_MODULES names no folder with axe-core")
		}
		t.Skip("KB_NODE_MODULES names no folder with axe-core")
	}
	axe, err := os.ReadFile(filepath.Join(modules, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(axe)
}

// checkAccessibility reports what axe-core says of the page.
func (b *tab) checkAccessibility(axe, name string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](axe))
	report := eval[struct {
		Violations []string `json:"violations"`
		Passed     int      `json:"passed"`
	}](b, `axe.run(document).then(r => ({passed: r.passes.length, violations: r.violations.map(v =>
		v.id + ": " + v.help + " at " + v.nodes.map(n => n.target.join(" ") + " " + n.html.slice(0, 120)).join("; "))}))`)
	for _, violation := range report.Violations {
		b.t.Errorf("%s: %s", name, violation)
	}
	if report.Passed < 10 {
		b.t.Errorf("%s: only %d rules passed; did axe look at the page?", name, report.Passed)
	}
}

// testAccessibility runs axe-core on every kind of page and on an answer.
func testAccessibility(t *testing.T, s *site) {
	axe := axeCore(t)
	for _, v := range views() {
		t.Run(v.name, func(t *testing.T) {
			b := s.open(t, v)
			for _, page := range pages {
				b.visit(page.path)
				b.checkAccessibility(axe, page.name+" "+v.name)
			}
			b.visit("/")
			b.do(chromedp.SetValue(chromedp.CSS("[data-paste]"), pastedLog))
			b.click("form.paste-box button[type=submit]")
			b.see("#answer .match")
			b.checkAccessibility(axe, "answer "+v.name)
		})
	}
}
