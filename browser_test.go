package errorkb

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience bounds one step in the browser. It is an upper limit for a busy
// machine, not a time that a test waits for.
const patience = 60 * time.Second

// site is a real kb server and a real browser that looks at it.
type site struct {
	address string // http://127.0.0.1:port
	browser context.Context
}

// startSite runs the program as a person would and opens a browser.
func startSite(t *testing.T, flags ...string) *site {
	t.Helper()
	s := &site{browser: startBrowser(t)}
	s.address = startServer(t, flags...)
	return s
}

// startBrowser opens a browser. It skips the test when there is no Chromium,
// unless KB_REQUIRE_BROWSER asks for one.
func startBrowser(t *testing.T) context.Context {
	t.Helper()
	chromium := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			chromium = path
			break
		}
	}
	if chromium == "" {
		if os.Getenv("KB_REQUIRE_BROWSER") == "1" {
			t.Fatal("KB_REQUIRE_BROWSER is 1 and no Chromium was found")
		}
		t.Skip("no Chromium found; set KB_REQUIRE_BROWSER=1 to make this a failure")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium),
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()),
		chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-background-networking", true),
	)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	browser, closeBrowser := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		if err := chromedp.Cancel(browser); err != nil {
			t.Logf("closing the browser: %v", err)
		}
		closeBrowser()
	})
	if err := chromedp.Do(browser, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("starting %s: %v", chromium, err)
	}
	return browser
}

// startServer builds and runs kb serve on a free port and returns its address.
func startServer(t *testing.T, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "kb")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/kb").CombinedOutput(); err != nil {
		t.Fatalf("building kb: %v\n%s", err, out)
	}
	server := exec.Command(program, append([]string{"serve", "--addr", "127.0.0.1:0", "--data", t.TempDir(), "--log-level", "error"}, flags...)...)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Signal(syscall.SIGTERM)
		if err := server.Wait(); err != nil {
			t.Errorf("kb serve ended with: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("kb serve printed no address: %v", err)
	}
	for word := range strings.FieldsSeq(line) {
		if u, err := url.Parse(word); err == nil && u.Scheme == "http" {
			return strings.TrimSuffix(word, "/")
		}
	}
	t.Fatalf("no address in %q", line)
	return ""
}

// view is how a page is looked at.
type view struct {
	name          string
	width, height int64
	dark          bool
	noScript      bool
}

var (
	desktop = view{name: "desktop", width: 1280, height: 900}
	phone   = view{name: "phone", width: 360, height: 740}
)

// tab is one tab of the browser. Its steps end the test when they fail.
type tab struct {
	t       *testing.T
	site    *site
	ctx     context.Context
	mu      sync.Mutex
	console []string // errors and warnings of the page, refused content among them
}

func (s *site) open(t *testing.T, v view) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(s.browser)
	b := &tab{t: t, site: s, ctx: ctx}
	t.Cleanup(func() {
		closeTab()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, line := range b.console {
			t.Errorf("the page complained: %s", line)
		}
	})
	err := chromedp.Listen(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch event := event.(type) {
		case *log.EventEntryAdded:
			if event.Entry.Level == log.EntryLevelError || event.Entry.Level == log.EntryLevelWarning {
				b.console = append(b.console, event.Entry.Text+" "+event.Entry.URL)
			}
		case *runtime.EventExceptionThrown:
			b.console = append(b.console, fmt.Sprint(event.ExceptionDetails.Text))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	scheme := "light"
	if v.dark {
		scheme = "dark"
	}
	b.do(chromedp.EmulateViewport(v.width, v.height))
	// Without motion a click never aims at something that is still moving.
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme},
		{Name: "prefers-reduced-motion", Value: "reduce"},
	}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	if v.noScript {
		off := emulation.SetScriptExecutionDisabledParams{Value: true}
		if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, off); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// forget drops what the page complained about so far: for steps that ask for
// something that is refused.
func (b *tab) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.console = nil
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) visit(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.site.address + path))
}

// follow runs a step that leads to another page and waits for that page.
func (b *tab) follow(path string, step chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, step); err != nil {
		b.t.Fatalf("on the way to %s: %v", path, err)
	}
	at, err := url.Parse(b.location())
	if err != nil || at.Path != path {
		b.t.Fatalf("arrived at %v (%v), want %s", at, err, path)
	}
}

func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

func (b *tab) see(selector string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS(selector)))
}

func (b *tab) text(selector string) string {
	b.t.Helper()
	return get(b, chromedp.Text(chromedp.CSS(selector)))
}

func (b *tab) location() string {
	b.t.Helper()
	return get(b, chromedp.Location())
}

// get runs a step that has a result.
func get[T any](b *tab, step chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, step)
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

// eval runs an expression in the page; a promise is waited for.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	return get(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// until waits for an expression in the page to become true.
func (b *tab) until(expression string) {
	b.t.Helper()
	get(b, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(patience)))
}
