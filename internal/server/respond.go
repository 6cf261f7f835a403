package server

import (
	"net/http"
	"strconv"
	"strings"
)

// answer is what a request gets. A handler decides it, respond sends it; so
// everything is in memory before the first byte goes out, and a failure on the
// way still has its own status.
type answer struct {
	status      int
	contentType string
	body        *body
	location    string // of a redirect
	cache       string // Cache-Control; "" means cacheRevalidate
	link        string // address of the next page
	allow       string // methods, of a 405
	retryAfter  int    // seconds
	// stream writes an answer that is not known at its start, in place of a
	// body. It is not encoded, so that each part can be read when it is sent.
	stream func(w http.ResponseWriter)
}

// How long an answer may be kept.
const (
	// cacheRevalidate lets a copy be kept but asked about each time: the data
	// set can change at any moment, and a 304 costs next to nothing.
	cacheRevalidate = "no-cache"
	// cacheForever is for addresses that hold a hash of their content.
	cacheForever = "public, max-age=31536000, immutable"
	// cacheNever is for answers to what somebody pasted.
	cacheNever = "no-store"
	// cacheRedirect keeps a wrong redirect from living for ever in browsers.
	cacheRedirect = "public, max-age=3600"
)

// respond sends an answer.
func respond(w http.ResponseWriter, r *http.Request, a answer) {
	h := w.Header()
	h.Set("Cache-Control", a.cache)
	if a.cache == "" {
		h.Set("Cache-Control", cacheRevalidate)
	}
	setHeader(h, "Location", a.location)
	setHeader(h, "Allow", a.allow)
	if a.link != "" {
		h.Set("Link", "<"+a.link+`>; rel="next"`)
	}
	if a.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(a.retryAfter))
	}
	if a.stream != nil {
		h.Set("Content-Type", a.contentType)
		h.Set("X-Accel-Buffering", "no") // asks a proxy to pass it on at once
		w.WriteHeader(a.status)
		a.stream(w)
		return
	}
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	e := identity
	if len(a.body.raw) >= minEncoded && compressible(a.contentType) {
		h.Add("Vary", "Accept-Encoding")
		e = choose(strings.Join(r.Header.Values("Accept-Encoding"), ","))
	}
	if a.status == http.StatusOK && a.cache != cacheNever {
		h.Set("ETag", a.body.etag(e))
		if tag, found := matchingTag(r.Header.Values("If-None-Match"), a.body); found {
			h.Set("ETag", tag)
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	content := a.body.in(e)
	h.Set("Content-Type", a.contentType)
	h.Set("Content-Length", strconv.Itoa(len(content)))
	if e != identity {
		h.Set("Content-Encoding", encodingNames[e])
	}
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		// Whoever hangs up in the middle gets nothing more; there is nobody
		// left to tell.
		w.Write(content)
	}
}

func setHeader(h http.Header, name, value string) {
	if value != "" {
		h.Set(name, value)
	}
}

// matchingTag finds the tag of an If-None-Match or If-Match header that names
// the body in any encoding: whichever copy a client has, it is still good. "*"
// names every body.
func matchingTag(headers []string, b *body) (string, bool) {
	for _, header := range headers {
		for tag := range strings.SplitSeq(header, ",") {
			tag = strings.TrimSpace(tag)
			if tag == "*" {
				return b.etag(identity), true
			}
			// A proxy that encodes anew weakens the tag.
			tag = strings.TrimPrefix(tag, "W/")
			for e := range encodings {
				if tag == b.etag(e) {
					return tag, true
				}
			}
		}
	}
	return "", false
}
