package conformance

import (
	"errorkb/internal/kb"
)

func (s *source) operations(places []kb.RaisePlace) ([]kb.Operation, []string) {
	return []kb.Operation{}, nil
}
