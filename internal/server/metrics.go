package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"errorkb/internal/diagnose"
)

// metrics are the counters of one server, in a registry of their own. Labels
// have few values: a route is a pattern and never a path, an unknown method is
// "other".
type metrics struct {
	registry    *prometheus.Registry
	requests    *prometheus.CounterVec
	seconds     *prometheus.HistogramVec
	inFlight    prometheus.Gauge
	panics      prometheus.Counter
	diagnoses   *prometheus.CounterVec
	diagnosing  prometheus.Histogram
	refused     prometheus.Counter
	cacheHits   prometheus.Counter
	cacheMisses prometheus.Counter
	cacheBytes  prometheus.Gauge
	records     prometheus.Gauge
	dataset     *prometheus.GaugeVec
	reloads     *prometheus.CounterVec
}

func newMetrics() *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "kb", Name: name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "kb", Name: name, Help: help}, labels)
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "kb", Name: name, Help: help})
	}
	buckets := []float64{.0001, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: counters("http_requests_total", "Requests answered.", "route", "method", "status"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "kb", Name: "http_request_duration_seconds", Help: "Time from the headers of a request to the end of its answer.", Buckets: buckets,
		}, []string{"route"}),
		inFlight:  gauge("http_requests_in_flight", "Requests being answered."),
		panics:    counter("http_panics_total", "Requests that ended in a panic."),
		diagnoses: counters("diagnoses_total", "Diagnoses made.", "verdict", "partial"),
		diagnosing: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "kb", Name: "diagnosis_duration_seconds", Help: "Time of a diagnosis, without the wait for a turn.", Buckets: buckets,
		}),
		refused:     counter("diagnoses_refused_total", "Diagnoses refused because too many were running and waiting."),
		cacheHits:   counter("cache_hits_total", "Documents sent from memory."),
		cacheMisses: counter("cache_misses_total", "Documents that had to be made."),
		cacheBytes:  gauge("cache_bytes", "Memory counted for documents that are kept."),
		records:     gauge("records", "Records of the data set that is served."),
		dataset: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "kb", Name: "dataset_info", Help: "The data set that is served; always 1.",
		}, []string{"version"}),
		reloads: counters("reloads_total", "Attempts to load another data set.", "outcome"),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.inFlight, m.panics, m.diagnoses, m.diagnosing, m.refused,
		m.cacheHits, m.cacheMisses, m.cacheBytes, m.records, m.dataset, m.reloads,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// answered counts one request.
func (m *metrics) answered(route, method string, status int, took time.Duration) {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodOptions, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		method = "other"
	}
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

// diagnosed counts one diagnosis.
func (m *metrics) diagnosed(a diagnose.Answer, took time.Duration) {
	m.diagnoses.WithLabelValues(string(a.Verdict), strconv.FormatBool(a.Partial)).Inc()
	m.diagnosing.Observe(took.Seconds())
}

// snapshot sets the gauges of the data set.
func (m *metrics) snapshot(h *held) {
	m.records.Set(float64(h.records))
	m.cacheBytes.Set(float64(h.cache.bytes()))
	m.dataset.Reset()
	m.dataset.WithLabelValues(h.version).Set(1)
}
