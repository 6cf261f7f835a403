package cli

import (
	"errors"
	"net/url"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"errorkb/internal/render"
	"errorkb/internal/runtime"
	"errorkb/schema"
	"errorkb/web"
)

// SiteFlags are the flags about the site that the records do not answer.
type SiteFlags struct {
	base   basePath
	origin origin
	name   string
	report httpURL
}

// AddSiteFlags adds the flags that a server and a static site share.
func AddSiteFlags(cmd *cobra.Command) *SiteFlags {
	f := &SiteFlags{}
	flags := cmd.Flags()
	flags.Var(&f.base, "base-path", "path `PREFIX` that the site lives under, such as /kb")
	flags.Var(&f.origin, "site-url", "`URL` of the host, such as https://kb.example, for feed and maps")
	flags.StringVar(&f.name, "site-name", "", "`NAME` of the site in header and titles (default kb)")
	flags.Var(&f.report, "report-url", "`URL` where readers report a mistake; no link without it")
	return f
}

// Options are the renderer's options that the flags ask for. What belongs to a
// set of records, its proof, is not among them.
func (f *SiteFlags) Options() render.Options {
	return render.Options{
		Base: render.Base(f.base), SiteURL: string(f.origin), Name: f.name, ReportURL: string(f.report),
		Assets: web.Names(), Schema: schema.Record, Code: runtime.Source,
	}
}

// basePath is a flag of a path without a slash at its end, "" for the root.
type basePath string

func (b *basePath) String() string { return string(*b) }
func (b *basePath) Type() string   { return "PREFIX" }
func (b *basePath) Set(value string) error {
	trimmed := strings.TrimRight(value, "/")
	if trimmed == "" {
		*b = ""
		return nil
	}
	if u, err := url.Parse(trimmed); err != nil || u.Path != trimmed || !strings.HasPrefix(trimmed, "/") || path.Clean(trimmed) != trimmed {
		return errors.New("want a path like /kb or /docs/errors, without host, query and escapes")
	}
	*b = basePath(trimmed)
	return nil
}

// httpURL is a flag of a whole address.
type httpURL string

func (h *httpURL) String() string { return string(*h) }
func (h *httpURL) Type() string   { return "URL" }
func (h *httpURL) Set(value string) error {
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return errors.New("want a URL like https://kb.example/path")
	}
	*h = httpURL(value)
	return nil
}

// origin is a flag of scheme and host.
type origin string

func (o *origin) String() string { return string(*o) }
func (o *origin) Type() string   { return "URL" }
func (o *origin) Set(value string) error {
	value = strings.TrimRight(value, "/")
	var whole httpURL
	if err := whole.Set(value); err != nil {
		return errors.New("want a URL like https://kb.example")
	}
	if u, err := url.Parse(value); err != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("want scheme and host only; a path goes into --base-path")
	}
	*o = origin(value)
	return nil
}
