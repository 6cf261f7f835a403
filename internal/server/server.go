// Package server answers HTTP requests: the pages, the JSON API, and the
// addresses that operators ask. Make a Server with New, then Run it on a
// listener or take its Handler.
//
// A request goes through the edge (edge.go), the router (routes.go) and one
// handler, which decides an answer from the snapshot of the data set that the
// request got at its start; respond.go sends it. Errors become answers in
// errors.go and nowhere else. Nothing that a visitor sends is logged or kept.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"errorkb/internal/render"
)

// Config says what to serve and how.
type Config struct {
	Load    Loader       // loads the data set: once in New, again in Reload
	Base    render.Base  // path that the site lives under; the same as the renderer's
	Version string       // of the program, for /version
	Logger  *slog.Logger // nil logs nothing
	Limits  Limits       // zero fields have defaults

	// TrustedProxies are the networks of reverse proxies whose X-Forwarded-For
	// is believed. Without any, a client is the peer of its connection.
	TrustedProxies []netip.Prefix

	Now func() time.Time // nil is time.Now
}

// Limits bound what a request may cost. A field that is zero has the default.
type Limits struct {
	MaxBody         int           // bytes of a text to diagnose; 16 MiB
	Memory          int           // bytes of all texts at once; 16 times MaxBody
	DiagnoseTimeout time.Duration // of one diagnosis, which is partial then; 2 s
	Diagnoses       int           // at once; one for each processor
	Waiting         int           // diagnoses that wait for a turn; 64
	WaitTimeout     time.Duration // of such a wait; 10 s
	HeaderTimeout   time.Duration // until the headers of a request are there; 5 s
	BodyTimeout     time.Duration // until its body is; 60 s
	WriteTimeout    time.Duration // until its answer is taken, from the headers on; 90 s
	IdleTimeout     time.Duration // of a connection without a request; 120 s
	StopTimeout     time.Duration // for requests under way when the server stops; 10 s
	CacheBytes      int           // memory for documents; 64 MiB
	RateLimit       float64       // requests a second of one client; 0 is no limit
	LiveTimeout     time.Duration // of one live proof; 30 s
	LiveBytes       int           // that one may tell; 1 MiB
	LiveBeat        time.Duration // between the signs of life of one that has nothing to tell; 5 s
}

// maxHeader bounds the headers of a request. Ours need a few hundred bytes,
// and cookies of other sites on one host some thousand.
const maxHeader = 64 << 10

func (l Limits) withDefaults() Limits {
	setDefault(&l.MaxBody, 16<<20)
	setDefault(&l.Memory, 16*l.MaxBody)
	setDefault(&l.DiagnoseTimeout, 2*time.Second)
	setDefault(&l.Diagnoses, runtime.GOMAXPROCS(0))
	setDefault(&l.Waiting, 64)
	setDefault(&l.WaitTimeout, 10*time.Second)
	setDefault(&l.HeaderTimeout, 5*time.Second)
	setDefault(&l.BodyTimeout, time.Minute)
	setDefault(&l.WriteTimeout, 90*time.Second)
	setDefault(&l.IdleTimeout, 2*time.Minute)
	setDefault(&l.StopTimeout, 10*time.Second)
	setDefault(&l.CacheBytes, 64<<20)
	setDefault(&l.LiveTimeout, 30*time.Second)
	setDefault(&l.LiveBytes, 1<<20)
	setDefault(&l.LiveBeat, 5*time.Second)
	return l
}

func setDefault[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// Server serves one data set at a time.
type Server struct {
	load     Loader
	base     render.Base
	version  string
	logger   *slog.Logger
	limits   Limits
	now      func() time.Time
	clientIP echo.IPExtractor

	current    atomic.Pointer[held]
	loading    sync.Mutex // one reload at a time
	lastReload atomic.Pointer[reload]
	stopping   atomic.Bool

	live    sync.Mutex      // held while a live proof runs
	quit    context.Context // ends live proofs when the server stops
	endLive context.CancelFunc

	assets  map[string]asset
	metrics *metrics
	gate    *gate
	memory  *memory
	limiter *limiter
	handler http.Handler
}

// New makes a server and loads the data set, so that it starts healthy or not
// at all. Close the server, or Run it, which closes it in the end.
func New(ctx context.Context, config Config) (*Server, error) {
	if config.Load == nil {
		return nil, errors.New("a server needs a loader")
	}
	s := &Server{
		load: config.Load, base: config.Base, version: config.Version, logger: config.Logger,
		limits: config.Limits.withDefaults(), now: config.Now, assets: newAssets(), metrics: newMetrics(),
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.clientIP = extractor(config.TrustedProxies)
	s.gate = newGate(s.limits.Diagnoses, s.limits.Waiting, s.limits.WaitTimeout)
	s.memory = &memory{left: s.limits.Memory}
	s.limiter = newLimiter(s.limits.RateLimit)
	s.quit, s.endLive = context.WithCancel(context.Background())
	first, err := s.fetch(ctx)
	if err != nil {
		s.endLive()
		return nil, err
	}
	s.current.Store(first)
	s.handler = s.edge(s.newRouter())
	return s, nil
}

// extractor says how the address of a client is found. The default of echo
// believes what a client says about itself; ours never does.
func extractor(proxies []netip.Prefix) echo.IPExtractor {
	if len(proxies) == 0 {
		return echo.ExtractIPDirect()
	}
	options := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, p := range proxies {
		p = p.Masked()
		options = append(options, echo.TrustIPRange(&net.IPNet{
			IP:   p.Addr().AsSlice(),
			Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen()),
		}))
	}
	return echo.ExtractIPFromXFFHeader(options...)
}

// Handler answers requests. It can be used without Run.
func (s *Server) Handler() http.Handler { return s.handler }

// fetch loads the data set of now.
func (s *Server) fetch(ctx context.Context) (*held, error) {
	snapshot, err := s.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("load the data set: %w", err)
	}
	h, err := hold(ctx, snapshot, s.limits.CacheBytes, s.closed)
	if err != nil {
		if snapshot != nil && snapshot.Close != nil {
			err = errors.Join(err, snapshot.Close())
		}
		return nil, fmt.Errorf("take the data set into use: %w", err)
	}
	return h, nil
}

// closed hears how the closing of a snapshot went. Nobody waits for it, so it
// goes to the log.
func (s *Server) closed(err error) {
	if err != nil {
		s.logger.Error("closing a data set failed", slog.String("error", err.Error()))
	}
}

// Reload loads the data set anew and serves it from then on. Requests under
// way finish with the one before, which is closed after the last of them. When
// loading fails, nothing changes: the error says why, as do /readyz and the
// metrics.
func (s *Server) Reload(ctx context.Context) error {
	s.loading.Lock()
	defer s.loading.Unlock()
	if s.stopping.Load() {
		return errors.New("the server is stopping")
	}
	next, err := s.fetch(ctx)
	s.reloaded(err)
	if err != nil {
		return err
	}
	s.current.Swap(next).release()
	return nil
}

// Dataset is the version of the data set that is served, "" after Close.
func (s *Server) Dataset() string {
	h := s.acquire()
	if h == nil {
		return ""
	}
	defer h.release()
	return h.version
}

// Run serves connections of the listener until the context ends. Then it takes
// no new ones, lets requests under way finish within Limits.StopTimeout, and
// closes the data set. It returns nil after such a stop, and an error when
// serving failed or requests had to be cut off.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	hs := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: s.limits.HeaderTimeout,
		ReadTimeout:       s.limits.BodyTimeout,
		WriteTimeout:      s.limits.WriteTimeout,
		IdleTimeout:       s.limits.IdleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- hs.Serve(listener) }()
	var err error
	select {
	case err = <-served:
		err = fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
		err = s.stop(hs)
		<-served
	}
	return errors.Join(err, s.Close())
}

// stop lets the requests under way finish, for a time. Live proofs, which may
// last longer than that, are ended.
func (s *Server) stop(hs *http.Server) error {
	s.stopping.Store(true)
	s.endLive()
	patience, cancel := context.WithTimeout(context.Background(), s.limits.StopTimeout)
	defer cancel()
	err := hs.Shutdown(patience)
	if err == nil {
		return nil
	}
	return errors.Join(fmt.Errorf("requests were cut off after %s: %w", s.limits.StopTimeout, err), hs.Close())
}

// Close lets go of the data set. The server is of no use afterwards; requests
// that are still under way finish first.
func (s *Server) Close() error {
	s.loading.Lock()
	defer s.loading.Unlock()
	s.stopping.Store(true)
	s.endLive()
	if h := s.current.Swap(nil); h != nil {
		h.release()
	}
	return nil
}
