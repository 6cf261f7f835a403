package render

import (
	"bytes"
	"html"
	"net/url"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// Prose is HTML that may be put on a page as it is: it was made by prose,
// inlineProse or highlight, and by nothing else.
type Prose string

// blocks renders whole Markdown; inline renders Markdown in which only inline
// marks mean something. goldmark leaves raw HTML out unless told otherwise, and
// nobody tells it.
var (
	blocks = goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(house{}, 1))),
	)
	inline = goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1)),
			parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		)),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(house{inline: true}, 1))),
	)
)

// prose renders the Markdown of a record.
func prose(markdown string) Prose { return convert(blocks, markdown) }

// inlineProse renders one piece of running text without a paragraph around it.
func inlineProse(markdown string) Prose {
	return convert(inline, indents.ReplaceAllString(markdown, ""))
}

// indents would keep a line from being a paragraph.
var indents = regexp.MustCompile(`(?m)^[ \t]+`)

func convert(m goldmark.Markdown, markdown string) Prose {
	if strings.TrimSpace(markdown) == "" {
		return ""
	}
	var out bytes.Buffer
	if err := m.Convert([]byte(visible(markdown)), &out); err != nil {
		// A buffer does not fail; should a node renderer ever, plain text is honest.
		return Prose(html.EscapeString(markdown))
	}
	// Again, for what entities have brought in.
	return Prose(visible(strings.TrimSpace(out.String())))
}

// house renders the nodes for which the site has its own rules.
type house struct{ inline bool }

// RegisterFuncs tells goldmark which nodes are rendered here.
func (h house) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindLink, renderLink)
	r.Register(ast.KindAutoLink, renderAutoLink)
	r.Register(ast.KindImage, renderImage)
	r.Register(ast.KindHeading, renderHeading)
	r.Register(ast.KindFencedCodeBlock, renderCodeBlock)
	r.Register(ast.KindCodeBlock, renderCodeBlock)
	r.Register(ast.KindRawHTML, renderRawHTML)
	r.Register(ast.KindHTMLBlock, renderHTMLBlock)
	if h.inline {
		r.Register(ast.KindParagraph, renderBareParagraph)
	}
}

// safeLink reports whether a link of a record may be followed: https, and a
// host to show. Everything else stays text.
func safeLink(destination string) bool {
	u, err := url.Parse(destination)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil
}

const openLink = `<a rel="nofollow noopener noreferrer" href="`

func renderLink(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	destination := string(n.(*ast.Link).Destination)
	if !safeLink(destination) {
		return ast.WalkContinue, nil
	}
	if entering {
		w.WriteString(openLink + html.EscapeString(destination) + `">`)
	} else {
		w.WriteString("</a>")
	}
	return ast.WalkContinue, nil
}

func renderAutoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	link := n.(*ast.AutoLink)
	destination, label := string(link.URL(source)), html.EscapeString(string(link.Label(source)))
	if link.AutoLinkType == ast.AutoLinkURL && safeLink(destination) {
		label = openLink + html.EscapeString(destination) + `">` + label + "</a>"
	}
	w.WriteString(label)
	return ast.WalkContinue, nil
}

// renderImage leaves the description: no page loads a picture from elsewhere.
func renderImage(_ util.BufWriter, _ []byte, _ ast.Node, _ bool) (ast.WalkStatus, error) {
	return ast.WalkContinue, nil
}

// renderHeading keeps the outline of the page: whatever level the author chose,
// it is one below the heading of the section.
func renderHeading(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		w.WriteString("<h3>")
	} else {
		w.WriteString("</h3>\n")
	}
	return ast.WalkContinue, nil
}

func renderCodeBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	language := ""
	if fenced, ok := n.(*ast.FencedCodeBlock); ok {
		language = string(fenced.Language(source))
	}
	var code strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		code.Write(line.Value(source))
	}
	w.WriteString(string(newCode(code.String(), language).HTML()))
	return ast.WalkSkipChildren, nil
}

// renderRawHTML shows a tag as the text it is, so that `Map<string>` written
// without code marks is not lost.
func renderRawHTML(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		segments := n.(*ast.RawHTML).Segments
		for i := range segments.Len() {
			segment := segments.At(i)
			w.WriteString(html.EscapeString(string(segment.Value(source))))
		}
	}
	return ast.WalkSkipChildren, nil
}

func renderHTMLBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	block := n.(*ast.HTMLBlock)
	if entering {
		w.WriteString("<p>")
		for i := range block.Lines().Len() {
			line := block.Lines().At(i)
			w.WriteString(html.EscapeString(string(line.Value(source))))
		}
		return ast.WalkContinue, nil
	}
	if block.HasClosure() {
		w.WriteString(html.EscapeString(string(block.ClosureLine.Value(source))))
	}
	w.WriteString("</p>\n")
	return ast.WalkContinue, nil
}

func renderBareParagraph(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering && n.NextSibling() != nil {
		w.WriteString("<br><br>")
	}
	return ast.WalkContinue, nil
}
