package search

import (
	"fmt"
	"slices"
	"testing"

	"errorkb/internal/kb"
	"errorkb/records"
)

func ptr(s string) *string { return &s }

// made is a made-up record.
func made(n int, repo, slug, message string, change func(*kb.Record)) *kb.Record {
	r := &kb.Record{
		SchemaVersion: kb.SchemaVersion, ID: fmt.Sprintf("%016x", 0xc0de0000+n), Repo: repo, Slug: slug,
		Aliases: []string{}, Status: kb.StatusActive, Review: kb.ReviewReviewed, ErrorMessage: message,
		Severity: kb.SeverityError, Role: kb.RoleCause, Retry: kb.RetryAfterFix, FilePath: "src/" + slug + ".go",
		Tags: []string{}, Examples: kb.Examples{Match: []string{message}, NoMatch: []string{}},
		ContentChangedAt: "2026-01-01T00:00:00Z",
	}
	change(r)
	return r
}

// steady are the bundled records that the cases are about. The set of all
// bundled ones grows, and would move the ranking with every new record.
var steady = map[string]bool{
	"fbc48e17530ae3db": true, "ec727a874bad4398": true, "76cd561cc94f654d": true,
	"2cc91d4b712d79f6": true, "aac633ea169db74f": true,
}

// bundled are records of the project.
func bundled(t testing.TB) []*kb.Record {
	t.Helper()
	sources, findings := kb.ReadDir(records.FS)
	for _, f := range findings {
		if f.Severity == kb.FindingError {
			t.Fatal(f)
		}
	}
	sources = slices.DeleteFunc(sources, func(s *kb.Source) bool { return !steady[s.Record.ID] })
	if len(sources) != len(steady) {
		t.Fatalf("%d of the %d steady records are bundled", len(sources), len(steady))
	}
	return kb.NewSet(sources).Records
}

// testSet is made-up records of other kinds of software beside the bundled
// ones, so that ranking has something to choose from.
func testSet(t testing.TB) *kb.Set {
	return kb.NewSetOf(append(bundled(t),
		made(1, "acme/db", "deadlock-detected", "deadlock detected", func(r *kb.Record) {
			r.ErrorCode, r.ErrorClass, r.Tags = ptr("40P01"), ptr("DeadlockError"), []string{"locking", "transaction"}
			r.Documentation = "Two transactions wait for each other's locks. The database ends one of them. See [the manual](https://example.org/locks) on **lock order**."
			r.Solutions = []string{"Take locks in the same order in every transaction.", "Retry the transaction that was ended."}
			r.BackgroundTag = ptr("lock-order")
		}),
		made(2, "acme/db", "lock-timeout", "canceling statement due to lock timeout", func(r *kb.Record) {
			r.ErrorCode, r.Tags = ptr("55P03"), []string{"locking", "timeout"}
			r.Documentation = "A statement waited longer than `lock_timeout` for a lock. It is not a deadlock."
			r.Solutions = []string{"Find the transaction that holds the lock and end it."}
			r.BackgroundTag, r.Severity = ptr("timeout"), kb.SeverityWarning
		}),
		made(3, "acme/web", "certificate-expired", "x509: certificate has expired or is not yet valid", func(r *kb.Record) {
			r.ErrorClass, r.Aliases, r.Tags = ptr("CertificateInvalidError"), []string{"CERT_HAS_EXPIRED"}, []string{"certificate", "tls"}
			r.Documentation = "The clock of the client lies outside the time for which the certificate is valid."
			r.Symbol = ptr("verifyPeerCertificate")
			r.Solutions = []string{"Renew the certificate.", "Set the clock."}
		}),
		made(4, "acme/web", "connection-refused", "connect ECONNREFUSED ${address}:${port}", func(r *kb.Record) {
			r.ErrorCode, r.Tags = ptr("ECONNREFUSED"), []string{"network"}
			r.Documentation = "Nothing listens at the address. The channel was never opened."
			r.FilePath, r.LineNumber = "lib/net/tcp-socket.js", new(int)
			r.Solutions = []string{"Start the server, or mend the port."}
			r.CommonSituations = "A container that uses `localhost` for another container."
		}),
		made(5, "acme/web", "connection-reset", "read ECONNRESET", func(r *kb.Record) {
			r.ErrorCode, r.Tags, r.Severity = ptr("ECONNRESET"), []string{"network"}, kb.SeverityWarning
			r.Documentation = "The other side closed the connection."
		}),
		made(6, "acme/web", "not-found", "resource not found", func(r *kb.Record) {
			status := 404
			r.HTTPStatus, r.ErrorClass = &status, ptr("NotFoundError")
			r.Documentation = "No resource has this address."
			r.MessageHistory = []kb.HistoricMessage{{ErrorMessage: "entity is missing", Until: "2.0"}}
		}),
		made(7, "acme/lang", "mismatched-types", "mismatched types", func(r *kb.Record) {
			r.ErrorCode, r.Documentation = ptr("E0308"), "An expression has another type than is expected."
		}),
		made(8, "acme/lang", "trait-bound", "the trait bound `${ty}: ${trait}` is not satisfied", func(r *kb.Record) {
			r.ErrorCode, r.Documentation = ptr("E0277"), "A type lacks a trait that is needed."
			r.Status, r.StatusReason = kb.StatusDeprecated, ptr("split in two")
		}),
		made(9, "acme/lang", "lifetime", "borrowed value does not live long enough", func(r *kb.Record) {
			r.ErrorCode, r.Documentation = ptr("E0597"), "A reference outlives its value. Über-lange Lebensdauer, naïve borrowing."
		}),
		made(10, "acme/web", "markup", `unexpected <script>alert("1")</script> & more`, func(r *kb.Record) {
			r.Documentation = "Markup in *text*: <b>bold</b> & `<i>`."
		}),
	)...)
}

func memory(t testing.TB, set *kb.Set) *Index {
	t.Helper()
	x, err := OpenMemory(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func find(t testing.TB, x *Index, q kb.Query) kb.SearchResult {
	t.Helper()
	result, err := x.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("search %q: %v", q.Text, err)
	}
	return result
}
