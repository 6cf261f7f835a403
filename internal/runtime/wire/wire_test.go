package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"errorkb/internal/runtime/fault"
)

func TestParseErrors(t *testing.T) {
	long := "{" + strings.Repeat("x", 300)
	cases := []struct{ id, line, want string }{
		{"PRO-01", " \t", "Empty message"},
		{"PRO-02", "{oops", "Invalid JSON: {oops"},
		{"PRO-02", "oops", "Invalid JSON: oops"},
		{"PRO-02", long, "Invalid JSON: " + long[:200]},
		{"PRO-02", "{" + strings.Repeat("😀", 150), "Invalid JSON: {" + strings.Repeat("😀", 99)},
		{"PRO-03", "42", "Message must be a JSON object"},
		{"PRO-03", "null", "Message must be a JSON object"},
		{"PRO-03", `"text"`, "Message must be a JSON object"},
		{"PRO-04", "{}", `Invalid or missing jsonrpc version (expected "2.0", got undefined)`},
		{"PRO-04", "[]", `Invalid or missing jsonrpc version (expected "2.0", got undefined)`},
		{"PRO-04", `{"jsonrpc":"1.0"}`, `Invalid or missing jsonrpc version (expected "2.0", got "1.0")`},
		{"PRO-04", `{"jsonrpc":2.0}`, `Invalid or missing jsonrpc version (expected "2.0", got 2.0)`},
		{"PRO-04", `{"jsonrpc":null,"id":{}}`, `Invalid or missing jsonrpc version (expected "2.0", got null)`},
	}
	for _, c := range cases {
		_, err := Parse([]byte(c.line))
		e := fault.As(err)
		if e == nil || e.Message != c.want || e.Class != "JsonRpcParseError" || e.Code != 0 {
			t.Errorf("%s %q: got %v (%+v), want %s", c.id, c.line, err, e, c.want)
		}
	}
	if _, err := Parse([]byte(`{"jsonrpc":"2.0","method":3}`)); err == nil {
		t.Error("a method that is a number was accepted")
	}
}

func TestRoundTrip(t *testing.T) {
	lines := []string{
		`{"jsonrpc":"2.0","id":7,"method":"duplexChannelOpen","params":{"command":["<&>"]},"paperclipInvocation":{"id":"i1","scope":{"companyId":"c1"}}}`,
		`{"jsonrpc":"2.0","id":8,"result":null}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: x"}}`,
		`{"jsonrpc":"2.0","method":"log","params":{},"paperclipInvocationId":"i1"}`,
	}
	kinds := []func(*Message) bool{(*Message).IsRequest, (*Message).IsResponse, (*Message).IsResponse, (*Message).IsNotification}
	for i, line := range lines {
		m, err := Parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if !kinds[i](m) {
			t.Errorf("%s is of another kind", line)
		}
		var b bytes.Buffer
		if err := NewWriter(&b).Send(m); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(line+"\n", b.String()); diff != "" {
			t.Error(diff)
		}
	}
	if m, _ := Parse([]byte(`{"jsonrpc":"2.0","id":1}`)); m == nil || m.IsResponse() {
		t.Error("a message without result and error counts as a response")
	}
}

func TestReader(t *testing.T) {
	long := strings.Repeat("y", 100_000)
	text := "one\n\n  \r\n" + "two\r\n" + long + "\n" + "12345678\n" + "123456789\n" + "half"
	r := NewReader(iotest.OneByteReader(strings.NewReader(text)), 8)
	var got []string
	var skips []int64
	for {
		line, skipped, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if skipped > 0 {
			skips = append(skips, skipped)
			continue
		}
		got = append(got, string(line))
	}
	if diff := cmp.Diff([]string{"one", "two", "12345678", "half"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int64{100_000, 9}, skips); diff != "" {
		t.Error(diff)
	}
}

// TestReaderHugeLine reads past a line of 200 MB and keeps nothing of it that
// is over the limit.
func TestReaderHugeLine(t *testing.T) {
	huge := io.LimitReader(endless('x'), 200<<20)
	r := NewReader(io.MultiReader(huge, strings.NewReader("\nnext\n")), 1<<20)
	_, skipped, err := r.Next()
	if err != nil || skipped != 200<<20 {
		t.Fatalf("skipped %d, %v", skipped, err)
	}
	if cap(r.line) > 4<<20 {
		t.Errorf("kept %d bytes", cap(r.line))
	}
	if line, _, err := r.Next(); err != nil || string(line) != "next" {
		t.Errorf("then %q, %v", line, err)
	}
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func TestDecode(t *testing.T) {
	if data, ok := Decode("aGkK"); !ok || string(data) != "hi\n" {
		t.Errorf("got %q, %v", data, ok)
	}
	for _, bad := range []string{"", "aGkK\n", "aG kK", "aGl=", "aGk", "!!!!", "=", "aGkK="} {
		if _, ok := Decode(bad); ok {
			t.Errorf("%q was accepted", bad)
		}
	}
	if EncodeChunk([]byte("hi\n")) != "aGkK" {
		t.Error("EncodeChunk is not the reverse")
	}
}

// TestFrames checks that data of channels is read and written as everything
// else is.
func TestFrames(t *testing.T) {
	lines := []string{
		`{"jsonrpc":"2.0","id":8,"method":"duplexChannelWrite","params":{"hostRouteId":"duplex-route-1","workerSessionId":"duplex-a","data":"aGkK"}}`,
		`{"jsonrpc":"2.0","method":"duplexChannel.data","params":{"hostRouteId":"duplex-route-1","workerSessionId":"duplex-a","chunk":"aGkK"}}`,
		`{"jsonrpc":"2.0","method":"duplexChannel.data","params":{"hostRouteId":"r","workerSessionId":"s","chunk":"?"},"paperclipInvocationId":"i"}`,
	}
	for _, line := range lines {
		fast, ok := parseFrame([]byte(line))
		if !ok {
			t.Errorf("%s is not recognised", line)
			continue
		}
		slow := &Message{}
		var e envelope
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		slow.ID, slow.Method, slow.Params, slow.InvocationID = e.ID, e.Method, e.Params, e.InvocationID
		if diff := cmp.Diff(slow, fast); diff != "" {
			t.Error(diff)
		}
		again, err := Line(fast)
		if err != nil || string(again) != line+"\n" {
			t.Errorf("%s is written as %s (%v)", line, again, err)
		}
		for cut := range line {
			broken := line[:cut] + line[cut+1:]
			if m, ok := parseFrame([]byte(broken)); ok && !json.Valid([]byte(broken)) {
				t.Errorf("%s was taken for %+v", broken, m)
			}
		}
	}
	for _, v := range []any{
		DuplexData{DuplexPair{"r", "s"}, "aGkK"}, DuplexData{DuplexPair{"r\"", "s"}, "é"}, DuplexData{DuplexPair{"r", ""}, "x"},
		DuplexWriteParams{DuplexPair{"r", "s"}, "aGkK"}, DuplexWriteParams{DuplexPair{"r", "s\\"}, ""}, nil,
	} {
		want, _ := encode(v)
		if got, err := Encode(v); err != nil || string(got) != string(want) {
			t.Errorf("%+v is written as %s (%v), want %s", v, got, err, want)
		}
		switch v := v.(type) {
		case DuplexData:
			var back DuplexData
			if err := Unmarshal(want, &back); err != nil || back != v {
				t.Errorf("%s is read as %+v (%v)", want, back, err)
			}
		case DuplexWriteParams:
			var back DuplexWriteParams
			if err := Unmarshal(want, &back); err != nil || back != v {
				t.Errorf("%s is read as %+v (%v)", want, back, err)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"x"}`))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"duplexChannel.data","params":{"hostRouteId":"r","workerSessionId":"s","chunk":"aGkK"}}`))
	f.Add([]byte("{\xff"))
	f.Add([]byte(`[[[`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := Parse(line)
		if (m == nil) == (err == nil) {
			t.Fatalf("message %v, error %v", m, err)
		}
		if m == nil {
			return
		}
		if !json.Valid(bytes.ToValidUTF8(line, []byte("?"))) {
			t.Fatalf("%q was accepted", line)
		}
		again, err := Line(m)
		if err != nil {
			t.Fatal(err)
		}
		same, err := Parse(again)
		if err != nil || same.Method != m.Method || !json.Valid(again) {
			t.Fatalf("%s does not read back: %v", again, err)
		}
	})
}
