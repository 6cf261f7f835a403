package eval

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Words that pastes are made of.
var (
	pasteNames = strings.Fields(`billing checkout ledger orders frontend gateway mailer report-worker auth inventory catalog_sync
		thumbnailer geo-index payments scheduler ingest warehouse profile session-store audit`)
	pastePeople = strings.Fields(`alice bob chandra dmitri elif farida george hanako`)
	pasteFiles  = strings.Fields(`main index server utils config handler models client routes parser worker loader`)
	pasteExts   = strings.Fields(`ts js py go rs java tsx c sql yaml`)
	pasteVerbs  = strings.Fields(`load store fetch merge publish render upload resolve index copy scan rotate`)
	pasteThings = strings.Fields(`invoice basket shipment ticket avatar voucher playlist sensor roster itinerary coupon brochure`)
)

// filler writes texts from shapes: words in braces stand for something made up.
type filler struct{ *rand.Rand }

func (r filler) pick(list []string) string { return list[r.IntN(len(list))] }

func (r filler) digits(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('0' + r.IntN(10))
	}
	return string(b)
}

func (r filler) hex(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdef"[r.IntN(16)]
	}
	return string(b)
}

// write fills a shape.
func (r filler) write(shape string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(shape, "{{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		word, after, _ := strings.Cut(rest, "}}")
		b.WriteString(r.one(word))
		shape = after
	}
}

// one makes up what a word of a shape stands for.
func (r filler) one(word string) string {
	switch word {
	case "name":
		return r.pick(pasteNames)
	case "person":
		return r.pick(pastePeople)
	case "file":
		return r.pick(pasteFiles)
	case "ext":
		return r.pick(pasteExts)
	case "verb":
		return r.pick(pasteVerbs)
	case "thing":
		return r.pick(pasteThings)
	case "Thing":
		t := r.pick(pasteThings)
		return strings.ToUpper(t[:1]) + t[1:]
	case "d":
		return strconv.Itoa(r.IntN(10))
	case "n":
		return strconv.Itoa(r.IntN(1000))
	case "N":
		return strconv.Itoa(1000 + r.IntN(90_000))
	case "pid":
		return strconv.Itoa(100 + r.IntN(30_000))
	case "port":
		return strconv.Itoa(1024 + r.IntN(60_000))
	case "frac":
		return fmt.Sprintf("%d.%02d", r.IntN(90), r.IntN(100))
	case "hex":
		return r.hex(12)
	case "sha":
		return r.hex(40)
	case "ptr":
		return "0x" + r.hex(8)
	case "uuid":
		return r.hex(8) + "-" + r.hex(4) + "-4" + r.hex(3) + "-a" + r.hex(3) + "-" + r.hex(12)
	case "ip":
		return fmt.Sprintf("10.%d.%d.%d", r.IntN(256), r.IntN(256), 1+r.IntN(254))
	case "ip6":
		return "2001:db8:" + r.hex(4) + "::" + r.hex(2)
	case "ver":
		return fmt.Sprintf("%d.%d.%d", r.IntN(20), r.IntN(30), r.IntN(40))
	case "date":
		return fmt.Sprintf("2025-%02d-%02d", 1+r.IntN(12), 1+r.IntN(28))
	case "clock":
		return fmt.Sprintf("%02d:%02d:%02d", r.IntN(24), r.IntN(60), r.IntN(60))
	case "ms":
		return r.digits(3)
	case "iso":
		return r.write("{{date}}T{{clock}}.{{ms}}Z")
	case "gha":
		return r.write("{{date}}T{{clock}}.") + r.digits(7) + "Z"
	case "syslog":
		return fmt.Sprintf("%s %2d %s", r.pick(strings.Fields("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec")), 1+r.IntN(28), r.one("clock"))
	case "apache":
		return fmt.Sprintf("%02d/%s/2025:%s +0000", 1+r.IntN(28), r.pick(strings.Fields("Jan Apr Jul Oct")), r.one("clock"))
	case "path":
		return r.write("/{{dir}}/{{name}}/{{file}}.{{ext}}")
	case "dir":
		return r.pick([]string{"srv", "opt", "var/lib", "home/dev/src", "app", "usr/local/share", "builds/team"})
	case "win":
		return r.write(`C:\Users\dev\{{name}}\{{file}}.{{ext}}`)
	case "url":
		return r.write("https://{{name}}.example.org:{{port}}/v{{d}}/{{thing}}?id={{n}}")
	case "route":
		return r.write("/api/v{{d}}/{{thing}}s/{{n}}")
	case "status":
		return r.pick([]string{"200", "200", "200", "201", "204", "301", "304", "404", "500"})
	case "method":
		return r.pick([]string{"GET", "GET", "POST", "PUT", "DELETE"})
	case "level":
		return r.pick([]string{"INFO", "INFO", "DEBUG", "WARN"})
	}
	panic("no shape is called " + word)
}

// valueShapes are what the gaps of messages are filled with, by kind.
var valueShapes = []struct {
	kind   string
	weight int
	shapes []string
}{
	{"name", 8, []string{"{{name}}", "{{thing}}", "{{file}}", "{{thing}}_{{n}}", "{{Thing}}Service", "{{name}}.{{thing}}"}},
	{"number", 4, []string{"{{n}}", "{{N}}", "0", "-1", "-{{n}}", "{{frac}}"}},
	{"path", 5, []string{"{{path}}", "./src/{{file}}.{{ext}}", "../{{name}}/{{file}}.{{ext}}", "/{{dir}}/my files/{{file}} (copy).{{ext}}", "{{win}}", `C:\Program Files\{{name}}\{{file}}.exe`}},
	{"address", 3, []string{"{{url}}", "{{ip}}:{{port}}", "[{{ip6}}]:{{port}}", "::1", "postgres://{{person}}@{{name}}.internal:{{port}}/{{thing}}", "registry.example.com:{{port}}/{{name}}/{{thing}}:{{ver}}"}},
	{"id", 2, []string{"{{uuid}}", "{{hex}}", "{{sha}}", "v{{ver}}", "@{{name}}/{{thing}}@^{{ver}}", "{{ptr}}"}},
	{"quoted", 2, []string{"it's", `say "{{thing}}"`, "{{name}}'s {{thing}}", "`{{thing}}`", "don't"}},
	{"code", 2, []string{"Map<string, {{Thing}}>", "{{thing}}()", "[object Object]", "{ {{thing}}: {{n}} }", "(a, b) => void", "&'a {{Thing}}", "{{thing}} = {{n}}"}},
	{"words", 2, []string{"two words", "the {{thing}} of {{person}}", "{{thing}}, {{thing}} and {{thing}}", "{{name}}: {{thing}}"}},
	{"unicode", 1, []string{"größe", "Ünïcode-{{thing}}", "文件.txt", "файл", "café {{thing}}"}},
	{"empty", 1, []string{""}},
	{"template", 1, nil}, // words of the message itself
}

// value makes up a value for a gap; message is the literal text around it.
func (r filler) value(message string) string {
	total := 0
	for _, v := range valueShapes {
		total += v.weight
	}
	k := r.IntN(total)
	for _, v := range valueShapes {
		if k -= v.weight; k >= 0 {
			continue
		}
		if v.shapes != nil {
			return r.write(r.pick(v.shapes))
		}
		words := strings.FieldsFunc(message, func(c rune) bool { return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') })
		if len(words) == 0 {
			return "value"
		}
		return r.pick(words)
	}
	return ""
}
