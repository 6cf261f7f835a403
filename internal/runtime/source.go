package runtime

import "embed"

// Source is the source of the runtime, so that a proof can show the lines that
// raised an error.
//
//go:embed *.go */*.go */*/*.go
var Source embed.FS
