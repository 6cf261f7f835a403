package diagnose_test

import (
	"strings"
	"testing"

	"errorkb/internal/diagnose"
)

// Paths of Windows hold what looks like escapes.
func TestPathsOfWindows(t *testing.T) {
	engine, err := diagnose.New("test", []diagnose.Entry{{
		Ref: diagnose.Ref{ID: "esm", Repo: "o/r", Slug: "esm"}, Template: "require() of ES Module ${file} from ${parent} not supported.",
		Pattern: `require\(\) of ES Module (?P<file>.+?) from (?P<parent>.+?) not supported\.`,
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		`C:\proj\node_modules\chalk\index.js`, `C:\temp\new\bin\root.js`, `d:\src\node\x.js`, `C:\Users\Jane Doe\new\t.js`, `E:\x41\u0041\n.js`,
	} {
		message := "require() of ES Module " + path + " from " + path + " not supported."
		for name, text := range map[string]string{
			"bare":       "Error: " + message + "\n    at Object.<anonymous> (" + path + ":1:15) {\n  code: 'ERR_REQUIRE_ESM'\n}",
			"json":       `{"level":"error","msg":` + quoted(message) + `}`,
			"json twice": `{"log":` + quoted(`{"msg":`+quoted(message)+`}`) + `}`,
		} {
			a := engine.Diagnose(t.Context(), []byte(text), diagnose.Options{})
			if len(a.Diagnoses) != 1 || len(a.Diagnoses[0].Evidence[0].Captures) != 2 {
				t.Fatalf("%s of %s: %+v", name, path, a.Diagnoses)
			}
			for _, c := range a.Diagnoses[0].Evidence[0].Captures {
				if c.Value != path {
					t.Errorf("%s: %s is %q, want %q", name, c.Name, c.Value, path)
				}
			}
		}
	}
	// What follows a colon is a line end all the same.
	text := `{"msg":"step b:\nrequire() of ES Module /a from /b not supported."}`
	if a := engine.Diagnose(t.Context(), []byte(text), diagnose.Options{}); len(a.Diagnoses) != 1 || a.Diagnoses[0].Evidence[0].Captures[0].Value != "/a" {
		t.Errorf("%s: %+v", text, a.Diagnoses)
	}
}

// The level and the day that a log line begins with have the shape of a code.
func TestDayOfLogIsNoCode(t *testing.T) {
	engine, err := diagnose.New("test", []diagnose.Entry{{
		Ref: diagnose.Ref{ID: "vis", Repo: "o/r", Slug: "vis"}, Code: "E0704", Template: "incorrect visibility restriction", Pattern: "incorrect visibility restriction",
	}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		"E0704 09:12:01.123456   41234 memcache.go:265] nothing to see": 0,
		"error[E0704]: something about pub(foo)":                        1,
		"what does E0704 mean?":                                         1,
	} {
		if a := engine.Diagnose(t.Context(), []byte(text), diagnose.Options{}); len(a.Diagnoses) != want {
			t.Errorf("%q: %d diagnoses, want %d: %+v", text, len(a.Diagnoses), want, a.Diagnoses)
		}
	}
}

// The words of a sentence in a value speak against a short message, those of a
// title do not.
func TestTitleIsAValue(t *testing.T) {
	engine, err := diagnose.New("test", []diagnose.Entry{{
		Ref: diagnose.Ref{ID: "start", Repo: "o/r", Slug: "start"}, Template: "Failed to start ${unit}.", Pattern: `Failed to start (?P<unit>.+?)\.`,
	}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		"Jun 03 10:00:01 web1 systemd[1]: Failed to start A high performance web server and a reverse proxy server.": 1,
		"Failed to start because of some old thing that nobody wanted to look at.":                                   0,
	} {
		if a := engine.Diagnose(t.Context(), []byte(text), diagnose.Options{}); len(a.Diagnoses) != want {
			t.Errorf("%q: %d diagnoses, want %d", text, len(a.Diagnoses), want)
		}
	}
}

// What is said beside an error comes after it, however much longer it is.
func TestDetailsComeAfterTheError(t *testing.T) {
	engine, err := diagnose.New("test", []diagnose.Entry{
		{Ref: diagnose.Ref{ID: "waits", Repo: "o/r", Slug: "waits"}, Template: "Process ${pid} waits for ${lock}; blocked by process ${other}."},
		{Ref: diagnose.Ref{ID: "dead", Repo: "o/r", Slug: "dead"}, Template: "deadlock detected"},
		{Ref: diagnose.Ref{ID: "perhaps", Repo: "o/r", Slug: "perhaps"}, Template: `Perhaps you meant to reference the column "${name}".`},
	})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"ERROR:  deadlock detected\nDETAIL:  Process 21 waits for ShareLock on transaction 900; blocked by process 22.": "dead waits",
		`{"message":"deadlock detected","hint":"Perhaps you meant to reference the column \"a.b\"."}`:                   "dead perhaps",
		"DETAIL:  Process 21 waits for ShareLock on transaction 900; blocked by process 22.":                            "waits",
		"Process 21 waits for ShareLock on transaction 900; blocked by process 22.\ndeadlock detected":                  "waits dead",
	} {
		a := engine.Diagnose(t.Context(), []byte(text), diagnose.Options{})
		var got []string
		for _, d := range a.Diagnoses {
			got = append(got, d.Record.ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}
