package lint

import (
	"os"
	"regexp"
	"testing"

	"errorkb/internal/kb"
)

// TestTextsAreRead makes sure that the check reads the code of the bundled
// records: wherever that asks for the text of an error, it finds the test.
func TestTextsAreRead(t *testing.T) {
	sources, findings := kb.ReadDir(os.DirFS("../../records"))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	asks := regexp.MustCompile(`error\.message\b|error as Error\)\.message|result\.stderr\b`)
	read := 0
	for _, s := range sources {
		for field, code := range map[string]*string{
			"validationCode": s.Record.ValidationCode, "typeGuard": s.Record.TypeGuard, "tryCatchPattern": s.Record.TryCatchPattern,
		} {
			if code == nil || !asks.MatchString(*code) {
				continue
			}
			if len(textTests(*code)) == 0 {
				t.Errorf("%s: no test of a text was found in %s:\n%s", s.Record.Slug, field, *code)
			}
			read++
		}
	}
	if read < 40 {
		t.Errorf("only %d pieces of code test a text", read)
	}
}
