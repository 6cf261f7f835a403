package errorkb

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

const (
	busyPage = "/errors/paperclipai/paperclip/duplex-channel-route-busy/"
	slowPage = "/errors/paperclipai/paperclip/rpc-call-timed-out-after-ms/" // its scenario waits for time-outs
)

// TestBrowserLive proves records in the browser, on a server that takes that.
func TestBrowserLive(t *testing.T) {
	s := startSite(t, "--live-proof")
	t.Run("transcript", func(t *testing.T) { testLiveTranscript(t, s) })
	t.Run("keyboard", func(t *testing.T) { testLiveKeyboard(t, s) })
	t.Run("stop", func(t *testing.T) { testLiveStop(t, s) })
	t.Run("without a script", func(t *testing.T) { testLiveNoScript(t, s) })
}

// liveEnd waits for the verdict of a run and returns what the transcript says.
func (b *tab) liveEnd(kind string) string {
	b.t.Helper()
	b.see("[data-live-log] .verdict-" + kind)
	return b.text("[data-live-log]")
}

func testLiveTranscript(t *testing.T, s *site) {
	axe := axeCore(t)
	for _, v := range views() {
		t.Run(v.name, func(t *testing.T) {
			b := s.open(t, v)
			b.visit(busyPage)
			b.click("[data-live] [type=submit]")
			said := b.liveEnd("known")
			for _, want := range []string{"All channels that the host allows are in use", "Acquire lease l of environment e", "DUPLEX_CHANNEL_ROUTE_BUSY",
				"duplex/table.go:", "Remedy: solution 1", "It succeeds.", "This agrees with the evidence of the data set."} {
				if !strings.Contains(said, want) {
					t.Errorf("the transcript lacks %q:\n%s", want, said)
				}
			}
			if strings.Contains(said, "`") {
				t.Errorf("the transcript shows Markdown:\n%s", said)
			}
			if at := b.location(); at != s.address+busyPage {
				t.Errorf("the run left the page for %s", at)
			}
			if n := eval[int](b, `document.querySelectorAll("[data-live-log] .step-fails, [data-live-log] .step-works").length`); n != 2 {
				t.Errorf("%d steps are marked by what came of them", n)
			}
			if w := eval[int](b, `document.documentElement.scrollWidth`); w > int(v.width) {
				t.Errorf("the page is %d pixels wide in a window of %d", w, v.width)
			}
			b.checkAccessibility(axe, "live proof "+v.name)
			b.do(chromedp.ScrollIntoView(chromedp.CSS(".proof-head")))
			b.shoot("live " + v.name)
		})
	}
}

// testLiveKeyboard uses nothing but keys, twice.
func testLiveKeyboard(t *testing.T, s *site) {
	b := s.open(t, desktop)
	b.visit(busyPage)
	b.do(chromedp.Focus(chromedp.CSS("[data-live] [type=submit]")))
	for range 2 {
		b.do(chromedp.KeyEvent("\r"))
		b.liveEnd("known")
		b.until(`document.querySelector("[data-live-stop]").hidden`)
		if !eval[bool](b, `document.activeElement === document.querySelector("[data-live] [type=submit]")`) {
			t.Error("the focus is gone from the button")
		}
	}
	if n := eval[int](b, `document.querySelectorAll("[data-live-log] .verdict").length`); n != 1 {
		t.Errorf("%d verdicts after the second run", n)
	}
}

// testLiveStop stops a run, which leaves room for the next one. Another page is
// told to wait meanwhile.
func testLiveStop(t *testing.T, s *site) {
	b := s.open(t, phone)
	b.visit(slowPage)
	b.click("[data-live] [type=submit]")
	b.see("[data-live-log] .steps li")
	other := s.open(t, desktop)
	other.visit(busyPage)
	other.click("[data-live] [type=submit]")
	if said := other.liveEnd("failure"); !strings.Contains(said, "Another live proof is running") {
		t.Errorf("a second run is told\n%s", said)
	}
	other.forget() // the refusal
	b.click("[data-live-stop]")
	if said := b.liveEnd("likely"); !strings.Contains(said, "Stopped") {
		t.Errorf("the stopped run says\n%s", said)
	}
	if !eval[bool](b, `document.activeElement === document.querySelector("[data-live] [type=submit]")`) {
		t.Error("the focus went with the button that stops")
	}
	// The run needs a moment to end.
	for {
		other.click("[data-live] [type=submit]")
		other.until(`document.querySelector("[data-live-stop]").hidden && document.querySelector("[data-live-log] .verdict")`)
		said := other.text("[data-live-log]")
		if strings.Contains(said, "This agrees") {
			break
		}
		if !strings.Contains(said, "Another live proof is running") {
			t.Fatalf("after the stop:\n%s", said)
		}
		other.forget()
	}
}

func testLiveNoScript(t *testing.T, s *site) {
	b := s.open(t, view{width: 360, height: 740, noScript: true})
	b.visit(busyPage)
	if strings.Contains(b.text("[data-live]"), "Stop") {
		t.Error("a button to stop is shown, and nothing could be stopped")
	}
	b.follow("/api/errors/b88bbb5167121ca6/prove", chromedp.Click(chromedp.CSS("[data-live] [type=submit]")))
	said := b.text("main")
	for _, want := range []string{"Proven", "This agrees with the evidence", "Remedy: solution 1", "duplex/table.go:"} {
		if !strings.Contains(said, want) {
			t.Errorf("the page lacks %q:\n%s", want, said)
		}
	}
	b.shoot("live page without a script")
	b.follow("/api/errors/b88bbb5167121ca6/prove", chromedp.Click(chromedp.CSS("[data-live] [type=submit]")))
	b.follow(busyPage, chromedp.Click(chromedp.CSS("h1 a")))
}
