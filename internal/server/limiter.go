package server

import (
	"math"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxClients bounds the clients that are remembered. When there are more, all
// are forgotten at once: that is rare, cheap, and errs on the friendly side.
const maxClients = 10_000

// limiter bounds how often one client may ask. A nil limiter does not.
type limiter struct {
	mu      sync.Mutex
	rate    rate.Limit
	burst   int
	clients map[string]*rate.Limiter
}

// newLimiter allows perSecond requests to each client, and none is unlimited.
// A client may save up ten seconds' worth, since a page comes with its files.
func newLimiter(perSecond float64) *limiter {
	if perSecond <= 0 {
		return nil
	}
	return &limiter{rate: rate.Limit(perSecond), burst: max(1, int(10*perSecond)), clients: map[string]*rate.Limiter{}}
}

// allow reports whether a client may ask now, or else in how many seconds.
func (l *limiter) allow(client string, now time.Time) (wait int, ok bool) {
	if l == nil {
		return 0, true
	}
	client = network(client)
	l.mu.Lock()
	bucket, known := l.clients[client]
	if !known {
		if len(l.clients) >= maxClients {
			clear(l.clients)
		}
		bucket = rate.NewLimiter(l.rate, l.burst)
		l.clients[client] = bucket
	}
	l.mu.Unlock()
	if bucket.AllowN(now, 1) {
		return 0, true
	}
	missing := 1 - bucket.TokensAt(now)
	return max(1, int(math.Ceil(missing/float64(l.rate)))), false
}

// network is what counts as one client: an IPv4 address, or the /64 of an IPv6
// address, all of which usually belong to one subscriber.
func network(client string) string {
	address, err := netip.ParseAddr(client)
	if err != nil {
		return client
	}
	address = address.Unmap()
	if address.Is4() {
		return address.String()
	}
	prefix, err := address.Prefix(64)
	if err != nil {
		return client
	}
	return prefix.String()
}
