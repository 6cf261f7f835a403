package render

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// checkHTML reports what every page of the site must keep, on the parsed tree:
// outline, anchors, labels, and nothing that a strict content security policy
// forbids. It returns the addresses of the site that the page links to.
func checkHTML(t *testing.T, name string, body []byte) []string {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	c := check(root)
	for _, f := range c.failures {
		t.Errorf("%s: %s", name, f)
	}
	return c.links
}

func check(root *html.Node) *checker {
	c := &checker{ids: map[string]int{}, counts: map[string]int{}}
	c.walk(root)
	for id, n := range c.ids {
		if n > 1 {
			c.failf("id %q stands %d times", id, n)
		}
	}
	for _, ref := range c.refs {
		if c.ids[ref] == 0 {
			c.failf("nothing has the id %q that is referred to", ref)
		}
	}
	for _, element := range []string{"h1", "title"} {
		if n := c.counts[element]; n != 1 {
			c.failf("%d elements %s, want 1", n, element)
		}
	}
	return c
}

type checker struct {
	ids      map[string]int
	counts   map[string]int
	refs     []string // ids that something refers to
	links    []string
	failures []string
	level    int // of the last heading
}

func (c *checker) failf(format string, args ...any) {
	c.failures = append(c.failures, fmt.Sprintf(format, args...))
}

func (c *checker) walk(n *html.Node) {
	if n.Type == html.ElementNode {
		c.element(n)
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		c.walk(child)
	}
}

func (c *checker) element(n *html.Node) {
	if n.Namespace == "" { // a picture has a title of its own
		c.counts[n.Data]++
	}
	attr := map[string]string{}
	for _, a := range n.Attr {
		attr[a.Key] = a.Val
		if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
			c.failf("element %s has the attribute %s", n.Data, a.Key)
		}
		if slices.Contains([]string{"href", "src", "action"}, a.Key) {
			c.address(n.Data, a.Val)
		}
	}
	if id := attr["id"]; id != "" {
		c.ids[id]++
	}
	for _, key := range []string{"for", "aria-labelledby", "aria-describedby"} {
		c.refs = append(c.refs, strings.Fields(attr[key])...)
	}
	switch n.Data {
	case "script":
		if attr["src"] == "" || n.FirstChild != nil {
			c.failf("inline script")
		}
	case "style", "iframe", "object", "embed", "base", "img":
		c.failf("element %s", n.Data)
	case "button":
		if attr["type"] == "" {
			c.failf("button without a type")
		}
	case "nav", "aside":
		if attr["aria-label"] == "" {
			c.failf("%s without a label", n.Data)
		}
	case "h1", "h2", "h3", "h4", "h5", "h6":
		level := int(n.Data[1] - '0')
		if level > c.level+1 {
			c.failf("heading %q of level %d follows level %d", text(n), level, c.level)
		}
		if strings.TrimSpace(text(n)) == "" {
			c.failf("empty heading")
		}
		// The help of the keyboard stands at the end, outside of the outline.
		c.level = level
	}
}

// address checks a link and notes it when it stays on the site.
func (c *checker) address(element, address string) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		c.failf("link %q: %v", address, err)
	case u.Scheme == "https" && u.Host != "" && (element == "a" || element == "link"):
	case u.Scheme != "" || u.Host != "":
		c.failf("%s leads to %q", element, address)
	case u.Path == "" && u.Fragment != "":
		c.refs = append(c.refs, u.Fragment)
	case !strings.HasPrefix(address, "/"):
		c.failf("%s has the relative link %q", element, address)
	default:
		u.RawQuery, u.Fragment = "", ""
		c.links = append(c.links, u.String())
	}
}

type node = html.Node

// attribute is the value of an attribute, "" when it is not there.
func attribute(n *node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func text(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		b.WriteString(text(child))
	}
	return b.String()
}

// find lists the elements with a class, or all of a name.
func find(n *html.Node, fits func(*html.Node) bool) []*html.Node {
	var out []*html.Node
	if n.Type == html.ElementNode && fits(n) {
		out = append(out, n)
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		out = append(out, find(child, fits)...)
	}
	return out
}

func named(name string) func(*html.Node) bool {
	return func(n *html.Node) bool { return n.Data == name }
}

func classed(class string) func(*html.Node) bool {
	return func(n *html.Node) bool {
		for _, a := range n.Attr {
			if a.Key == "class" && slices.Contains(strings.Fields(a.Val), class) {
				return true
			}
		}
		return false
	}
}

func parse(t *testing.T, body []byte) *html.Node {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestCheckerFindsFaults(t *testing.T) {
	for fault, page := range map[string]string{
		"inline script":      `<script>x</script>`,
		"attribute onclick":  `<p onclick="x">`,
		"attribute style":    `<p style="x">`,
		"follows level 1":    `<h3>a</h3>`,
		"stands 2 times":     `<p id=a><p id=a>`,
		"id \"b\"":           `<a href="#b">x</a>`,
		"leads to":           `<a href="javascript:x">x</a>`,
		"relative link":      `<a href="x">x</a>`,
		"nav without":        `<nav></nav>`,
		"button without":     `<button>x</button>`,
		"2 elements h1":      `<h1>b</h1>`,
		"element img":        `<img src="/x">`,
		"form leads to":      `<form action="https://a.b/"></form>`,
		"empty heading":      `<h2> </h2>`,
		"link \"https://[\"": `<a href="https://[">x</a>`,
	} {
		c := check(parse(t, []byte("<title>t</title><h1>a</h1>"+page)))
		if !strings.Contains(strings.Join(c.failures, "\n"), fault) {
			t.Errorf("%s: not found in %s; failures: %q", fault, page, c.failures)
		}
	}
}
