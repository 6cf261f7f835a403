package server

import (
	"container/list"
	"sync"

	"errorkb/internal/render"
)

// cache keeps documents with their encodings in memory, the last used ones.
// Only addresses that exist get in, so no visitor can flood it.
type cache struct {
	mu      sync.Mutex
	limit   int // bytes
	size    int
	entries map[string]*list.Element // of *cached
	recent  *list.List               // last used first
	large   map[string]*cached       // kept whatever their size
}

// cached is a document that is sent again and again.
type cached struct {
	address  string
	document render.Document
	body     *body
	size     int
}

func newCache(limit int) *cache {
	return &cache{limit: limit, entries: map[string]*list.Element{}, recent: list.New(), large: map[string]*cached{}}
}

func (c *cache) get(address string) (*cached, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry, found := c.large[address]; found {
		return entry, true
	}
	element, found := c.entries[address]
	if !found {
		return nil, false
	}
	c.recent.MoveToFront(element)
	return element.Value.(*cached), true
}

// put keeps a document. Its encodings are made later and count as much as the
// document itself, which is more than they ever take. Documents of more than a
// quarter of the cache are those of the whole data set, a handful: they are
// kept apart and for good, as making them is what costs most.
func (c *cache) put(address string, document render.Document) *cached {
	entry := &cached{address: address, document: document, body: newBody(document.Body)}
	entry.size = 2*len(document.Body) + len(address) + 512
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry.size > c.limit/4 {
		if other, found := c.large[address]; found {
			return other
		}
		c.large[address] = entry
		return entry
	}
	if element, found := c.entries[address]; found {
		return element.Value.(*cached) // made by another request meanwhile
	}
	c.entries[address] = c.recent.PushFront(entry)
	c.size += entry.size
	for c.size > c.limit {
		oldest := c.recent.Back()
		c.recent.Remove(oldest)
		delete(c.entries, oldest.Value.(*cached).address)
		c.size -= oldest.Value.(*cached).size
	}
	return entry
}

// bytes is how much the cache holds.
func (c *cache) bytes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	size := c.size
	for _, entry := range c.large {
		size += entry.size
	}
	return size
}
