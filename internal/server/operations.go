package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/common/expfmt"
)

// handleHealth says that the process lives and answers.
func (s *Server) handleHealth(context.Context, *request) (answer, error) {
	return operation(http.StatusOK, map[string]string{"status": "ok"})
}

// reload is the last attempt to load another data set.
type reload struct {
	At     string `json:"at"`
	Loaded bool   `json:"loaded"`
	Reason string `json:"reason"` // why it was not loaded
}

// handleReady says whether requests are welcome. A data set that could not be
// loaded does not change that: the one before is still served.
func (s *Server) handleReady(_ context.Context, q *request) (answer, error) {
	status, word := http.StatusOK, "ready"
	if s.stopping.Load() {
		status, word = http.StatusServiceUnavailable, "stopping"
	}
	return operation(status, struct {
		Status     string  `json:"status"`
		Version    string  `json:"datasetVersion"`
		LastReload *reload `json:"lastReload"`
	}{word, q.snapshot.version, s.lastReload.Load()})
}

// handleVersion says what is running.
func (s *Server) handleVersion(_ context.Context, q *request) (answer, error) {
	a, err := operation(http.StatusOK, struct {
		Version string `json:"version"`
		Go      string `json:"go"`
		Dataset string `json:"datasetVersion"`
	}{s.version, runtime.Version(), q.snapshot.version})
	a.cache = cacheRevalidate // changes with the data set only
	return a, err
}

// handleMetrics answers with the metrics in the text format of Prometheus.
func (s *Server) handleMetrics(_ context.Context, q *request) (answer, error) {
	s.metrics.snapshot(q.snapshot)
	families, err := s.metrics.registry.Gather()
	if err != nil {
		return answer{}, fmt.Errorf("gather metrics: %w", err)
	}
	format := expfmt.NewFormat(expfmt.TypeTextPlain)
	var out bytes.Buffer
	encoder := expfmt.NewEncoder(&out, format)
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			return answer{}, fmt.Errorf("encode metrics: %w", err)
		}
	}
	return answer{status: http.StatusOK, contentType: string(format), body: newBody(out.Bytes()), cache: cacheNever}, nil
}

func operation(status int, v any) (answer, error) {
	content, err := json.Marshal(v)
	if err != nil {
		return answer{}, fmt.Errorf("encode %T: %w", v, err)
	}
	return answer{status: status, contentType: mediaJSON, body: newBody(append(content, '\n')), cache: cacheNever}, nil
}

// reloaded notes the outcome of a reload for handleReady and the metrics.
func (s *Server) reloaded(err error) {
	note := &reload{At: s.now().UTC().Format(time.RFC3339), Loaded: err == nil}
	outcome := "loaded"
	if err != nil {
		outcome, note.Reason = "refused", err.Error()
	}
	s.lastReload.Store(note)
	s.metrics.reloads.WithLabelValues(outcome).Inc()
}
