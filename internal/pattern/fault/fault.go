// Package fault makes errors for packages that are compiled for the browser, where
// fmt would be a large part of the program. Of does what fmt.Errorf does with %w.
package fault

// Of is an error about something that wraps the causes: errors.Is and errors.As find
// each. Its text is what it is about and the texts of the causes, with colons between.
// An empty about is left out.
func Of(about string, causes ...error) error {
	text := about
	for _, c := range causes {
		if text != "" {
			text += ": "
		}
		text += c.Error()
	}
	return &fault{text, causes}
}

type fault struct {
	text   string
	causes []error
}

func (f *fault) Error() string   { return f.text }
func (f *fault) Unwrap() []error { return f.causes }
