package client

import "github.com/coder/websocket"

// ReadClose reads the exit out of a close with this status and reason.
func ReadClose(code int, reason string) (Exit, error) {
	return readClose(websocket.CloseError{Code: websocket.StatusCode(code), Reason: reason})
}

// Split takes a followed log apart that arrives in these pieces.
func Split(pieces ...[]byte) []string {
	var s splitter
	streams := map[string]string{}
	each := func(stream string, chunk []byte) { streams[stream] += string(chunk) }
	for _, piece := range pieces {
		s.add(piece, each)
	}
	s.end(each)
	return []string{"stdout=" + streams["stdout"], "stderr=" + streams["stderr"]}
}
