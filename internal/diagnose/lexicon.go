package diagnose

// lexicon knows the words of all messages.
type lexicon struct{}

func newLexicon(e *Engine) *lexicon { return &lexicon{} }
