package server

import (
	"context"
	"net/http"

	"errorkb/internal/render"
	"errorkb/web"
)

// asset is a file for the browser, with its encodings made once.
type asset struct {
	contentType string
	body        *body
}

// newAssets gathers the files for the browser by the path they are served at.
func newAssets() map[string]asset {
	assets := map[string]asset{}
	for _, f := range web.Files() {
		assets[f.Path] = asset{f.ContentType, newBody(f.Data)}
	}
	return assets
}

// handleAsset answers with a file for the browser. Its path holds a hash of
// its content, so it may be kept for ever.
func (s *Server) handleAsset(_ context.Context, q *request) (answer, error) {
	name := q.params("file")
	a, found := s.assets[name]
	if !found {
		return answer{}, refuse(render.ProblemNotFound, name, "There is no file %s.", render.Quote(name))
	}
	return answer{status: http.StatusOK, contentType: a.contentType, body: a.body, cache: cacheForever}, nil
}
