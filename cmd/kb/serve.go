package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/lint"
	"errorkb/internal/render"
	"errorkb/internal/server"
	"errorkb/internal/store"
)

// serveFlags are the flags of kb serve.
type serveFlags struct {
	addr, data, records string
	watch, live         bool
	maxBody             size
	limits              server.Limits
	proxies             []string
	logFormat, logLevel *choice
	site                *cli.SiteFlags
}

func newServe() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "serve",
		GroupID: groupRun,
		Short:   "Serve the site and the JSON API",
		Long: `Serve answers with the site and the JSON API until it gets SIGINT or SIGTERM;
requests under way are finished first. SIGHUP loads the records again, --watch
does so when they change. A set with errors leaves the old one serving and says
why in the log.

The data directory holds what is derived from the records (database, search
index and diagnosis). It can be deleted while no server runs on it, and
belongs to one server.`,
		Example: `  kb serve
  kb serve --addr :8080 --records records --watch
  kb serve --base-path /kb --site-url https://example.org
  kb serve --live-proof
  KB_ADDR=127.0.0.1:9000 kb serve`,
		Args: cobra.NoArgs,
	}
	f := serveFlags{maxBody: 16 << 20, logFormat: newChoice("auto", "text", "json"), logLevel: newChoice("info", "debug", "warn", "error")}
	flags := cmd.Flags()
	flags.StringVar(&f.addr, "addr", "127.0.0.1:8080", "address `HOST:PORT` to listen on; port 0 takes a free one")
	flags.StringVar(&f.data, "data", "", "data directory `DIR`, made when missing (default kb in the user's cache directory)")
	flags.StringVar(&f.records, "records", "", "folder `DIR` of records to use instead of the bundled ones")
	flags.BoolVar(&f.watch, "watch", false, "load the records again when something in their folder changes")
	flags.Var(&f.maxBody, "max-body", "largest text to diagnose")
	flags.DurationVar(&f.limits.DiagnoseTimeout, "diagnose-timeout", 2*time.Second, "`TIME` for one diagnosis; its answer is partial after it")
	flags.DurationVar(&f.limits.StopTimeout, "stop-timeout", 10*time.Second, "`TIME` for requests under way when the server stops")
	flags.Float64Var(&f.limits.RateLimit, "rate-limit", 0, "`NUMBER` of requests a second that one client may send; 0 is no limit")
	flags.StringSliceVar(&f.proxies, "trusted-proxy", nil, "network `CIDR` of proxies whose X-Forwarded-For is believed; can be repeated")
	flags.BoolVar(&f.live, "live-proof", false, "let people on this machine run the scenarios of records here, one at a time")
	flags.Var(f.logFormat, "log-format", "form of the log on standard error; auto is text on a terminal and JSON elsewhere")
	flags.Var(f.logLevel, "log-level", "least important level to log")
	cmd.MarkFlagDirname("data")
	cmd.MarkFlagDirname("records")
	f.site = cli.AddSiteFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return f.run(cmd) }
	return cmd
}

func (f *serveFlags) run(cmd *cobra.Command) error {
	// A log that nobody reads any more must not end the server. To ignore the
	// signal would do, but the workers of live proofs would then ignore it, too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, cancel := cli.UntilSignal(cmd.Context())
	defer cancel()
	// From the first moment on: an unheard SIGHUP would end the process.
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	config, err := f.config(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	var watch *watcher
	if f.watch {
		if watch, err = newWatcher(f.records); err != nil {
			return err
		}
		defer watch.notify.Close()
	}
	// The address first: whether it is free is known at once, and clients that
	// come while the records are loaded wait instead of failing.
	listener, err := listen(f.addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	if f.live {
		if err := ofThisMachine(listener.Addr()); err != nil {
			return err
		}
	}
	if f.data, err = dataDirectory(f.data); err != nil {
		return err
	}
	lock, err := store.LockDir(f.data)
	if err != nil {
		return cli.Hint(err, "another directory is named with --data DIR")
	}
	defer lock.Unlock() // the end of the process does it too

	l := &loader{records: f.records, checked: lint.NewLoader(), data: f.data, lock: lock, options: f.site.Options(), live: f.live, stderr: cmd.ErrOrStderr(), log: config.Logger}
	config.Load = l.Load
	srv, err := server.New(ctx, config)
	if err != nil {
		return err
	}
	l.stderr = io.Discard // later loads happen behind the log
	fmt.Fprintf(cmd.OutOrStdout(), "kb serves %s (records %s, data in %s)\n", siteAddress(listener.Addr(), config.Base), srv.Dataset(), f.data)
	if f.live {
		fmt.Fprintln(cmd.OutOrStdout(), "records can be proven live, from this machine only")
	}

	var reloads sync.WaitGroup
	reloads.Go(func() { reloadOnDemand(ctx, srv, hangup, watch, config.Logger) })
	err = srv.Run(ctx, listener)
	cancel()
	reloads.Wait()
	return err
}

// config checks the flags and makes the configuration of the server, without
// its loader.
func (f *serveFlags) config(log io.Writer) (server.Config, error) {
	if f.watch && f.records == "" {
		return server.Config{}, cli.Hint(cli.Usagef("nothing to watch: the bundled records do not change"), "name a folder with --records DIR")
	}
	for _, t := range []struct {
		flag string
		time time.Duration
	}{{"diagnose-timeout", f.limits.DiagnoseTimeout}, {"stop-timeout", f.limits.StopTimeout}} {
		if t.time <= 0 {
			return server.Config{}, cli.Usagef("--%s %s: want a time above zero such as 2s", t.flag, t.time)
		}
	}
	if f.limits.RateLimit < 0 {
		return server.Config{}, cli.Usagef("--rate-limit %g is below zero", f.limits.RateLimit)
	}
	if f.live && len(f.proxies) > 0 {
		return server.Config{}, cli.Hint(cli.Usagef("--live-proof and --trusted-proxy exclude each other: behind a proxy everybody seems to be on this machine"),
			"run a server of its own for live proofs")
	}
	proxies := make([]netip.Prefix, 0, len(f.proxies))
	for _, text := range f.proxies {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return server.Config{}, cli.Usagef("--trusted-proxy %q is no network such as 10.0.0.0/8", text)
		}
		proxies = append(proxies, prefix)
	}
	f.limits.MaxBody = int(f.maxBody)
	return server.Config{
		Base: f.site.Options().Base, Version: buildInfo().Version, Logger: f.logger(log),
		Limits: f.limits, TrustedProxies: proxies,
	}, nil
}

func (f *serveFlags) logger(w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel.value)); err != nil {
		panic(err) // the flag allows only names of levels
	}
	options := &slog.HandlerOptions{Level: level}
	if f.logFormat.value == "text" || f.logFormat.value == "auto" && cli.IsTerminal(w) {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

// listen takes the address.
func listen(addr string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, cli.Hint(cli.Usagef("--addr %q: want HOST:PORT", addr), "for example --addr 127.0.0.1:8080 or --addr :8080")
	}
	listener, err := net.Listen("tcp", addr)
	var bad *net.AddrError
	switch {
	case errors.As(err, &bad) && bad.Err == "invalid port":
		return nil, cli.Usagef("address %q: want a port from 0 to 65535", addr)
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, cli.Hint(fmt.Errorf("address %s is in use by another program", addr),
			"stop that one, or name another address with --addr HOST:PORT")
	case errors.Is(err, syscall.EACCES):
		return nil, cli.Hint(fmt.Errorf("no permission to listen on %s", addr), "ports below 1024 are often kept for the administrator; try --addr 127.0.0.1:8080")
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return listener, nil
}

// dataDirectory gives the directory that is named, or the default one.
func dataDirectory(name string) (string, error) {
	if name != "" {
		return name, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", cli.Hint(fmt.Errorf("no default data directory: %w", err), "name one with --data DIR")
	}
	return filepath.Join(cache, "kb"), nil
}

// siteAddress is what a person opens in a browser.
func siteAddress(addr net.Addr, base render.Base) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port) + base.Address(render.PlaceHome)
}

// reloadOnDemand loads the records again on SIGHUP and when they change.
func reloadOnDemand(ctx context.Context, srv *server.Server, hangup <-chan os.Signal, watch *watcher, log *slog.Logger) {
	// Two wishes that come while one is served are one wish.
	wishes := make(chan struct{}, 1)
	wish := func() {
		select {
		case wishes <- struct{}{}:
		default:
		}
	}
	var watching sync.WaitGroup
	defer watching.Wait()
	if watch != nil {
		watching.Go(func() {
			watch.run(ctx, wish, func(err error) { log.Error("watching failed", slog.String("error", err.Error())) })
		})
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			wish()
		case <-wishes:
			logReload(log, srv.Reload(ctx), srv.Dataset)
		}
	}
}

// logReload says how a reload went, each finding of a bad set by itself.
func logReload(log *slog.Logger, err error, dataset func() string) {
	if errors.Is(err, context.Canceled) {
		return
	}
	if err == nil {
		log.Info("records loaded", slog.String("dataset", dataset()))
		return
	}
	var bad *cli.FindingsError
	if !errors.As(err, &bad) {
		log.Error("records not loaded, the old ones are served on", slog.String("error", err.Error()))
		return
	}
	for line := range strings.Lines(bad.Details()) {
		log.Error("finding", slog.String("finding", strings.TrimSpace(line)))
	}
	log.Error("records not loaded, the old ones are served on", slog.String("error", bad.Error()), slog.String("dataset", dataset()))
}
