package main

import (
	"context"
	"net/url"
	"strings"

	"errorkb/internal/diagnose"
	"errorkb/internal/kb"
	"errorkb/internal/render"
)

// findRecords looks for the records that a person means by a word: an id, an
// address, a slug, an alias, a code, or the message itself. Several records
// come back when they share a slug, an alias or a code.
func findRecords(ctx context.Context, set *kb.Set, word string) ([]*kb.Record, error) {
	if found := named(set, word); len(found) > 0 {
		return found, nil
	}
	return byMessage(ctx, set, word)
}

// named gives the records with a name, of the first kind of name that fits.
func named(set *kb.Set, word string) []*kb.Record {
	word = strings.TrimSpace(word)
	key := keyOf(word)
	for _, is := range []func(r *kb.Record) bool{
		func(r *kb.Record) bool { return r.ID == strings.ToLower(key) },
		func(r *kb.Record) bool { return r.Repo+"/"+r.Slug == key },
		func(r *kb.Record) bool { return r.Slug == key },
		func(r *kb.Record) bool { return r.ErrorCode != nil && strings.EqualFold(*r.ErrorCode, key) },
		func(r *kb.Record) bool { return hasAlias(r, key) },
		func(r *kb.Record) bool { return r.ErrorMessage == word },
	} {
		var found []*kb.Record
		for _, r := range set.Records {
			if is(r) {
				found = append(found, r)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// keyOf takes the id or slug out of the address of a page or a JSON answer,
// and leaves every other word as it is.
func keyOf(word string) string {
	if !strings.Contains(word, "/") {
		return word
	}
	u, err := url.Parse(word)
	if err != nil {
		return word
	}
	for _, place := range []render.Place{render.PlaceAPIErrors, render.PlaceErrors} {
		prefix := strings.TrimSuffix(render.Base("").Address(place), "/") + "/"
		if _, key, found := strings.Cut(u.Path, prefix); found {
			return strings.TrimSuffix(key, "/")
		}
	}
	return word
}

func hasAlias(r *kb.Record, key string) bool {
	for _, alias := range r.Aliases {
		if strings.EqualFold(alias, key) {
			return true
		}
	}
	return false
}

// byMessage diagnoses the word as a pasted message.
func byMessage(ctx context.Context, set *kb.Set, text string) ([]*kb.Record, error) {
	engine, err := newEngine(set, "")
	if err != nil {
		return nil, err
	}
	result := engine.Diagnose(ctx, []byte(text), diagnose.Options{})
	if result.Verdict == diagnose.VerdictUnknown || len(result.Diagnoses) == 0 {
		return nil, ctx.Err()
	}
	for _, r := range set.Records {
		if r.ID == result.Diagnoses[0].Record.ID {
			return []*kb.Record{r}, nil
		}
	}
	return nil, nil
}
