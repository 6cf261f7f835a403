package render

import (
	"context"
	"fmt"
	"slices"

	"errorkb/internal/kb"
)

// SourcePageView is a file of the runtime that the proof points to.
type SourcePageView struct {
	Layout Layout
	File   string
	Intro  string
	Raises []RaiseView
	Code   Code
	Report string
}

// RaiseView is a line that can raise an error.
type RaiseView struct {
	Line    int
	Message string
	URL     string // of the record that documents it, "" for none
	Symbol  string
	Why     string // it needs no record
}

func (r *Renderer) sourcePage(ctx context.Context, file string) (Document, error) {
	text, have := r.proof.texts[file]
	if !have {
		return Document{}, fmt.Errorf("%w: source file %q", kb.ErrNotFound, file)
	}
	names := r.namer(ctx)
	v := NewSourcePageView(r.site, r.proof.Proof, file, text, names)
	if names.err != nil {
		return Document{}, names.err
	}
	return ok(ctx, SourcePage(v))
}

// NewSourcePageView makes the page of a file.
func NewSourcePageView(site Site, proof *kb.Proof, file, text string, names *namer) SourcePageView {
	v := SourcePageView{File: visible(file), Report: site.To(PlaceProof), Code: newCode(text, languageOf(file)).numbered(1, 0)}
	v.Code.Anchors = true
	for _, place := range proof.Places {
		if place.File != file || place.Line < 1 || place.Line > len(v.Code.Lines) {
			continue
		}
		v.Raises = append(v.Raises, raiseView(place, names))
		v.Code.Lines[place.Line-1].Marked = true
	}
	// A place that evidence names is marked though nobody listed it.
	for _, e := range proof.Records {
		at := e.Emitted.Place
		if at.File == file && at.Line > 0 && at.Line <= len(v.Code.Lines) && !v.Code.Lines[at.Line-1].Marked {
			known := names.of(e.Record)
			v.Raises = append(v.Raises, RaiseView{Line: at.Line, Message: known.Label, URL: known.URL, Symbol: visible(at.Symbol)})
			v.Code.Lines[at.Line-1].Marked = true
		}
	}
	slices.SortStableFunc(v.Raises, func(a, b RaiseView) int { return a.Line - b.Line })
	v.Intro = "A file of the reference runtime, " + plural(len(v.Code.Lines), "line", "lines") + " long."
	switch n := len(v.Raises); n {
	case 0:
	case 1:
		v.Intro += " One of them, marked, can raise an error."
	default:
		v.Intro += " Errors can be raised at " + thousands(n) + " places, which are marked."
	}
	v.Layout = site.layout(PlaceSource, v.File, v.Intro)
	v.Layout.Canonical = site.To(PlaceSource, file)
	return v
}

func raiseView(place kb.RaisePlace, names *namer) RaiseView {
	v := RaiseView{Line: place.Line, Message: visible(place.Message), Symbol: visible(place.Symbol)}
	if place.Record != nil {
		known := names.of(*place.Record)
		v.Message, v.URL = known.Label, known.URL
	}
	if place.Exemption != nil {
		v.Why = sentence(visible(*place.Exemption))
	}
	if v.Message == "" {
		v.Message = "the message of another error"
	}
	return v
}
