// Package records holds the bundled error records, one JSON file each, in
// <owner>/<name>/<slug>.json, and what is derived from them.
package records

import "embed"

// FS is this folder as it is. kb.ReadDir picks the records; embedding by depth
// would hide a misplaced file from lint.
//
//go:embed *
var FS embed.FS
