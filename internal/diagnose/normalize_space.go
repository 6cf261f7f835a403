package diagnose

// undoSpace makes every run of blanks and tabs one blank and drops blanks at
// the ends of lines, keeping one at the start of an indented line.
func undoSpace(m *mapped) *mapped {
	t := m.text
	var b *builder
	from := 0
	for i := 0; i < len(t); i++ {
		if t[i] != ' ' && t[i] != '\t' {
			continue
		}
		end := i + 1
		for end < len(t) && (t[end] == ' ' || t[end] == '\t') {
			end++
		}
		with := " "
		if end == len(t) || t[end] == '\n' {
			with = ""
		}
		if end == i+1 && t[i] == ' ' && with == " " {
			continue
		}
		if b == nil {
			b = newBuilder(m)
		}
		if with == " " && t[i] == ' ' {
			// The first blank stays what it is.
			b.copy(from, i+1)
			b.replace(i+1, end, "", layerSpace)
		} else {
			b.copy(from, i)
			b.replace(i, end, with, layerSpace)
		}
		from = end
		i = end - 1
	}
	if b == nil {
		return m
	}
	b.copy(from, len(t))
	return b.mapped()
}

// squeezeExpr does to an expression or a template what undoSpace does to a
// text.
func squeezeExpr(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == ' ' && len(out) > 0 && out[len(out)-1] == ' ' {
			continue
		}
		out = append(out, s[i])
	}
	return string(out)
}
