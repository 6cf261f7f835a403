package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Data of channels is nearly all that passes on a busy pipe, and reading it
// with encoding/json goes over each byte many times. The functions here know
// the exact form in which both of our sides write these messages, and give up
// at the smallest difference, so that the general way decides what is valid.

var (
	frameVersion    = []byte(`{"jsonrpc":"2.0",`)
	frameID         = []byte(`"id":`)
	frameWrite      = []byte(`,"method":"duplexChannelWrite","params":`)
	frameData       = []byte(`"method":"duplexChannel.data","params":`)
	frameInvocation = []byte(`,"paperclipInvocationId":"`)
	pairRoute       = []byte(`{"hostRouteId":"`)
	pairSession     = []byte(`,"workerSessionId":"`)
	keyChunk        = []byte(`,"chunk":"`)
	keyData         = []byte(`,"data":"`)
)

// parseFrame reads a message that carries data of a channel.
func parseFrame(line []byte) (*Message, bool) {
	rest, ok := bytes.CutPrefix(line, frameVersion)
	if !ok {
		return nil, false
	}
	m := &Message{}
	key := keyChunk
	if after, isRequest := bytes.CutPrefix(rest, frameID); isRequest {
		n := 0
		for n < len(after) && '1' <= after[n] && after[n] <= '9' || n > 0 && n < len(after) && after[n] == '0' {
			n++
		}
		m.ID = bytes.Clone(after[:n])
		if rest, ok = bytes.CutPrefix(after[n:], frameWrite); !ok || n == 0 {
			return nil, false
		}
		m.Method, key = MethodDuplexWrite, keyData
	} else if rest, ok = bytes.CutPrefix(rest, frameData); ok {
		m.Method = NotifyDuplexData
	} else {
		return nil, false
	}
	_, _, length, ok := pairAndText(rest, key)
	if !ok {
		return nil, false
	}
	params := rest[:length]
	rest = rest[length:]
	if after, named := bytes.CutPrefix(rest, frameInvocation); named {
		id, after, ok := plainText(after)
		if !ok {
			return nil, false
		}
		m.InvocationID, rest = string(id), after
	}
	if string(rest) != "}" {
		return nil, false
	}
	m.Params = bytes.Clone(params) // the line is valid for a moment only
	return m, true
}

// pairAndText reads an object of a pair and one text and returns its length.
func pairAndText(object, key []byte) (pair DuplexPair, text []byte, length int, ok bool) {
	rest, ok1 := bytes.CutPrefix(object, pairRoute)
	route, rest, ok2 := plainText(rest)
	rest, ok3 := bytes.CutPrefix(rest, pairSession)
	session, rest, ok4 := plainText(rest)
	rest, ok5 := bytes.CutPrefix(rest, key)
	text, rest, ok6 := plainText(rest)
	if !(ok1 && ok2 && ok3 && ok4 && ok5 && ok6) || len(rest) == 0 || rest[0] != '}' {
		return DuplexPair{}, nil, 0, false
	}
	return DuplexPair{string(route), string(session)}, text, len(object) - len(rest) + 1, true
}

// plainText reads up to a quotation mark what stands for itself in JSON.
func plainText(b []byte) (text, rest []byte, ok bool) {
	n := bytes.IndexByte(b, '"')
	if n < 0 {
		return nil, nil, false
	}
	for _, c := range b[:n] {
		if c < ' ' || c > '~' || c == '\\' {
			return nil, nil, false
		}
	}
	return b[:n], b[n+1:], true
}

func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '\\' || c == '"' {
			return false
		}
	}
	return true
}

// encodePair writes an object of a pair and one text.
func encodePair(pair DuplexPair, key []byte, text string) (json.RawMessage, bool) {
	if pair.WorkerSessionID == "" || !isPlain(pair.HostRouteID) || !isPlain(pair.WorkerSessionID) || !isPlain(text) {
		return nil, false
	}
	b := make([]byte, 0, len(text)+len(pair.HostRouteID)+len(pair.WorkerSessionID)+64)
	b = append(append(append(b, pairRoute...), pair.HostRouteID...), '"')
	b = append(append(append(b, pairSession...), pair.WorkerSessionID...), '"')
	b = append(append(append(b, key...), text...), '"', '}')
	return b, true
}

func (d *DuplexData) read(raw []byte) bool {
	pair, text, length, ok := pairAndText(raw, keyChunk)
	if !ok || length != len(raw) {
		return false
	}
	d.DuplexPair, d.Chunk = pair, string(text)
	return true
}

func (p *DuplexWriteParams) read(raw []byte) bool {
	pair, text, length, ok := pairAndText(raw, keyData)
	if !ok || length != len(raw) {
		return false
	}
	p.DuplexPair, p.Data = pair, string(text)
	return true
}

// Unmarshal reads parameters or a result into v, as json.Unmarshal does.
func Unmarshal(raw json.RawMessage, v any) error {
	switch v := v.(type) {
	case *DuplexData:
		if v.read(raw) {
			return nil
		}
	case *DuplexWriteParams:
		if v.read(raw) {
			return nil
		}
	}
	return json.Unmarshal(raw, v)
}

// Encode returns v as JSON on one line. A nil v is null.
func Encode(v any) (json.RawMessage, error) {
	switch v := v.(type) {
	case DuplexData:
		if raw, ok := encodePair(v.DuplexPair, keyChunk, v.Chunk); ok {
			return raw, nil
		}
	case DuplexWriteParams:
		if raw, ok := encodePair(v.DuplexPair, keyData, v.Data); ok {
			return raw, nil
		}
	}
	return encode(v)
}

// appendLine writes a message whose parts are JSON already.
func appendLine(m *Message) ([]byte, error) {
	b := make([]byte, 0, len(m.Params)+len(m.Result)+256)
	b = append(b, frameVersion[:len(frameVersion)-1]...)
	if m.ID != nil {
		b = append(append(b, `,"id":`...), m.ID...)
	}
	if m.Method != "" {
		if !isPlain(m.Method) {
			return m.MarshalJSON()
		}
		b = strconv.AppendQuote(append(b, `,"method":`...), m.Method)
	}
	if m.Params != nil {
		b = append(append(b, `,"params":`...), m.Params...)
	}
	if m.Result != nil {
		b = append(append(b, `,"result":`...), m.Result...)
	}
	for _, part := range []struct {
		key   string
		value any
		given bool
	}{
		{`,"error":`, m.Error, m.Error != nil},
		{`,"paperclipInvocation":`, m.Invocation, m.Invocation != nil},
		{`,"paperclipInvocationId":`, m.InvocationID, m.InvocationID != ""},
	} {
		if !part.given {
			continue
		}
		raw, err := encode(part.value)
		if err != nil {
			return nil, err
		}
		b = append(append(b, part.key...), raw...)
	}
	return append(b, '}'), nil
}
