package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"mime"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// encoding is a content coding that this server offers.
type encoding int

// The codings. Where a client likes several equally, brotli comes first: it is
// the smallest for documents of this size.
const (
	identity encoding = iota
	brotliCoding
	zstdCoding
	gzipCoding

	encodings
)

var encodingNames = [encodings]string{"identity", "br", "zstd", "gzip"}

// minEncoded is the size below which coding does not pay: the answer fits into
// one packet anyhow.
const minEncoded = 512

// body is the content of an answer and, once asked for, its encodings.
type body struct {
	raw  []byte
	hash string // of raw, for the ETag

	mu      sync.Mutex
	encoded [encodings][]byte
}

func newBody(raw []byte) *body {
	sum := sha256.Sum256(raw)
	return &body{raw: raw, hash: hex.EncodeToString(sum[:12])}
}

// etag is the strong validator of the body in an encoding: other bytes, other
// tag.
func (b *body) etag(e encoding) string {
	if e == identity {
		return `"` + b.hash + `"`
	}
	return `"` + b.hash + "-" + encodingNames[e] + `"`
}

// in gives the body in an encoding. It is made once.
func (b *body) in(e encoding) []byte {
	if e == identity {
		return b.raw
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.encoded[e] == nil {
		b.encoded[e] = encode(e, b.raw)
	}
	return b.encoded[e]
}

// encoder is what the compressors have in common.
type encoder interface {
	io.WriteCloser
	Reset(io.Writer)
}

// The compressors are reused: each holds some hundred kilobytes of tables.
// Their levels are the ones beyond which they get much slower and hardly
// better.
var encoders = [encodings]*sync.Pool{
	brotliCoding: {New: func() any { return brotli.NewWriterLevel(nil, 5) }},
	zstdCoding: {New: func() any {
		w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
		if err != nil {
			panic(err) // only for options that contradict each other
		}
		return w
	}},
	gzipCoding: {New: func() any {
		w, err := gzip.NewWriterLevel(nil, 6)
		if err != nil {
			panic(err) // only for a level that does not exist
		}
		return w
	}},
}

func encode(e encoding, raw []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(raw)/3 + 64)
	w := encoders[e].Get().(encoder)
	defer encoders[e].Put(w)
	w.Reset(&out)
	// Writing to memory cannot fail.
	w.Write(raw)
	w.Close()
	return out.Bytes()
}

// weighted reads one field of an Accept header: a name and how much it is
// liked, from 0 to 1. It says false for a weight that cannot be read.
func weighted(field string) (name string, q float64, ok bool) {
	name, parameters, _ := strings.Cut(strings.ToLower(field), ";")
	q = 1
	for parameter := range strings.SplitSeq(parameters, ";") {
		value, found := strings.CutPrefix(strings.ReplaceAll(parameter, " ", ""), "q=")
		if !found {
			continue
		}
		parsed, err := strconv.ParseFloat(value, 64)
		if err != nil || !(parsed >= 0 && parsed <= 1) {
			return "", 0, false
		}
		q = parsed
	}
	return strings.TrimSpace(name), q, true
}

// quality is how much a client likes a media type that its Accept header names;
// 0 when it does not.
func quality(accept, media string) float64 {
	best := 0.0
	for field := range strings.SplitSeq(accept, ",") {
		if name, q, ok := weighted(field); ok && name == media {
			best = max(best, q)
		}
	}
	return best
}

// choose picks the encoding for a client by its Accept-Encoding header, as RFC
// 9110 section 12.5.3 has it. A header that cannot be read counts as none.
func choose(accept string) encoding {
	var quality [encodings]float64
	var named [encodings]bool
	any := 0.0
	for field := range strings.SplitSeq(accept, ",") {
		name, q, ok := weighted(field)
		if !ok {
			continue
		}
		if name == "*" {
			any = q
		}
		if name == "x-gzip" {
			name = "gzip"
		}
		for e := range encodings {
			if name == encodingNames[e] {
				quality[e], named[e] = q, true
			}
		}
	}
	best := identity
	for e := identity + 1; e < encodings; e++ {
		if !named[e] {
			quality[e] = any
		}
		if quality[e] > 0 && (best == identity || quality[e] > quality[best]) {
			best = e
		}
	}
	if named[identity] && quality[identity] > quality[best] {
		return identity
	}
	return best
}

// compressible reports whether coding a media type is worth it.
func compressible(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	switch {
	case strings.HasPrefix(media, "text/"), strings.HasSuffix(media, "json"), strings.HasSuffix(media, "xml"),
		strings.HasSuffix(media, "javascript"), media == "application/jsonl", media == "application/wasm":
		return true
	}
	return false
}
