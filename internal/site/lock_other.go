//go:build !unix

package site

// lock does nothing where folders cannot be locked: there it is up to the
// caller to run one build at a time.
func lock(string) (unlock func(), err error) { return func() {}, nil }
