package render

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"errorkb/internal/kb"
)

// shelf is a Source of a few records in memory.
type shelf []*kb.Record

func (s shelf) Version() string { return "2026-09-23T08:17:48.524Z+1f3a9c2e" }

func (s shelf) find(key string, fits func(*kb.Record) bool) (*kb.Record, error) {
	for _, r := range s {
		if fits(r) {
			return r, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", kb.ErrNotFound, key)
}

func (s shelf) Record(_ context.Context, id string) (*kb.Record, error) {
	return s.find(id, func(r *kb.Record) bool { return r.ID == id })
}

func (s shelf) BySlug(_ context.Context, repo, slug string) (*kb.Record, error) {
	return s.find(slug, func(r *kb.Record) bool { return r.Repo == repo && r.Slug == slug })
}

func (s shelf) Resolve(_ context.Context, key string) (string, error) {
	r, err := s.find(key, func(r *kb.Record) bool { return r.ID == key || slices.Contains(r.Aliases, key) })
	if err != nil {
		return "", err
	}
	return r.ID, nil
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// values lists what a record has of a kind of group.
func values(r *kb.Record, kind kb.GroupKind) []string {
	switch kind {
	case kb.GroupRepo:
		return []string{r.Repo}
	case kb.GroupTag:
		return r.Tags
	case kb.GroupBackground:
		return []string{orEmpty(r.BackgroundTag)}
	case kb.GroupSeverity:
		return []string{string(r.Severity)}
	case kb.GroupClass:
		return []string{orEmpty(r.ErrorClass)}
	case kb.GroupCode:
		return []string{orEmpty(r.ErrorCode)}
	default:
		return []string{string(r.Status)}
	}
}

func (s shelf) filtered(f kb.Filter) shelf {
	var out shelf
	for _, r := range s {
		fits := true
		for kind, want := range map[kb.GroupKind]string{
			kb.GroupRepo: f.Repo, kb.GroupTag: f.Tag, kb.GroupBackground: f.Background, kb.GroupSeverity: f.Severity,
			kb.GroupClass: f.Class, kb.GroupCode: f.Code, kb.GroupStatus: f.Status,
		} {
			fits = fits && (want == "" || slices.Contains(values(r, kind), want))
		}
		if fits {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *kb.Record) int {
		if f.Sort == "changed" {
			return cmp.Or(cmp.Compare(b.ContentChangedAt, a.ContentChangedAt), cmp.Compare(a.ID, b.ID))
		}
		return cmp.Or(cmp.Compare(a.ErrorMessage, b.ErrorMessage), cmp.Compare(a.ID, b.ID))
	})
	return out
}

func itemOf(r *kb.Record) kb.Item {
	return kb.Item{
		ID: r.ID, Repo: r.Repo, Slug: r.Slug, Title: r.ErrorMessage, Severity: r.Severity, Role: r.Role, Status: r.Status, Review: r.Review,
		ErrorClass: orEmpty(r.ErrorClass), ErrorCode: orEmpty(r.ErrorCode), Tags: r.Tags, Background: orEmpty(r.BackgroundTag),
		Summary: kb.Summary(r.Documentation), ContentChangedAt: r.ContentChangedAt, FirstPublishedAt: r.FirstPublishedAt,
	}
}

func (s shelf) List(_ context.Context, f kb.Filter) (kb.Page, error) {
	all := s.filtered(f)
	page := kb.Page{Total: len(all)}
	from := f.Offset
	if f.Cursor != "" {
		from, _ = strconv.Atoi(f.Cursor)
	}
	limit := cmp.Or(f.Limit, kb.DefaultLimit)
	for _, r := range all[min(from, len(all)):min(from+limit, len(all))] {
		page.Items = append(page.Items, itemOf(r))
	}
	if from+limit < len(all) {
		page.Next = strconv.Itoa(from + limit)
	}
	return page, nil
}

func (s shelf) Groups(_ context.Context, kind kb.GroupKind, f kb.Filter) ([]kb.Group, error) {
	counts := map[string]int{}
	for _, r := range s.filtered(f) {
		for _, v := range values(r, kind) {
			counts[v]++
		}
	}
	var groups []kb.Group
	for name, n := range counts {
		if name != "" {
			groups = append(groups, kb.Group{Name: name, Count: n})
		}
	}
	slices.SortFunc(groups, func(a, b kb.Group) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name))
	})
	return groups, nil
}

func (s shelf) Related(ctx context.Context, id string) ([]kb.RelatedItem, error) {
	r, err := s.Record(ctx, id)
	if err != nil {
		return nil, err
	}
	var out []kb.RelatedItem
	for _, other := range r.Related {
		o, err := s.Record(ctx, other)
		if err != nil {
			return nil, err
		}
		out = append(out, kb.RelatedItem{Item: itemOf(o), Why: "named by the author"})
	}
	return out, nil
}

func to[T any](v T) *T { return &v }

// fullRecord has content in every section of its page.
func fullRecord() *kb.Record {
	return &kb.Record{
		SchemaVersion: 3, ID: "00000000000000a1", Repo: "acme/tool", Slug: "socket-busy", Aliases: []string{"TOOL_BUSY", "old-slug"},
		Status: kb.StatusDeprecated, StatusReason: to("the `queue` replaces the socket"), ReplacedBy: to("00000000000000a2"), Review: kb.ReviewUnreviewed,
		ErrorCode: to("E_BUSY"), ErrorMessage: "Socket ${name} of ${owner.id} is busy.", MessagePattern: `Socket (?P<name>.+?) of (?P<owner>.+?) is busy\.`,
		Captures: []kb.Capture{
			{Name: "name", Description: "Name of the `socket`", Example: "main.sock"},
			{Name: "owner", Description: "Who holds it", Example: "42"},
		},
		MessageHistory: []kb.HistoricMessage{{ErrorMessage: "Socket busy: ${name}", MessagePattern: "Socket busy: (?P<name>.+)", Until: "1.4"}},
		ErrorType:      "exception", ErrorClass: to("BusyError"), HTTPStatus: to(503), Severity: kb.SeverityError, Role: kb.RoleCause, Retry: kb.RetryAfterFix,
		FilePath: "src/socket.ts", LineNumber: to(11), Symbol: to("open"), SourceCode: to("if (busy) {\n  throw new BusyError(name);\n}"),
		SourceCodeStart: to(10), SourceCodeEnd: to(12), GithubURL: to("https://github.com/acme/tool/blob/0123456789abcdef0123456789abcdef01234567/src/socket.ts#L11"),
		Documentation:    "Another process holds the socket. It is **not** a network error.\n\n- one\n- two\n\n```ts\nopen();\n```",
		TriggerScenarios: "`open` while another process listens.", CommonSituations: "Two copies of the tool run.",
		Solutions:  []string{"Stop the other process: `kill 42`.", "Choose another [name](https://example.org/names)."},
		ExampleFix: "// before\nopen(\"a\"); // busy\n\n// after (another name)\nopen(\"b\");", HandlingStrategy: "validation",
		ValidationCode: to("if (await busy(name)) return;"), TypeGuard: to("function isFree(s: Socket): s is Free { return true; }"),
		TryCatchPattern: to("try { open(n) } catch (e) { if (e.message === \"busy\") wait(); else throw e; }"),
		PreventionTips:  []string{"Use one name per process."}, Tags: []string{"concurrency", "socket"}, BackgroundTag: to("resource-in-use"),
		Related: []string{"00000000000000a2"}, Examples: kb.Examples{Match: []string{"Error: Socket main.sock of 42 is busy."}, NoMatch: []string{"Socket closed"}},
		AnalyzedSHA: "0123456789abcdef0123456789abcdef01234567", AnalyzedAt: "2026-08-21T17:58:32.592Z", FirstPublishedAt: "2026-08-22T00:00:00Z", ContentChangedAt: "2026-09-23T08:17:48.524Z",
	}
}

// plainRecord has only what every record has.
func plainRecord() *kb.Record {
	return &kb.Record{
		SchemaVersion: 3, ID: "00000000000000a2", Repo: "acme/tool", Slug: "queue-full", Status: kb.StatusActive, Review: kb.ReviewReviewed,
		ErrorMessage: "The queue is full.", MessagePattern: `The queue is full\.`, ErrorType: "return", Severity: kb.SeverityWarning,
		Role: kb.RoleSymptom, Retry: kb.RetrySafe, FilePath: "src/queue.ts", Documentation: "Too many jobs wait.", Tags: []string{"queue"},
		AnalyzedSHA: "0123456789abcdef0123456789abcdef01234567", AnalyzedAt: "2026-08-21T17:58:32.592Z", FirstPublishedAt: "2026-08-22T00:00:00Z", ContentChangedAt: "2026-08-22T00:00:00Z",
	}
}

// hostileRecord tries to break out of every field.
func hostileRecord() *kb.Record {
	x := `<script>alert(1)</script>"'><img src=x onerror=alert(1)>` + "\u202e\u0000\x1b[31m &lt;b&gt; {{.}} ${`"
	md := x + "\n\n[c](javascript:alert(1)) [h](http://a.b) [d](data:text/html,x) [u](https://u:p@a.b) ![i](https://x/y.png) <javascript:alert(1)>\n\n<div onclick=x>\nraw\n</div>\n\n```<script>\n</code></pre><script>alert(1)</script>\n```\n\n# " + x
	r := fullRecord()
	r.ID, r.Slug, r.Aliases, r.Related, r.ReplacedBy = "00000000000000a3", "hostile", []string{"../../etc", "a b", "<x>"}, nil, nil
	r.StatusReason, r.ErrorCode, r.ErrorClass, r.Symbol = &x, &x, &x, &x
	r.ErrorMessage = "${a}" + x + strings.Repeat("W", 3000)
	r.Captures = []kb.Capture{{Name: x, Description: md, Example: x}}
	r.MessageHistory = []kb.HistoricMessage{{ErrorMessage: x, MessagePattern: x, Until: x}}
	r.ErrorType, r.HandlingStrategy, r.AnalyzedSHA, r.AnalyzedAt, r.FirstPublishedAt = x, x, x, x, x
	r.Severity, r.Role, r.Retry, r.Review, r.Status = kb.Severity(x), kb.Role(x), kb.Retry(x), kb.Review(x), kb.Status(x)
	r.FilePath, r.GithubURL, r.SourceCode = x+".ts", to("javascript:alert(1)"), to(x+"\n"+x)
	r.Documentation, r.TriggerScenarios, r.CommonSituations = md, md, md
	r.Solutions, r.PreventionTips, r.ExampleFix = []string{md, "# no heading", "1. no list"}, []string{md}, "// before "+x+"\n"+x+"\n// after\n"+x
	r.ValidationCode, r.TypeGuard, r.TryCatchPattern = &x, &x, &x
	r.Examples.Match = []string{x, strings.Repeat("x", 100_000)}
	r.Tags, r.BackgroundTag = []string{"a b/c?d#e", "concurrency"}, to(`"><script>`)
	return r
}

func testShelf() shelf { return shelf{fullRecord(), plainRecord()} }

func testSite() Site {
	return Site{URL: "https://kb.example.org", Name: "kb", ReportURL: "https://example.org/report", Version: shelf(nil).Version()}
}

// testSchema is the schema of a record, which the OpenAPI document holds.
func testSchema() []byte {
	schema, err := os.ReadFile(filepath.Join("..", "..", "schema", "record.schema.json"))
	if err != nil {
		panic(err)
	}
	return schema
}

func testRenderer(s shelf) *Renderer {
	return New(s, Options{Schema: testSchema(), SiteURL: "https://kb.example.org", ReportURL: "https://example.org/report"})
}

func mustDocument(t *testing.T, doc Document, err error) Document {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
