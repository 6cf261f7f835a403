package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// Widths of text for people, in columns.
const (
	defaultWidth = 80  // of a pipe or a file
	maxWidth     = 100 // longer lines are hard to read
	minWidth     = 40
)

// Style is how a piece of text looks on a terminal. Styles carry no meaning
// that the words do not carry too.
type Style string

// The styles, as parameters of the SGR control sequence.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Value  Style = "36" // what stood in the place of a placeholder, inline code
	Marked Style = "1;33"
	Good   Style = "1;32"
	Warn   Style = "1;33"
	Bad    Style = "1;31"
)

// Printer writes text for people. Write errors are kept and reported by Close.
type Printer struct {
	out    *bufio.Writer
	colour bool
	width  int
}

// NewPrinter writes to w; with colour when mode is "always", or when it is
// "auto", w is a terminal and NO_COLOR is not set.
func NewPrinter(w io.Writer, mode string) *Printer {
	p := &Printer{out: bufio.NewWriter(w), width: defaultWidth}
	file, terminal := terminalOf(w)
	if terminal {
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
			p.width = columns
		}
	} else if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		p.width = columns
	}
	p.width = min(max(p.width, minWidth), maxWidth)
	p.colour = mode == "always" || mode == "auto" && terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return p
}

// terminalOf tells whether a stream is a terminal, and its file.
func terminalOf(stream any) (*os.File, bool) {
	file, ok := stream.(*os.File)
	return file, ok && term.IsTerminal(int(file.Fd()))
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	_, ok := terminalOf(stream)
	return ok
}

// Width is the number of columns that text is wrapped at.
func (p *Printer) Width() int { return p.width }

// Close writes out what is buffered and returns the first error of any write.
func (p *Printer) Close() error {
	if err := p.out.Flush(); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// Write writes bytes as they are.
func (p *Printer) Write(data []byte) (int, error) { return p.out.Write(data) }

// Printf writes formatted text. Text that is not ours goes through Visible or
// Styled first.
func (p *Printer) Printf(format string, args ...any) { fmt.Fprintf(p.out, format, args...) }

// Styled makes text safe for a terminal and gives it a style.
func (p *Printer) Styled(style Style, text string) string {
	text = Visible(text)
	if !p.colour || style == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// A Span is a piece of text in one style.
type Span struct {
	Text  string
	Style Style
}

// Wrap writes spans as one paragraph, broken at blanks to the width of the
// terminal. The first line starts with head, the others are indented by as
// many columns as indent. A word is never broken.
func (p *Printer) Wrap(head string, indent int, spans ...Span) {
	p.Printf("%s", head)
	column, start := Columns(head), true
	var line []Span
	for _, word := range words(spans) {
		size := 0
		for _, piece := range word {
			size += Columns(Visible(piece.Text))
		}
		switch {
		case start:
			p.Printf("%s", strings.Repeat(" ", max(0, indent-column)))
			column = max(column, indent)
		case column+1+size > p.width:
			p.spans(line)
			line = line[:0]
			p.Printf("\n%s", strings.Repeat(" ", indent))
			column = indent
		default:
			blank := Span{Text: " "}
			if last := line[len(line)-1].Style; last == word[0].Style {
				blank.Style = last
			}
			line = append(line, blank)
			column++
		}
		line = append(line, word...)
		column, start = column+size, false
	}
	p.spans(line)
	p.Printf("\n")
}

// spans writes spans on one line, neighbours of one style together.
func (p *Printer) spans(line []Span) {
	for i := 0; i < len(line); {
		text, style := "", line[i].Style
		for ; i < len(line) && line[i].Style == style; i++ {
			text += line[i].Text
		}
		p.Printf("%s", p.Styled(style, text))
	}
}

// words cuts spans at blanks; a word can consist of pieces of several spans.
func words(spans []Span) [][]Span {
	var list [][]Span
	var word []Span
	end := func() {
		if len(word) > 0 {
			list, word = append(list, word), nil
		}
	}
	for _, span := range spans {
		rest := span.Text
		for rest != "" {
			i := strings.IndexFunc(rest, breakable)
			if i < 0 {
				word = append(word, Span{rest, span.Style})
				break
			}
			if i > 0 {
				word = append(word, Span{rest[:i], span.Style})
			}
			end()
			_, size := utf8.DecodeRuneInString(rest[i:])
			rest = rest[i+size:]
		}
	}
	end()
	return list
}

func breakable(r rune) bool { return unicode.IsSpace(r) && r != '\u00a0' && r != '\u202f' }

// Columns is the number of terminal columns that text takes, control sequences
// not counted.
func Columns(text string) int {
	columns := 0
	for i := 0; i < len(text); {
		if text[i] == '\x1b' {
			if end := strings.IndexByte(text[i:], 'm'); end >= 0 {
				i += end + 1
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch kind := width.LookupRune(r).Kind(); {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
			columns += 2
		default:
			columns++
		}
	}
	return columns
}

// Visible replaces what could steer a terminal, or hide in one, by a visible
// form: control characters, characters that change the direction of writing,
// and invalid bytes. Line ends and tabs stay.
func Visible(text string) string {
	if !strings.ContainsFunc(text, steers) && utf8.ValidString(text) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1, steers(r) && r < 0x100:
			fmt.Fprintf(&out, "\\x%02x", text[i : i+size][size-1])
		case steers(r):
			fmt.Fprintf(&out, "\\u%04x", r)
		default:
			out.WriteString(text[i : i+size])
		}
		i += size
	}
	return out.String()
}

func steers(r rune) bool {
	return r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// Cut shortens text to a number of columns, at the end of a word where one is
// near.
func Cut(text string, columns int) string {
	if Columns(text) <= columns {
		return text
	}
	taken, last := 0, 0
	for i, r := range text {
		taken += Columns(string(r))
		if breakable(r) {
			last = i
		}
		if taken > columns-1 {
			head := text[:i]
			if last > i/2 {
				head = text[:last]
			}
			return strings.TrimRight(head, " ") + "…"
		}
	}
	return text
}
