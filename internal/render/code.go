package render

import (
	"html"
	"path"
	"strconv"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// maxHighlight is the size up to which code is highlighted, in bytes. The
// lexers are regular expressions with backtracking; a longer excerpt helps
// nobody and could hold a page up.
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

// languages maps what records and Markdown call a language to its lexer and its
// name. Others are shown plain.
var languages = map[string][2]string{
	"ts": {"typescript", "TypeScript"}, "typescript": {"typescript", "TypeScript"}, "tsx": {"typescript", "TypeScript"},
	"js": {"javascript", "JavaScript"}, "javascript": {"javascript", "JavaScript"}, "mjs": {"javascript", "JavaScript"},
	"jsx": {"javascript", "JavaScript"},
	"go":  {"go", "Go"}, "golang": {"go", "Go"},
	"json": {"json", "JSON"},
	"sh":   {"bash", "Shell"}, "bash": {"bash", "Shell"}, "shell": {"bash", "Shell"}, "console": {"bash", "Shell"},
	"py": {"python", "Python"}, "python": {"python", "Python"},
	"rs": {"rust", "Rust"}, "rust": {"rust", "Rust"},
	"java": {"java", "Java"},
	"sql":  {"sql", "SQL"},
	"yaml": {"yaml", "YAML"}, "yml": {"yaml", "YAML"},
}

// languageOf is the language of a file, by its name.
func languageOf(file string) string {
	return strings.TrimPrefix(path.Ext(file), ".")
}

// newCode highlights source text.
func newCode(source, language string) Code {
	source = strings.TrimRight(strings.ReplaceAll(source, "\r\n", "\n"), "\n")
	known := languages[strings.ToLower(language)]
	code := Code{Language: known[1]}
	for i, line := range highlight(source, known[0]) {
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
func highlight(source, lexerName string) []string {
	if lexerName != "" && len(source) <= maxHighlight {
		lexer := lexers.Get(lexerName)
		if lexer != nil {
			if tokens, err := chroma.Tokenise(chroma.Coalesce(lexer), nil, source); err == nil {
				return highlightTokens(tokens)
			}
		}
	}
	lines := strings.Split(source, "\n")
	for i, line := range lines {
		lines[i] = html.EscapeString(visible(line))
	}
	return lines
}

func highlightTokens(tokens []chroma.Token) []string {
	var lines []string
	var line strings.Builder
	for _, token := range tokens {
		class := tokenClass(token.Type)
		for i, part := range strings.Split(token.Value, "\n") {
			if i > 0 {
				lines = append(lines, line.String())
				line.Reset()
			}
			switch text := html.EscapeString(visible(part)); {
			case part == "":
			case class == "" || strings.TrimSpace(part) == "":
				line.WriteString(text)
			default:
				line.WriteString(`<span class="` + class + `">` + text + `</span>`)
			}
		}
	}
	if line.Len() > 0 || len(lines) == 0 {
		lines = append(lines, line.String())
	}
	return lines
}

// tokenClass folds the token types of chroma into the few colours that a
// reader can tell apart. The style sheet gives each a light and a dark one.
func tokenClass(t chroma.TokenType) string {
	switch {
	case t.InCategory(chroma.Comment):
		return "tc"
	case t.InSubCategory(chroma.LiteralString):
		return "ts"
	case t.InSubCategory(chroma.LiteralNumber), t == chroma.KeywordConstant:
		return "tn"
	case t == chroma.KeywordType, t == chroma.NameClass, t == chroma.NameBuiltin, t == chroma.NameException:
		return "ty"
	case t.InCategory(chroma.Keyword), t == chroma.OperatorWord:
		return "tk"
	case t == chroma.NameFunction, t == chroma.NameFunctionMagic:
		return "tf"
	case t == chroma.NameTag, t == chroma.NameAttribute, t == chroma.NameProperty:
		return "ta"
	default:
		return ""
	}
}
