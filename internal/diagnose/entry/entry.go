// Package entry makes what the diagnosis knows of records out of records. The diagnosis
// itself is compiled for the browser and does not know what reads them.
package entry

import (
	"errorkb/internal/diagnose"
	"errorkb/internal/kb"
)

// Of is the entry of a record whose page is at url.
func Of(r *kb.Record, url string) diagnose.Entry {
	e := diagnose.Entry{
		Ref: diagnose.Ref{
			ID: r.ID, Repo: r.Repo, Slug: r.Slug, Title: r.ErrorMessage, URL: url,
			Severity: string(r.Severity), Role: string(r.Role), Status: string(r.Status),
		},
		Aliases:   r.Aliases,
		Template:  r.ErrorMessage,
		Pattern:   r.MessagePattern,
		Solutions: r.Solutions,
	}
	if r.ErrorCode != nil {
		e.Code = *r.ErrorCode
	}
	if r.ErrorClass != nil {
		e.Class = *r.ErrorClass
	}
	for _, h := range r.MessageHistory {
		e.History = append(e.History, diagnose.Wording{Template: h.ErrorMessage, Pattern: h.MessagePattern, Until: h.Until})
	}
	return e
}
