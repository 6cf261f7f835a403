package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"errorkb/internal/kb"
	"errorkb/schema"
)

// TestSchemaHasEveryField compares the schema with the Go type: the same
// fields in the same order, and the same choices.
func TestSchemaHasEveryField(t *testing.T) {
	var doc struct {
		Then, Else struct{ Required []string }
		Defs       map[string]struct {
			Properties json.RawMessage
		} `json:"$defs"`
	}
	if err := json.Unmarshal(schema.Record, &doc); err != nil {
		t.Fatal(err)
	}
	for name, typ := range map[string]reflect.Type{
		"record": reflect.TypeFor[kb.Record](), "capture": reflect.TypeFor[kb.Capture](),
		"historicMessage": reflect.TypeFor[kb.HistoricMessage](), "examples": reflect.TypeFor[kb.Examples](),
	} {
		var want []string
		for i := range typ.NumField() {
			want = append(want, typ.Field(i).Tag.Get("json"))
		}
		if got := keysInOrder(t, doc.Defs[name].Properties); !slices.Equal(got, want) {
			t.Errorf("%s: schema has %q, the type %q", name, got, want)
		}
	}
	if len(doc.Then.Required) < 15 || len(doc.Else.Required) <= len(doc.Then.Required) {
		t.Errorf("%d fields required in version 2, %d in version 3", len(doc.Then.Required), len(doc.Else.Required))
	}
	var choices struct {
		Status, Review, Severity, Role, Retry struct{ Enum []string }
	}
	if err := json.Unmarshal(doc.Defs["record"].Properties, &choices); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ got, want []string }{
		{choices.Status.Enum, words(kb.StatusActive, kb.StatusDeprecated, kb.StatusRemoved, kb.StatusWithdrawn)},
		{choices.Review.Enum, words(kb.ReviewGenerated, kb.ReviewUnreviewed, kb.ReviewReviewed)},
		{choices.Severity.Enum, words(kb.SeverityFatal, kb.SeverityError, kb.SeverityWarning, kb.SeverityInfo)},
		{choices.Role.Enum, words(kb.RoleCause, kb.RoleSymptom, kb.RoleWrapper)},
		{choices.Retry.Enum, words(kb.RetryNever, kb.RetrySafe, kb.RetryAfterFix)},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("schema allows %q, the type %q", c.got, c.want)
		}
	}
}

func words[T ~string](values ...T) []string {
	var all []string
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}

func keysInOrder(t *testing.T, object []byte) []string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key.(string))
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}

// breakages each spoil one thing of a record.
var breakages = map[string]func(record map[string]any){
	"syntax":          nil, // cut off
	"missing-field":   func(r map[string]any) { delete(r, "severity") },
	"type":            func(r map[string]any) { r["tags"] = "capacity" },
	"value":           func(r map[string]any) { r["severity"] = "terrible" },
	"unknown-field":   func(r map[string]any) { r["sevrity"] = "error" },
	"schema-version":  func(r map[string]any) { r["schemaVersion"] = 4 },
	"pattern-compile": func(r map[string]any) { r["messagePattern"] = "(" },
	"status-reason":   func(r map[string]any) { r["status"] = "removed" },
	"section-empty":   func(r map[string]any) { r["documentation"] = "" },
	"pattern-example": func(r map[string]any) {
		r["examples"] = map[string]any{"match": []string{`Queue "outgoing" is full after 500 letters.`, "x y z"}, "noMatch": []string{"x y"}}
	},
}

// manyRecords gives n records, each spoilt in one way in turn, and how often
// each way was taken.
func manyRecords(t testing.TB, n int, spoil bool) (fstest.MapFS, map[string]int) {
	t.Helper()
	kinds := slices.Sorted(maps.Keys(breakages))
	want := map[string]int{}
	fsys := fstest.MapFS{}
	var record map[string]any
	if err := json.Unmarshal(base(t), &record); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		r := maps.Clone(record)
		repo := fmt.Sprintf("acme/app%d", i)
		r["repo"], r["id"] = repo, kb.NewID(repo, "", "")
		r["githubUrl"] = nil
		kind := kinds[i%len(kinds)]
		if spoil && breakages[kind] != nil {
			breakages[kind](r)
		}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if source, _ := kb.Decode("", data); source != nil && len(r) == len(record) && reflect.TypeOf(r["tags"]) == reflect.TypeOf(record["tags"]) {
			data = source.Record.Canonical()
		}
		if spoil {
			want[kind]++
			if kind == "syntax" {
				data = data[:len(data)/2]
			}
		}
		fsys[repo+"/queue-full.json"] = &fstest.MapFile{Data: data}
	}
	return fsys, want
}

// TestThousandBroken wants one clear finding for each of a thousand broken
// records.
func TestThousandBroken(t *testing.T) {
	fsys, want := manyRecords(t, 1000, true)
	start := time.Now()
	set, findings := Load(context.Background(), fsys)
	t.Logf("took %v", time.Since(start))
	if set != nil {
		t.Error("a set of broken records was loaded")
	}
	got := map[string]int{}
	files := map[string]int{}
	for _, f := range findings {
		got[f.Code]++
		files[f.File]++
		if files[f.File] > 1 {
			t.Errorf("second finding for one mistake: %s", f)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("findings %v, want %v", got, want)
	}
}

// TestLoadIsDeterministic compares runs over the same files.
func TestLoadIsDeterministic(t *testing.T) {
	fsys, _ := manyRecords(t, 60, true)
	_, first := Load(context.Background(), fsys)
	for range 3 {
		if _, again := Load(context.Background(), fsys); !reflect.DeepEqual(first, again) {
			t.Fatal("findings differ between two runs")
		}
	}
}

func TestLoadInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	fsys, _ := manyRecords(t, 3, false)
	set, findings := Load(ctx, fsys)
	if set != nil || len(findings) != 1 || !strings.Contains(findings[0].Message, "interrupted") {
		t.Errorf("set %v, findings %v", set != nil, findings)
	}
}

// TestSeed lints the version 2 record that the project starts from, as it is
// and as it is imported.
func TestSeed(t *testing.T) {
	shared := os.Getenv("KB_SHARED")
	if shared == "" {
		t.Skip("KB_SHARED is not set: the shared seeds are not at hand")
	}
	data, err := os.ReadFile(filepath.Join(shared, "seeds", "003_d8e77cc2984928fe.txt"))
	if err != nil {
		t.Fatal(err)
	}
	imported, findings := kb.Import(data)
	if len(imported) != 1 || len(findings) > 0 {
		t.Fatalf("imported %d, findings %v", len(imported), findings)
	}
	path, err := kb.Path(imported[0])
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"excerpt-throw", "near-miss-missing", "prose-line", "tag-order"}
	for name, file := range map[string][]byte{"as it is": data, "imported": imported[0].Canonical()} {
		t.Run(name, func(t *testing.T) {
			set, findings := Load(context.Background(), fstest.MapFS{path: {Data: file}})
			if set == nil {
				t.Error("the seed does not load")
			}
			var codes []string
			for _, f := range findings {
				if f.Code != "version-2" {
					codes = append(codes, f.Code)
				}
				if f.Code == "prose-line" && !strings.Contains(f.Message, "3485, and lineNumber is 3546") {
					t.Errorf("prose-line says %q", f.Message)
				}
			}
			if slices.Sort(codes); !slices.Equal(codes, want) {
				t.Errorf("findings %q, want %q", codes, want)
			}
		})
	}
}

// FuzzLint states that any file, patched or raw, is read without a panic and
// that every finding lies inside its file and has a known code.
func FuzzLint(f *testing.F) {
	f.Add(base(f), "", "")
	f.Add([]byte("{"), "", "")
	for _, field := range []string{"messagePattern", "errorMessage", "documentation", "tryCatchPattern", "exampleFix", "sourceCode", "githubUrl", "filePath"} {
		f.Add([]byte(nil), field, "`a` [x](y) <b> \"${q}\" %s (?P<x>.+) src/queue.ts:41 // before\na\n// after\nb")
	}
	plain := base(f)
	f.Fuzz(func(t *testing.T, data []byte, field, value string) {
		if field != "" {
			var r map[string]any
			if err := json.Unmarshal(plain, &r); err != nil {
				t.Fatal(err)
			}
			r[field] = value
			data, _ = json.Marshal(r)
		}
		const file = "acme/mailer/queue-full.json"
		set, findings := Load(context.Background(), fstest.MapFS{file: {Data: data}})
		lines := bytes.Split(data, []byte("\n"))
		for _, finding := range findings {
			if byCode[finding.Code] == nil {
				t.Errorf("unknown code: %v", finding)
			}
			if finding.Line == 0 {
				continue
			}
			if finding.Line > len(lines) || finding.Column < 1 || finding.Column > len(lines[finding.Line-1])+1 {
				t.Errorf("finding outside the file: %v", finding)
			}
		}
		if (set == nil) != kb.HasErrors(findings) {
			t.Errorf("set is there: %v, findings %v", set != nil, findings)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	fsys, _ := manyRecords(b, 500, false)
	b.ResetTimer()
	for range b.N {
		if set, findings := Load(context.Background(), fsys); set == nil {
			b.Fatal(findings)
		}
	}
}

// TestHostileRecords lints records that are made to be slow. Work that grows
// with the square of their size would run into the deadline of go test.
func TestHostileRecords(t *testing.T) {
	const large = 200 << 10
	// json.Marshal writes < in six bytes.
	fill := func(s string) string { return strings.Repeat(s, large/(len(s)+6*strings.Count(s, "<"))) }
	array := func(s string) []string { return strings.Split(strings.Repeat(s+",", large/(len(s)+8)), ",") }
	var constants strings.Builder // each holds the name of the next one twice
	for i := range 60 {
		fmt.Fprintf(&constants, "const c%d = \"c%d c%d\";\n", i, i+1, i+1)
	}
	for name, patch := range map[string]map[string]any{
		"placeholders":       {"errorMessage": fill("${a}"), "schemaVersion": 2, "-captures": 0, "review": "generated"},
		"words and lines":    {"errorMessage": strings.Repeat("some words ", 40_000), "sourceCode": strings.Repeat("x\n", 200_000)},
		"backticks":          {"documentation": fill("` `` ")},
		"brackets":           {"documentation": fill("([")},
		"sentences":          {"documentation": fill("A. b ")},
		"tags in prose":      {"documentation": fill("<a ")},
		"links":              {"documentation": fill("[a](b")},
		"stars":              {"documentation": fill("*a _b ")},
		"tags":               {"tags": array("A")},
		"solutions":          {"solutions": array("Check the logs.")},
		"aliases":            {"aliases": array("queue-full")},
		"example":            {"examples": map[string]any{"match": []string{fill("Queue \"a\" is full after ")}, "noMatch": []string{fill("Queue ")}}},
		"quotes in code":     {"tryCatchPattern": fill("message \"")},
		"tests in code":      {"tryCatchPattern": fill("!/Queue/.test(message) ")},
		"tests and examples": {"tryCatchPattern": fill("/Queue/.test(message); "), "examples": map[string]any{"match": array("Queue \"a\" is full after 2 retries"), "noMatch": []string{"Queue"}}},
		"constants in code":  {"tryCatchPattern": constants.String() + "message.includes(c0)"},
		"fix marks":          {"exampleFix": fill("// before\n")},
		"a cited file":       {"documentation": fill("src/queue.ts:1 ")},
		"unclosed template":  {"errorMessage": fill("${")},
		"printf":             {"errorMessage": fill("%s ")},
		"braces and percent": {"errorMessage": fill("%{ {a")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := json.Marshal(patch)
			if err != nil {
				t.Fatal(err)
			}
			fsys := fstest.MapFS{"acme/mailer/queue-full.json": {Data: patched(t, "acme/mailer/queue-full.json", data)}}
			start := time.Now()
			_, findings := Load(context.Background(), fsys)
			t.Logf("%d findings in %v", len(findings), time.Since(start))
			if len(findings) > 2*kb.MaxFindings || slices.ContainsFunc(findings, func(f kb.Finding) bool { return f.Code == "too-large" }) {
				t.Errorf("%d findings", len(findings))
			}
		})
	}
}
