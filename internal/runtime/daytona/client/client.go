// Package client talks to a Daytona-style API: sandboxes over REST, and what
// runs inside a sandbox through its toolbox, terminals over WebSocket.
//
// New gives a Client, Create and Get give a Sandbox, and a Sandbox has the
// rest: its states, Execute, sessions, files and OpenTerminal. The texts of
// errors are those of the vendor's public SDK where it has one.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"errorkb/internal/runtime/fault"
)

// Classes of the errors of this package.
const (
	ClassError      = "DaytonaError"
	ClassNotFound   = "DaytonaNotFoundError"
	ClassRateLimit  = "DaytonaRateLimitError"
	ClassTimeout    = "DaytonaTimeoutError"
	ClassConnection = "DaytonaConnectionError"
)

// Options say where the API is.
type Options struct {
	URL    string // of the API, as in "https://app.daytona.io/api"
	Key    string // sent as a bearer token
	Target string // region of new sandboxes; "" leaves it to the service

	// ConnectTimeout bounds the time until a terminal is connected. Zero means
	// 10 s.
	ConnectTimeout time.Duration
	// PollInterval is the time between two looks at a state or a command that
	// the service did not report by itself. Zero means 50 ms.
	PollInterval time.Duration
	// MaxAnswer bounds what is read of one answer, in bytes. Zero means
	// 128 MiB, which is what a worker can hand on at once.
	MaxAnswer int64
}

// Client is one account at one API. It is safe for use by several goroutines.
type Client struct {
	options   Options
	http      *http.Client
	terminals *http.Client
}

const (
	defaultConnectTimeout = 10 * time.Second
	defaultPollInterval   = 50 * time.Millisecond

	defaultMaxAnswer = 128 << 20
	maxError         = 64 << 10 // bytes read of an answer that reports an error

	// terminalBuffer is the send buffer of a terminal's socket. It is small, so
	// that a terminal which takes no input soon holds up its writer.
	terminalBuffer = 64 << 10
)

// New returns a client. It makes no request.
func New(o Options) *Client {
	if o.ConnectTimeout <= 0 {
		o.ConnectTimeout = defaultConnectTimeout
	}
	if o.PollInterval <= 0 {
		o.PollInterval = defaultPollInterval
	}
	if o.MaxAnswer <= 0 {
		o.MaxAnswer = defaultMaxAnswer
	}
	o.URL = strings.TrimRight(o.URL, "/")
	dialer := &net.Dialer{}
	return &Client{
		options: o,
		http:    &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, Proxy: http.ProxyFromEnvironment, IdleConnTimeout: 30 * time.Second}},
		terminals: &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true,
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dialer.DialContext(ctx, network, address)
				if tcp, ok := conn.(*net.TCPConn); ok {
					_ = tcp.SetWriteBuffer(terminalBuffer) // only how soon a writer has to wait
				}
				return conn, err
			}}},
	}
}

// Close gives up connections that are not in use.
func (c *Client) Close() {
	c.http.CloseIdleConnections()
	c.terminals.CloseIdleConnections()
}

// Texts of failed requests. The first is the service's own text.
const (
	msgService   = `%s`
	msgStatus    = `Request failed with status code %d`
	msgTransport = `Request to the Daytona API failed: %s`
	msgAnswer    = `The Daytona API answered with something else than JSON: %s`
	msgTooLarge  = `The Daytona API answered with more than %d bytes`
	msgBadURL    = `The address of the Daytona API cannot be used: %s`
)

// NotFound reports whether the service said that it has no such thing.
func NotFound(err error) bool {
	e := fault.As(err)
	return e != nil && e.Class == ClassNotFound
}

// request is one call of the API.
type request struct {
	method string
	url    string
	query  url.Values
	body   io.Reader // with kind; nil for none
	kind   string    // content type
}

// jsonBody returns a request with v as its body.
func jsonBody(method, address string, v any) request {
	data, _ := json.Marshal(v) // plain structs of this package only
	return request{method: method, url: address, body: bytes.NewReader(data), kind: "application/json"}
}

// open sends a request and returns the answer when its status is not an error.
func (c *Client) open(ctx context.Context, r request) (*http.Response, error) {
	if len(r.query) > 0 {
		r.url += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.url, r.body)
	if err != nil {
		return nil, fault.New(msgBadURL, short(err)).WithClass(ClassError).WithCause(err)
	}
	c.authorize(req.Header)
	if r.kind != "" {
		req.Header.Set("Content-Type", r.kind)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, transport(err)
	}
	if resp.StatusCode < 400 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, refused(resp)
}

func (c *Client) authorize(h http.Header) {
	h.Set("Authorization", "Bearer "+c.options.Key)
	h.Set("X-Daytona-Source", "go")
}

// refused turns an answer with an error status into an error with the
// service's text.
func refused(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxError)) // a text that breaks off is a text still
	var answer struct {
		Message string `json:"message"`
		Error   string `json:"error"`
	}
	_ = json.Unmarshal(text, &answer) // what is no JSON has no message
	class := ClassError
	switch resp.StatusCode {
	case http.StatusNotFound:
		class = ClassNotFound
	case http.StatusTooManyRequests:
		class = ClassRateLimit
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		class = ClassTimeout
	}
	err := fault.New(msgStatus, resp.StatusCode)
	if message := firstOf(answer.Message, answer.Error); message != "" {
		err = fault.New(msgService, message)
	}
	return err.WithClass(class).WithData(map[string]int{"statusCode": resp.StatusCode})
}

// transport makes the error of a request that got no answer.
func transport(err error) error {
	return fault.New(msgTransport, short(err)).WithClass(ClassConnection).WithCause(err)
}

// call sends a request and decodes its answer into out. With a nil out the
// answer has no meaning, and may be empty.
func (c *Client) call(ctx context.Context, r request, out any) error {
	resp, err := c.open(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := c.readAll(resp.Body)
	if err != nil {
		return err
	}
	if out == nil {
		if len(data) == 0 {
			return nil
		}
		out = new(any)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fault.New(msgAnswer, short(err)).WithClass(ClassError).WithCause(err)
	}
	return nil
}

// readAll reads an answer or a part of one. A service that never stops must
// not fill the memory.
func (c *Client) readAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, c.options.MaxAnswer+1))
	if err != nil {
		return nil, transport(err)
	}
	if int64(len(data)) > c.options.MaxAnswer {
		return nil, fault.New(msgTooLarge, c.options.MaxAnswer).WithClass(ClassError)
	}
	return data, nil
}

// short is the innermost reason of a transport error, without the addresses
// around it, which differ from run to run. Whether a connection that the other
// side gave up shows as reset, as broken or as ended is a matter of luck, so
// it has one name.
func short(err error) string {
	var errno syscall.Errno
	var dns *net.DNSError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection closed"
	case errors.As(err, &errno):
		return errno.Error()
	case errors.As(err, &dns):
		return dns.Err
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// wait sleeps for the poll interval, less when ctx ends.
func (c *Client) wait(ctx context.Context) error {
	timer := time.NewTimer(c.options.PollInterval)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// seconds rounds d up to whole seconds, at least one.
func seconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }

func (c *Client) String() string { return fmt.Sprintf("Daytona API at %s", c.options.URL) }
