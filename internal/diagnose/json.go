package diagnose

import (
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends the answer as compact JSON without a line end. It is the
// one encoder of answers, so that page, API, command and browser give the same
// bytes. It does not reflect: the browser's build stays small.
func (a *Answer) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"datasetVersion":`...)
	dst = appendString(dst, a.DatasetVersion)
	dst = append(dst, `,"verdict":`...)
	dst = appendString(dst, string(a.Verdict))
	dst = append(dst, `,"partial":`...)
	dst = strconv.AppendBool(dst, a.Partial)
	dst = append(dst, `,"input":{"bytes":`...)
	dst = strconv.AppendInt(dst, int64(a.Input.Bytes), 10)
	dst = append(dst, `,"lines":`...)
	dst = strconv.AppendInt(dst, int64(a.Input.Lines), 10)
	dst = append(dst, `},"diagnoses":[`...)
	for i := range a.Diagnoses {
		dst = comma(dst, i)
		dst = a.Diagnoses[i].appendJSON(dst)
	}
	dst = append(dst, `],"runnersUp":[`...)
	for i := range a.RunnersUp {
		r := &a.RunnersUp[i]
		dst = comma(dst, i)
		dst = append(dst, `{"record":`...)
		dst = r.Record.appendJSON(dst)
		dst = append(dst, `,"confidence":`...)
		dst = appendFloat(dst, r.Confidence)
		dst = append(dst, `,"why":`...)
		dst = appendString(dst, r.Why)
		dst = append(dst, '}')
	}
	dst = append(dst, `],"unknown":`...)
	if a.Unknown == nil {
		dst = append(dst, "null"...)
	} else {
		dst = a.Unknown.appendJSON(dst)
	}
	return append(dst, '}')
}

func (d *Diagnosis) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"record":`...)
	dst = d.Record.appendJSON(dst)
	dst = append(dst, `,"kind":`...)
	dst = appendString(dst, string(d.Kind))
	dst = append(dst, `,"confidence":`...)
	dst = appendFloat(dst, d.Confidence)
	dst = append(dst, `,"count":`...)
	dst = strconv.AppendInt(dst, int64(d.Count), 10)
	dst = append(dst, `,"evidence":[`...)
	for i := range d.Evidence {
		dst = comma(dst, i)
		dst = d.Evidence[i].appendJSON(dst)
	}
	dst = append(dst, `],"solutions":`...)
	dst = appendStrings(dst, d.Solutions)
	return append(dst, '}')
}

func (e *Evidence) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"start":`...)
	dst = strconv.AppendInt(dst, int64(e.Start), 10)
	dst = append(dst, `,"end":`...)
	dst = strconv.AppendInt(dst, int64(e.End), 10)
	dst = append(dst, `,"line":`...)
	dst = strconv.AppendInt(dst, int64(e.Line), 10)
	dst = append(dst, `,"column":`...)
	dst = strconv.AppendInt(dst, int64(e.Column), 10)
	dst = append(dst, `,"text":`...)
	dst = appendString(dst, e.Text)
	dst = append(dst, `,"captures":[`...)
	for i, c := range e.Captures {
		dst = comma(dst, i)
		dst = append(dst, `{"name":`...)
		dst = appendString(dst, c.Name)
		dst = append(dst, `,"value":`...)
		dst = appendString(dst, c.Value)
		dst = append(dst, `,"start":`...)
		dst = strconv.AppendInt(dst, int64(c.Start), 10)
		dst = append(dst, `,"end":`...)
		dst = strconv.AppendInt(dst, int64(c.End), 10)
		dst = append(dst, '}')
	}
	dst = append(dst, `],"undone":`...)
	dst = appendStrings(dst, e.Undone)
	return append(dst, '}')
}

func (r *Ref) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"id":`...)
	dst = appendString(dst, r.ID)
	dst = append(dst, `,"repo":`...)
	dst = appendString(dst, r.Repo)
	dst = append(dst, `,"slug":`...)
	dst = appendString(dst, r.Slug)
	dst = append(dst, `,"title":`...)
	dst = appendString(dst, r.Title)
	dst = append(dst, `,"url":`...)
	dst = appendString(dst, r.URL)
	dst = append(dst, `,"severity":`...)
	dst = appendString(dst, r.Severity)
	dst = append(dst, `,"role":`...)
	dst = appendString(dst, r.Role)
	dst = append(dst, `,"status":`...)
	dst = appendString(dst, r.Status)
	return append(dst, '}')
}

func (u *Unknown) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"template":`...)
	dst = appendString(dst, u.Template)
	dst = append(dst, `,"line":`...)
	if l := u.Line; l == nil {
		dst = append(dst, "null"...)
	} else {
		dst = append(dst, `{"start":`...)
		dst = strconv.AppendInt(dst, int64(l.Start), 10)
		dst = append(dst, `,"end":`...)
		dst = strconv.AppendInt(dst, int64(l.End), 10)
		dst = append(dst, `,"line":`...)
		dst = strconv.AppendInt(dst, int64(l.Line), 10)
		dst = append(dst, `,"text":`...)
		dst = appendString(dst, l.Text)
		dst = append(dst, `,"why":`...)
		dst = appendString(dst, l.Why)
		dst = append(dst, '}')
	}
	dst = append(dst, `,"near":[`...)
	for i := range u.Near {
		n := &u.Near[i]
		dst = comma(dst, i)
		dst = append(dst, `{"record":`...)
		dst = n.Record.appendJSON(dst)
		dst = append(dst, `,"similarity":`...)
		dst = appendFloat(dst, n.Similarity)
		dst = append(dst, `,"missing":`...)
		dst = appendStrings(dst, n.Missing)
		dst = append(dst, `,"extra":`...)
		dst = appendStrings(dst, n.Extra)
		dst = append(dst, '}')
	}
	return append(dst, ']', '}')
}

func comma(dst []byte, i int) []byte {
	if i > 0 {
		return append(dst, ',')
	}
	return dst
}

func appendFloat(dst []byte, f float64) []byte {
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		dst = comma(dst, i)
		dst = appendString(dst, s)
	}
	return append(dst, ']')
}

// appendString appends a JSON string. Bytes that are not UTF-8 become U+FFFD;
// line separators are escaped, so that the result is JavaScript as well.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			dst = append(dst, s[from:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			i++
			from = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, s[from:i]...)
			dst = append(dst, "\ufffd"...)
			from = i + n
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, s[from:i]...)
			dst = append(dst, `\u202`...)
			dst = append(dst, hex[r&15])
			from = i + n
		}
		i += n
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}
