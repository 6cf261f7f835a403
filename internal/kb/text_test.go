package kb

import (
	"reflect"
	"testing"
)

func TestSummary(t *testing.T) {
	for _, test := range []struct{ markdown, want string }{
		{"", ""},
		{"One sentence", "One sentence"},
		{"First one. Second one.", "First one."},
		{"Is it? Yes.", "Is it?"},
		{"The file `a.b. C` is **not** there. More.", "The file a.b. C is not there."},
		{"See [the *manual*](https://example.com/a.b) of v1.2.3 first. Then go.", "See the manual of v1.2.3 first."},
		{"Some files, e.g. Makefiles, are read. More.", "Some files, e.g. Makefiles, are read."},
		{"It ends (see there. Or not) here. More.", "It ends (see there. Or not) here."},
		{"He said \"no.\" Then he left.", "He said \"no.\""},
		{"# Heading\n\nText under\nit. More.", "Text under it."},
		{"```\ncode. Code.\n```\nText.", "Text."},
		{"- item one. More.\n- item two", "item one."},
		{"3. third\n4. fourth", "third"},
		{"> quoted text", "quoted text"},
		{"snake_case_name stays, _emphasis_ goes, 2 * 3 * 4 stays.", "snake_case_name stays, emphasis goes, 2 * 3 * 4 stays."},
		{`Escaped \*stars\* stay.`, "Escaped *stars* stay."},
		{"<https://example.com> is shown.", "https://example.com is shown."},
		{"![picture of a door](x.png) follows.", "picture of a door follows."},
		{"``a ` b`` has a tick.", "a ` b has a tick."},
		{"Ends with ellipsis... and goes on. New.", "Ends with ellipsis... and goes on."},
	} {
		if got := Summary(test.markdown); got != test.want {
			t.Errorf("%q: got %q, want %q", test.markdown, got, test.want)
		}
	}
}

func TestSentences(t *testing.T) {
	got := Sentences("# No\nOne. Two\nis long!\n\n- Three\n- Four. Five")
	want := []string{"One.", "Two is long!", "Three", "Four.", "Five"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPlaceholders(t *testing.T) {
	for _, test := range []struct {
		message string
		want    []string
	}{
		{"Nothing here.", nil},
		{`Driver "${driver.driver}" and ${f({a: 1})}.`, []string{"${driver.driver}", "${f({a: 1})}"}},
		{"${open and nothing", nil},
		{"open %s: line %d is %q, 100%% sure", []string{"%s", "%d", "%q"}},
		{"100% sure", nil},
		{"{} of {0} and {name} but not { x } or {a b}", []string{"{}", "{0}", "{name}"}},
		{"${a} wins over {b} and %s", []string{"${a}"}},
	} {
		if got := Placeholders(test.message); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q: got %q, want %q", test.message, got, test.want)
		}
	}
}

func TestCaptureName(t *testing.T) {
	for placeholder, want := range map[string]string{
		"${driver.driver}":             "driver",
		"${pluginId}":                  "pluginId",
		"${formatError(err)}":          "err",
		`${names.join(", ")}`:          "names",
		"${String(value)}":             "value",
		"${a?.b ?? c}":                 "c",
		"${1 + 2}":                     "value",
		"%s":                           "value",
		"{}":                           "value",
		"{name}":                       "name",
		"{0}":                          "value",
		"${JSON.stringify(x.y)}":       "y",
		"${response.headers['x-key']}": "headers",
	} {
		if got := CaptureName(placeholder); got != want {
			t.Errorf("%s: got %s, want %s", placeholder, got, want)
		}
	}
}

func TestFindingString(t *testing.T) {
	f := Finding{File: "a/b/c.json", Line: 3, Column: 5, Field: "tags", Code: "tag-order", Message: "are not sorted", Advice: "sort them"}
	if got, want := f.String(), "a/b/c.json:3:5: [tag-order] tags: are not sorted; sort them"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	f = Finding{File: "a.json", Code: "too-large", Message: "too many bytes"}
	if got, want := f.String(), "a.json: [too-large] too many bytes"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSplitFix(t *testing.T) {
	for _, test := range []struct {
		code string
		want Fix
		ok   bool
	}{
		{"// before\na();\n\n// after\nb();", Fix{Before: "a();", After: "b();"}, true},
		{"// before\n// After a restart it fails.\na();\n// after (in the worker)\nb();\n", Fix{Before: "// After a restart it fails.\na();", After: "b();", AfterNote: "in the worker"}, true},
		{"# Before: with a lock\na()\n  # After - without\n  b()", Fix{Before: "a()", After: "  b()", BeforeNote: "with a lock", AfterNote: "without"}, true},
		{"/* before */\na\n/* after */\nb", Fix{Before: "a", After: "b"}, true},
		{"// before\n// after", Fix{}, true},
		{"// after\nb\n// before\na", Fix{}, false},
		{"a();", Fix{}, false},
		{"", Fix{}, false},
	} {
		if got, ok := SplitFix(test.code); got != test.want || ok != test.ok {
			t.Errorf("%q: got %+v, %v, want %+v, %v", test.code, got, ok, test.want, test.ok)
		}
	}
}
