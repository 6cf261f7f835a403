package server

import (
	"bytes"
	"fmt"
	"testing"

	"errorkb/internal/render"
)

func documentOf(size int) render.Document {
	return render.Document{Status: 200, ContentType: "text/plain", Body: bytes.Repeat([]byte("x"), size)}
}

// TestCacheKeepsWhatIsUsed fills a cache many times over, while one document
// is asked for again and again.
func TestCacheKeepsWhatIsUsed(t *testing.T) {
	const limit = 100_000
	c := newCache(limit)
	used := c.put("/used", documentOf(1000))
	for i := range 500 {
		c.put(fmt.Sprint("/", i), documentOf(1000))
		if got, found := c.get("/used"); !found || got != used {
			t.Fatalf("after %d others, the document in use is gone", i+1)
		}
		if c.bytes() > limit {
			t.Fatalf("the cache holds %d bytes", c.bytes())
		}
	}
	if _, found := c.get("/0"); found {
		t.Error("a document that nobody asks for is kept")
	}
	if _, found := c.get("/499"); !found {
		t.Error("the last document is not kept")
	}
	if len(c.entries) != c.recent.Len() || c.recent.Len() < 10 {
		t.Errorf("%d entries, %d in order", len(c.entries), c.recent.Len())
	}
}

// TestCacheKeepsLargeDocumentsApart: one that is nearly as large as the cache
// pushes out no other.
func TestCacheKeepsLargeDocumentsApart(t *testing.T) {
	c := newCache(100_000)
	c.put("/small", documentOf(100))
	large := c.put("/large", documentOf(90_000))
	for i := range 200 {
		c.put(fmt.Sprint("/", i%20), documentOf(1000))
	}
	if _, found := c.get("/small"); !found {
		t.Error("the small document is gone")
	}
	if got, found := c.get("/large"); !found || got != large || c.put("/large", documentOf(90_000)) != large {
		t.Error("the large document is gone, or was made twice")
	}
}

// TestCacheMakesOneEntry: two requests that make the same document at once end
// with one entry, whose encodings both share.
func TestCacheMakesOneEntry(t *testing.T) {
	c := newCache(100_000)
	first := c.put("/a", documentOf(10))
	if second := c.put("/a", documentOf(10)); second != first || c.bytes() != first.size {
		t.Errorf("two entries, %d bytes", c.bytes())
	}
}
