package render

import (
	"html"
	"path"
	"strconv"
	"strings"
)

// maxHighlight is the size up to which code is highlighted, in bytes. Files of
// the runtime are below it; colour in longer code helps nobody.
const maxHighlight = 32 << 10

// Code is source text with the classes that colour it.
type Code struct {
	Language string // name for people, "" when it is not known
	Lines    []CodeLine
	Numbered bool
	Anchors  bool // each line can be linked to, as L and its number
}

// CodeLine is one line of Code.
type CodeLine struct {
	Number int
	Marked bool // the line that the page talks about
	HTML   string
}

// languageOf is the language of a file, by its name.
func languageOf(file string) string {
	return strings.TrimPrefix(path.Ext(file), ".")
}

// newCode highlights source text.
func newCode(source, language string) Code {
	source = strings.TrimRight(strings.ReplaceAll(source, "\r\n", "\n"), "\n")
	var code Code
	known := syntaxes[strings.ToLower(language)]
	if known != nil {
		code.Language = known.name
	}
	for i, line := range highlight(source, known) {
		code.Lines = append(code.Lines, CodeLine{Number: i + 1, HTML: line})
	}
	return code
}

// numbered gives the lines the numbers that they have in their file.
func (c Code) numbered(first, marked int) Code {
	c.Numbered = true
	for i := range c.Lines {
		c.Lines[i].Number = first + i
		c.Lines[i].Marked = first+i == marked
	}
	return c
}

// HTML spells the code out. The number of a line is generated from an
// attribute, so that selecting and copying leaves it behind.
func (c Code) HTML() Prose {
	var b strings.Builder
	b.WriteString(`<pre class="code`)
	if c.Numbered {
		b.WriteString(` numbered`)
	}
	b.WriteString(`"><code>`)
	for _, line := range c.Lines {
		tag, class := "span", "line"
		if line.Marked {
			tag, class = "mark", "line marked"
		}
		b.WriteString("<" + tag + ` class="` + class + `"`)
		if c.Numbered {
			b.WriteString(` data-n="` + strconv.Itoa(line.Number) + `"`)
		}
		if c.Anchors {
			b.WriteString(` id="L` + strconv.Itoa(line.Number) + `"`)
		}
		b.WriteString(">" + line.HTML + "\n</" + tag + ">")
	}
	b.WriteString("</code></pre>")
	return Prose(b.String())
}

// highlight gives the HTML of each line.
func highlight(source string, known *syntax) []string {
	if known == nil || len(source) > maxHighlight {
		return highlightTokens([]token{{"", source}})
	}
	return highlightTokens(known.tokens(source))
}

func highlightTokens(tokens []token) []string {
	var lines []string
	var line strings.Builder
	for _, t := range tokens {
		for i, part := range strings.Split(t.text, "\n") {
			if i > 0 {
				lines = append(lines, line.String())
				line.Reset()
			}
			switch text := html.EscapeString(visible(part)); {
			case part == "":
			case t.class == "" || strings.TrimSpace(part) == "":
				line.WriteString(text)
			default:
				line.WriteString(`<span class="` + t.class + `">` + text + `</span>`)
			}
		}
	}
	if line.Len() > 0 || len(lines) == 0 {
		lines = append(lines, line.String())
	}
	return lines
}
