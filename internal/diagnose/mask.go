package diagnose

import "bytes"

// Secret is a stretch of a text that should not leave the process.
type Secret struct {
	Start, End int
	Kind       string // password, token, key, cookie or e-mail
}

// Secrets finds what looks like a secret: tokens by their shape, values behind
// names such as password, credentials in URLs, cookies, private keys and e-mail
// addresses. The stretches are in order and do not overlap. It looks at the
// text once, whatever its size.
func Secrets(text []byte) []Secret {
	var out []Secret
	last := 0
	put := func(from, to int, kind string) {
		if from >= last && to > from {
			out = append(out, Secret{from, to, kind})
			last = to
		}
	}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case i < last:
			i = last
			continue
		case c == '-' && bytes.HasPrefix(text[i:], []byte("-----BEGIN ")):
			if from, to := privateKey(text, i); to > from {
				put(from, to, "key")
			}
		case c == ':' && bytes.HasPrefix(text[i:], []byte("://")):
			if from, to := userInfo(text, i+3); to > from {
				put(from, to, "password")
			}
		case c == '@':
			if from, to := mailAddress(text, i, last); to > from {
				put(from, to, "e-mail")
			}
		case isLetter(c) && (i == 0 || !isWord(text[i-1])):
			if from, to, kind := wordSecret(text, i); to > from {
				put(from, to, kind)
			}
		}
		if isLetter(c) || isDigit(c) {
			for i < len(text) && (isLetter(text[i]) || isDigit(text[i])) {
				i++
			}
			continue
		}
		i++
	}
	return out
}

// Mask is the text with every secret replaced by its kind in brackets. A text
// without any is returned as it is.
func Mask(text []byte) []byte {
	secrets := Secrets(text)
	if len(secrets) == 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	from := 0
	for _, s := range secrets {
		out = append(out, text[from:s.Start]...)
		out = append(out, "[masked "+s.Kind+"]"...)
		from = s.End
	}
	return append(out, text[from:]...)
}

// tokenShapes are the beginnings by which issuers mark their tokens, and how
// long what follows is at least.
var tokenShapes = []struct {
	head string
	tail int
}{
	{"ghp_", 30}, {"gho_", 30}, {"ghu_", 30}, {"ghs_", 30}, {"ghr_", 30}, {"github_pat_", 30}, {"glpat-", 16},
	{"npm_", 30}, {"sk-", 20}, {"sk_live_", 16}, {"sk_test_", 16}, {"rk_live_", 16}, {"pk_live_", 16},
	{"xoxb-", 16}, {"xoxp-", 16}, {"xoxa-", 16}, {"xoxs-", 16}, {"xapp-", 16}, {"AKIA", 16}, {"ASIA", 16},
	{"AIza", 30}, {"ya29.", 20}, {"eyJ", 30}, {"hvs.", 20}, {"dckr_pat_", 20}, {"pypi-", 30}, {"SG.", 30},
	{"dop_v1_", 40}, {"shpat_", 30}, {"hf_", 30},
}

// secretNames are names whose value is a secret, in lower case and without
// marks between their words.
var secretNames = map[string]string{
	"password": "password", "passwd": "password", "pwd": "password", "passphrase": "password", "pgpassword": "password",
	"secret": "password", "clientsecret": "password", "token": "token", "accesstoken": "token", "refreshtoken": "token",
	"authtoken": "token", "idtoken": "token", "sessiontoken": "token", "apikey": "key", "xapikey": "key", "secretkey": "key",
	"accesskey": "key", "privatekey": "key", "awssecretaccesskey": "key", "secretaccesskey": "key", "signature": "key", "sig": "key",
	"cookie": "cookie", "setcookie": "cookie", "sessionid": "cookie", "phpsessid": "cookie", "jsessionid": "cookie",
}

// maxSecret bounds a value that is masked.
const maxSecret = 8 << 10

// wordSecret looks for a secret that begins with the word at i: a token by its
// shape, or the value of a name.
func wordSecret(t []byte, i int) (from, to int, kind string) {
	for _, shape := range tokenShapes {
		if t[i] == shape.head[0] && bytes.HasPrefix(t[i:], []byte(shape.head)) {
			end := tokenEnd(t, i+len(shape.head))
			if end-i-len(shape.head) >= shape.tail {
				return i, end, "token"
			}
		}
	}
	// The name: letters, digits and marks.
	j := i
	var name [32]byte
	n := 0
	for j < len(t) && j-i < 40 && (isLetter(t[j]) || isDigit(t[j]) || t[j] == '_' || t[j] == '-' || t[j] == '.') {
		if c := t[j]; c != '_' && c != '-' && c != '.' && n < len(name) {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			name[n] = c
			n++
		}
		j++
	}
	switch string(name[:n]) {
	case "bearer", "basic":
		at := skipBlank(t, j, len(t))
		if at > j && tokenEnd(t, at)-at >= 16 {
			return at, tokenEnd(t, at), "token"
		}
		return 0, 0, ""
	}
	kind = secretNames[string(name[:n])]
	for k := 1; kind == "" && k < n-3; k++ {
		// "DB_PASSWORD", "stripe.secret_key"
		if found := secretNames[string(name[k:n])]; found == "password" || found == "key" {
			kind = found
		}
	}
	if kind == "" {
		return 0, 0, ""
	}
	return valueOf(t, j, kind)
}

// valueOf is the value behind a name that ends at j: "=", ":" or a closing
// quote and a colon lie between.
func valueOf(t []byte, j int, kind string) (from, to int, _ string) {
	at := j
	if at < len(t) && (t[at] == '"' || t[at] == '\'') || bytes.HasPrefix(t[at:], []byte(`\"`)) {
		at++
		if t[at-1] == '\\' {
			at++
		}
	}
	at = skipBlank(t, at, len(t))
	if at >= len(t) || t[at] != '=' && t[at] != ':' {
		return 0, 0, ""
	}
	at = skipBlank(t, at+1, len(t))
	escaped := false // the quotes are: the whole text stands in another string
	for at < len(t) && t[at] == '\\' {
		at++
		escaped = true
	}
	if kind == "cookie" && at < len(t) && !isQuote(t[at]) {
		end := at
		for end < len(t) && end-at < maxSecret && t[end] != '\n' && t[end] != '\r' {
			end++
		}
		return at, end, kind
	}
	quote := byte(0)
	if at < len(t) && isQuote(t[at]) {
		quote = t[at]
		at++
	}
	end := at
	for end < len(t) && end-at < maxSecret {
		c := t[end]
		if quote != 0 && !escaped && c == '\\' && end+1 < len(t) && t[end+1] != '\n' {
			end += 2
			continue
		}
		if quote != 0 && (c == quote || c == '\\' && end+1 < len(t) && t[end+1] == quote) || c == '\n' || c == '\r' ||
			quote == 0 && (c == ' ' || c == '\t' || c == '&' || c == ',' || c == ';' || c == '"' || c == '\'' || c == ')' || c == '}' || c == ']') {
			break
		}
		end++
	}
	end = min(end, len(t))
	if end-at < 4 || bytes.HasPrefix(t[at:end], []byte("${")) || bytes.HasPrefix(t[at:end], []byte("[")) || bytes.HasPrefix(t[at:end], []byte("***")) {
		return 0, 0, "" // too short, a placeholder, or masked already
	}
	return at, end, kind
}

// tokenEnd is the end of the run of characters that tokens are made of.
func tokenEnd(t []byte, i int) int {
	for i < len(t) && (isLetter(t[i]) || isDigit(t[i]) || bytes.IndexByte([]byte("-_.~+/="), t[i]) >= 0) {
		i++
	}
	return i
}

// privateKey is the content of a PEM block of a private key.
func privateKey(t []byte, i int) (from, to int) {
	head := t[i:min(len(t), i+64)]
	end := bytes.Index(head[5:], []byte("-----"))
	if end < 0 || !bytes.Contains(head[:end+5], []byte("PRIVATE KEY")) {
		return 0, 0
	}
	from = i + 5 + end + 5
	stop := bytes.Index(t[from:min(len(t), from+maxSecret)], []byte("-----END "))
	if stop < 0 {
		return from, min(len(t), from+maxSecret)
	}
	return from, from + stop
}

// userInfo is the password in the user part of a URL whose authority begins at
// i.
func userInfo(t []byte, i int) (from, to int) {
	colon := -1
	for j := i; j < len(t) && j-i < 300; j++ {
		switch c := t[j]; {
		case c == ':' && colon < 0:
			colon = j
		case c == '@':
			if colon > 0 && j > colon+1 {
				return colon + 1, j
			}
			return 0, 0
		case c <= ' ' || c == '/' || c == '"' || c == '\'' || c == '<' || c == '>':
			return 0, 0
		}
	}
	return 0, 0
}

// mailAddress is the e-mail address around the at sign at i, not before low.
func mailAddress(t []byte, i, low int) (from, to int) {
	from = i
	for from > low && i-from < 64 && (isLetter(t[from-1]) || isDigit(t[from-1]) || bytes.IndexByte([]byte("._%+-"), t[from-1]) >= 0) {
		from--
	}
	to = i + 1
	dot := 0
	for to < len(t) && to-i < 255 && (isLetter(t[to]) || isDigit(t[to]) || t[to] == '-' || t[to] == '.') {
		if t[to] == '.' {
			dot = to
		}
		to++
	}
	for to > i && t[to-1] == '.' {
		to--
	}
	if dot >= to {
		dot = bytes.LastIndexByte(t[i:to], '.') + i
	}
	// A domain ends in letters: "pkg@1.2.3" is a version, "a@b" a host.
	if from == i || dot <= i || to-dot < 3 || from > 0 && (t[from-1] == '/' || t[from-1] == ':' || t[from-1] == '@') {
		return 0, 0
	}
	for k := dot + 1; k < to; k++ {
		if !isLetter(t[k]) {
			return 0, 0
		}
	}
	return from, to
}
