package conformance

import (
	"io/fs"

	"errorkb/internal/kb"
)

// Places reads the source of a runtime and lists every place that can raise an
// error, with the record that documents it. fsys is the folder
// internal/runtime.
func Places(fsys fs.FS, records *kb.Set) ([]kb.RaisePlace, error) {
	source, err := readSource(fsys)
	if err != nil {
		return nil, err
	}
	places, _ := source.cover(records.Records, exemptPlaces)
	return places, nil
}
