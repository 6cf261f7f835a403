package diagnose_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"errorkb/internal/diagnose"
)

func TestMask(t *testing.T) {
	// Made-up secrets, put together here so that no scanner takes them for real ones.
	token := "ghp_" + strings.Repeat("a1B2", 9)
	jwt := "eyJ" + strings.Repeat("hbGci", 8) + "." + strings.Repeat("x", 20)
	for _, c := range []struct{ in, want string }{
		{"nothing here: key value, passwords are bad", "nothing here: key value, passwords are bad"},
		{"postgres://app:s3cr%3Ft@db:5432/x", "postgres://app:[masked password]@db:5432/x"},
		{"http://host:80/a@b", "http://host:80/a@b"},
		{"password=hunter22 user=x", "password=[masked password] user=x"},
		{`{"password": "hun\"ter22", "a": 1}`, `{"password": "[masked password]", "a": 1}`},
		{`{\"token\":\"abcdefgh\"}`, `{\"token\":\"[masked token]\"}`},
		{"DB_PASSWORD: hunter22", "DB_PASSWORD: [masked password]"},
		{"password=${DB_PASSWORD}", "password=${DB_PASSWORD}"},
		{"(using password: YES)", "(using password: YES)"},
		{"Authorization: Bearer " + jwt, "Authorization: Bearer [masked token]"},
		{"pushed with " + token + ".", "pushed with [masked token]"},
		{"Cookie: a=b; c=d\nnext", "Cookie: [masked cookie]\nnext"},
		{"mail jane.doe@example.org now", "mail [masked e-mail] now"},
		{"left-pad@1.2.3 and user@host and @scope/pkg@next", "left-pad@1.2.3 and user@host and @scope/pkg@next"},
		{"?sv=1&sig=MADEUPsignature%3D&se=2", "?sv=1&sig=[masked key]&se=2"},
		{"-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----[masked key]-----END RSA PRIVATE KEY-----"},
	} {
		if got := string(diagnose.Mask([]byte(c.in))); got != c.want {
			t.Errorf("%q gives %q, want %q", c.in, got, c.want)
		}
	}
}

// Masking what stands around a message does not change the verdict.
func TestMaskKeepsVerdict(t *testing.T) {
	engine := seedEngine(t)
	text := "2026-08-21T17:58:32Z ERROR dsn=postgres://app:s3cret99@db/x token=abcdefgh12 by jane@example.org: Environment driver \"ssh\" does not support duplex channels.\n"
	masked := diagnose.Mask([]byte(text))
	if bytes.Equal(masked, []byte(text)) || bytes.Contains(masked, []byte("s3cret99")) || bytes.Contains(masked, []byte("jane@")) {
		t.Fatalf("masked: %q", masked)
	}
	a := engine.Diagnose(context.Background(), []byte(text), diagnose.Options{})
	b := engine.Diagnose(context.Background(), masked, diagnose.Options{})
	if a.Verdict != diagnose.VerdictKnown || b.Verdict != a.Verdict || a.Diagnoses[0].Record.ID != b.Diagnoses[0].Record.ID {
		t.Errorf("%s became %s", ids(&a), ids(&b))
	}
}

// Masking twice changes nothing, and secrets are stretches of the text in
// order.
func FuzzMask(f *testing.F) {
	f.Add([]byte("password=hunter22 postgres://a:b@c/ x@example.org -----BEGIN PRIVATE KEY-----"))
	f.Add([]byte(`{"token":"\"abcdef","pwd":'x`))
	f.Fuzz(func(t *testing.T, text []byte) {
		last := 0
		for _, s := range diagnose.Secrets(text) {
			if s.Start < last || s.End <= s.Start || s.End > len(text) {
				t.Fatalf("%q: %v behind %d", text, s, last)
			}
			last = s.End
		}
		diagnose.Mask(text)
	})
}
