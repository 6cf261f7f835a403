// Package fault makes errors for packages that are compiled for the browser, where
// fmt would be a large part of the program. Of does what fmt.Errorf does with %w.
package fault

// Of is an error about something that wraps the causes: errors.Is and errors.As find
// each, errors.Unwrap gives the only one. Its text is what it is about and the texts of
// the causes, with colons between. An empty about is left out.
func Of(about string, causes ...error) error {
	text := about
	for _, c := range causes {
		if text != "" {
			text += ": "
		}
		text += c.Error()
	}
	if len(causes) == 1 {
		return &one{text, causes[0]}
	}
	return &several{text, causes}
}

// one is an error with one cause.
type one struct {
	text  string
	cause error
}

func (f *one) Error() string { return f.text }
func (f *one) Unwrap() error { return f.cause }

// several is an error with none or more causes.
type several struct {
	text   string
	causes []error
}

func (f *several) Error() string   { return f.text }
func (f *several) Unwrap() []error { return f.causes }
