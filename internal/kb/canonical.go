package kb

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
)

// Canonical gives the canonical form of the record: two-space indent, keys in
// schema order, no HTML escapes, lists never null, final newline. It is always
// of SchemaVersion.
func (r *Record) Canonical() []byte {
	full := *r
	full.SchemaVersion = SchemaVersion
	full.noNull()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(full); err != nil {
		panic("kb: a record cannot be encoded: " + err.Error()) // it has only strings, numbers and lists
	}
	return b.Bytes()
}

// Sum names the content of a record: the SHA-256 of its canonical form.
type Sum [sha256.Size]byte

// Sum gives the sum of the record.
func (r *Record) Sum() Sum { return sha256.Sum256(r.Canonical()) }

// Title is what a record is called: its whole message.
func (r *Record) Title() string { return r.ErrorMessage }

// NewID makes the id of a new record from where its message was first found:
// 16 hex digits of SHA-256. It is computed once at creation and never again.
func NewID(repo, filePath, message string) string {
	sum := sha256.Sum256([]byte(repo + "\x00" + filePath + "\x00" + message))
	return hex.EncodeToString(sum[:8])
}

// The forms of what names a record. They are safe in paths and addresses.
var (
	repoForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,99}/[A-Za-z0-9._-]{1,100}$`)
	slugForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
)

// maxSlug is the longest slug, in bytes.
const maxSlug = 80

// Path gives the place of a record below the records folder,
// owner/name/slug.json. It refuses names that could lead anywhere else.
func Path(r *Record) (string, error) {
	if err := CheckRepo(r.Repo); err != nil {
		return "", err
	}
	if len(r.Slug) > maxSlug || !slugForm.MatchString(r.Slug) {
		return "", fmt.Errorf("slug %q is not of the form my-error-name with at most %d characters", shorten(r.Slug, 100), maxSlug)
	}
	return r.Repo + "/" + r.Slug + ".json", nil
}

// CheckRepo says what is wrong with a repository's name, owner/name.
func CheckRepo(repo string) error {
	owner, name, _ := bytes.Cut([]byte(repo), []byte("/"))
	switch {
	case !repoForm.MatchString(repo):
		return fmt.Errorf("repository %q is not of the form owner/name", shorten(repo, 100))
	case string(name) == "." || string(name) == "..":
		return fmt.Errorf("repository %q has no name", repo)
	case string(owner) == scenariosFolder || string(name) == scenariosFolder:
		return fmt.Errorf("repository %q uses the name of the scenarios folder", repo)
	}
	return nil
}
