package diagnose

import (
	"bytes"
	"strings"
)

// typography maps characters that forums, mails and word processors put in the
// place of the ones a program writes. An empty value drops the character.
var typography = map[rune]string{
	'\u2018': "'", '\u2019': "'", '\u201a': "'", '\u201b': "'", '\u2032': "'", '\u00b4': "'", '\u02bc': "'",
	'\u201c': `"`, '\u201d': `"`, '\u201e': `"`, '\u201f': `"`, '\u2033': `"`, '\u00ab': `"`, '\u00bb': `"`,
	'\u2010': "-", '\u2011': "-", '\u2012': "-", '\u2013': "-", '\u2212': "-", '\u2014': "--", '\u2015': "--",
	'\u2026': "...", '\uff02': `"`, '\uff07': "'", '\u300c': `"`, '\u300d': `"`, '\u300e': `"`, '\u300f': `"`,
	'\u00a0': " ", '\u1680': " ", '\u2000': " ", '\u2001': " ", '\u2002': " ", '\u2003': " ", '\u2004': " ",
	'\u2005': " ", '\u2006': " ", '\u2007': " ", '\u2008': " ", '\u2009': " ", '\u200a': " ", '\u202f': " ",
	'\u205f': " ", '\u3000': " ",
	'\u0085': "\n", '\u2028': "\n", '\u2029': "\n",
	'\u00ad': "", '\u200b': "", '\u200c': "", '\u200d': "", '\u200e': "", '\u200f': "", '\u2060': "", '\ufeff': "",
	'\u202a': "", '\u202b': "", '\u202c': "", '\u202d': "", '\u202e': "",
	'\u2066': "", '\u2067': "", '\u2068': "", '\u2069': "",
}

// undoTypography puts plain characters in the place of typographic ones.
func undoTypography(m *mapped) *mapped {
	t := m.text
	if isASCII(t) {
		return m
	}
	var b *builder
	from := 0
	for i := 0; i < len(t); {
		if t[i] < 0xc2 {
			// Plain text is passed over fast: nothing below U+0085 is mapped.
			i++
			continue
		}
		with, n, ok := typographic(t[i:])
		if !ok {
			i += n
			continue
		}
		if b == nil {
			b = newBuilder(m)
		}
		b.copy(from, i)
		b.replace(i, i+n, with, layerTypography)
		i += n
		from = i
	}
	if b == nil {
		return m
	}
	b.copy(from, len(t))
	return b.mapped()
}

// typographic is the plain text of the typographic character that t begins with, and its
// length. There may be one that was read in a code page of one byte a character.
func typographic(t []byte) (with string, n int, ok bool) {
	if t[0] == misread[0].text[0] {
		for i := range misread {
			if m := &misread[i]; len(t) >= len(m.text) && string(t[:len(m.text)]) == m.text {
				return m.plain, len(m.text), true
			}
		}
	}
	r, n := decodeRune(t)
	with, ok = typography[r]
	return with, n, ok
}

// misread are typographic characters of which each byte was taken for a character of
// Latin 1 or of the code page of Windows, as "â€œ" for "“".
var misread = func() (list []struct{ text, plain string }) {
	const windows = "\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f" +
		"\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178"
	page := []rune(windows) // of 0x80 to 0x9f
	for _, r := range "\u2018\u2019\u201c\u201d\u201e\u2013\u2014\u2026\u00a0\u00ab\u00bb" {
		latin, ansi := "", ""
		for _, c := range []byte(string(r)) {
			latin += string(rune(c))
			if c < 0xa0 {
				ansi += string(page[c-0x80])
			} else {
				ansi += string(rune(c))
			}
		}
		for _, text := range []string{ansi, latin} {
			list = append(list, struct{ text, plain string }{text, typography[r]})
		}
	}
	return list
}()

// decodeRune decodes the two- and three-byte characters that the table above
// holds; everything else counts as one byte of nothing.
func decodeRune(t []byte) (rune, int) {
	switch {
	case t[0] >= 0xc2 && t[0] < 0xe0 && len(t) > 1 && t[1]&0xc0 == 0x80:
		return rune(t[0]&0x1f)<<6 | rune(t[1]&0x3f), 2
	case t[0] >= 0xe0 && t[0] < 0xf0 && len(t) > 2 && t[1]&0xc0 == 0x80 && t[2]&0xc0 == 0x80:
		return rune(t[0]&0x0f)<<12 | rune(t[1]&0x3f)<<6 | rune(t[2]&0x3f), 3
	}
	return -1, 1
}

var plainEntities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'", "&amp;", "&", "&nbsp;", " ")

// plainTypography does to a template or an expression what undoTypography and
// undoEntities do to a text, so that both meet.
func plainTypography(s string, expression bool) string {
	if strings.IndexByte(s, '&') >= 0 {
		s = plainEntities.Replace(s)
	}
	plain := true
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		with, ok := typography[r]
		switch {
		case !ok:
			out.WriteRune(r)
		case expression && r == '\u2026':
			out.WriteString(`\.\.\.`)
		default:
			out.WriteString(with)
		}
	}
	return out.String()
}

// entities are the named references that text on its way through HTML meets.
var entities = map[string]string{
	"quot": `"`, "apos": "'", "lt": "<", "gt": ">", "amp": "&", "nbsp": " ", "lsquo": "'", "rsquo": "'",
	"ldquo": `"`, "rdquo": `"`, "ndash": "-", "mdash": "--", "hellip": "...", "lbrack": "[", "rbrack": "]",
	"lpar": "(", "rpar": ")", "grave": "`", "bsol": `\`, "sol": "/", "colon": ":", "NewLine": "\n", "Tab": "\t",
}

// undoEntities decodes HTML character references, however often they were
// encoded ("&amp;quot;").
func undoEntities(m *mapped) *mapped {
	t := m.text
	if bytes.IndexByte(t, '&') < 0 {
		return m
	}
	var b *builder
	from := 0
	for i := 0; i < len(t); {
		k := bytes.IndexByte(t[i:], '&')
		if k < 0 {
			break
		}
		i += k
		with, n := entity(t[i:])
		if n == 0 {
			i++
			continue
		}
		if b == nil {
			b = newBuilder(m)
		}
		b.copy(from, i)
		b.replace(i, i+n, with, layerEntity)
		i += n
		from = i
	}
	if b == nil {
		return m
	}
	b.copy(from, len(t))
	return b.mapped()
}

// entity is the text of the reference that t begins with, and its length; 0
// when there is none.
func entity(t []byte) (string, int) {
	i := 1
	for bytes.HasPrefix(t[i:], []byte("amp;")) {
		i += 4
	}
	end := bytes.IndexByte(t[i:min(len(t), i+10)], ';')
	if end > 0 {
		name := t[i : i+end]
		if with, ok := entities[string(name)]; ok {
			return with, i + end + 1
		}
		if r, ok := numericEntity(name); ok {
			return string(r), i + end + 1
		}
	}
	if i > 1 {
		return "&", i
	}
	return "", 0
}

func numericEntity(name []byte) (rune, bool) {
	if len(name) < 2 || name[0] != '#' {
		return 0, false
	}
	base, digits := rune(10), name[1:]
	if digits[0] == 'x' || digits[0] == 'X' {
		base, digits = 16, digits[1:]
	}
	var r rune
	for _, c := range digits {
		d := hexDigit(c)
		if d < 0 || rune(d) >= base {
			return 0, false
		}
		r = r*base + rune(d)
	}
	if len(digits) == 0 || r < 9 || r > 0xffff || r >= 0xd800 && r < 0xe000 {
		return 0, false
	}
	return r, true
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
