package render

import "strings"

// syntax is what colouring has to know of a language. It is less than a
// grammar: comments, strings and numbers are told from words, and words are
// looked up.
type syntax struct {
	name         string   // for people
	lineComment  []string // to the end of the line
	blockComment [2]string
	quotes       string   // each opens and closes a string on one line
	longQuotes   []string // open and close strings over several lines
	rawQuotes    string   // like quotes, over several lines and without escapes
	templates    bool     // `…${code}…`
	regexps      bool     // /…/ where a value can begin
	lifetimes    bool     // 'a is a name, 'a' a character
	ignoreCase   bool     // of the words below
	keysBefore   string   // a word or string before it is a key, "" for none
	hashInWord   bool     // # begins a comment only after a blank
	keywords     map[string]bool
	constants    map[string]bool
	types        map[string]bool
	capitalTypes bool // a capital begins the name of a type
}

// wordSet makes a set of the words of a text.
func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

var scriptSyntax = syntax{
	lineComment: []string{"//"}, blockComment: [2]string{"/*", "*/"}, quotes: `"'`, templates: true, regexps: true,
	capitalTypes: true,
	keywords: wordSet(`abstract as asserts async await break case catch class const continue debugger declare default delete do
		else enum export extends finally for from function get if implements import in infer instanceof interface is keyof let
		namespace new of override private protected public readonly return satisfies set static super switch this throw try
		type typeof unique using var void while with yield`),
	constants: wordSet(`true false null undefined NaN Infinity`),
	types:     wordSet(`any bigint boolean never number object string symbol unknown`),
}

func scriptNamed(name string) *syntax {
	s := scriptSyntax
	s.name = name
	return &s
}

var (
	typeScript = scriptNamed("TypeScript")
	javaScript = scriptNamed("JavaScript")
	goSyntax   = &syntax{
		name: "Go", lineComment: []string{"//"}, blockComment: [2]string{"/*", "*/"}, quotes: `"'`, rawQuotes: "`",
		keywords: wordSet(`break case chan const continue default defer else fallthrough for func go goto if import interface map
			package range return select struct switch type var`),
		constants: wordSet(`true false nil iota`),
		types: wordSet(`any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string
			uint uint8 uint16 uint32 uint64 uintptr`),
	}
	jsonSyntax = &syntax{
		name: "JSON", quotes: `"`, keysBefore: ":", constants: wordSet(`true false null`),
	}
	shellSyntax = &syntax{
		name: "Shell", lineComment: []string{"#"}, hashInWord: true, longQuotes: []string{`"`}, rawQuotes: "'",
		keywords: wordSet(`case do done elif else esac export fi for function if in local return set then until while`),
	}
	pythonSyntax = &syntax{
		name: "Python", lineComment: []string{"#"}, quotes: `"'`, longQuotes: []string{`"""`, `'''`}, capitalTypes: true,
		keywords: wordSet(`and as assert async await break class continue def del elif else except finally for from global if
			import in is lambda match nonlocal not or pass raise return try while with yield`),
		constants: wordSet(`True False None`),
		types:     wordSet(`bool bytes dict float int list set str tuple`),
	}
	rustSyntax = &syntax{
		name: "Rust", lineComment: []string{"//"}, blockComment: [2]string{"/*", "*/"}, longQuotes: []string{`"`}, quotes: `'`,
		lifetimes: true, capitalTypes: true,
		keywords: wordSet(`as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move
			mut pub ref return self Self static struct super trait type unsafe use where while`),
		constants: wordSet(`true false`),
		types:     wordSet(`bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize`),
	}
	javaSyntax = &syntax{
		name: "Java", lineComment: []string{"//"}, blockComment: [2]string{"/*", "*/"}, quotes: `"'`, longQuotes: []string{`"""`},
		capitalTypes: true,
		keywords: wordSet(`abstract assert break case catch class continue default do else enum extends final finally for if
			implements import instanceof interface native new package permits private protected public record return sealed
			static strictfp super switch synchronized this throw throws transient try var void volatile while yield`),
		constants: wordSet(`true false null`),
		types:     wordSet(`boolean byte char double float int long short`),
	}
	sqlSyntax = &syntax{
		name: "SQL", lineComment: []string{"--"}, blockComment: [2]string{"/*", "*/"}, rawQuotes: `'"`, ignoreCase: true,
		keywords: wordSet(`add all alter and as asc begin between by case column commit constraint create cross default delete desc
			distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit
			lock not offset on or order outer primary references returning right rollback select set table then transaction
			trigger union unique update using values view when where with`),
		constants: wordSet(`true false null`),
		types: wordSet(`bigint blob boolean bytea char date integer int json jsonb numeric real serial smallint text time timestamp
			timestamptz uuid varchar`),
	}
	yamlSyntax = &syntax{
		name: "YAML", lineComment: []string{"#"}, hashInWord: true, quotes: `"`, rawQuotes: "'", keysBefore: ":",
		constants: wordSet(`true false null yes no on off`),
	}
)

// syntaxes maps what records and Markdown call a language. Others are shown
// plain.
var syntaxes = map[string]*syntax{
	"ts": typeScript, "typescript": typeScript, "tsx": typeScript,
	"js": javaScript, "javascript": javaScript, "mjs": javaScript, "jsx": javaScript,
	"go": goSyntax, "golang": goSyntax,
	"json": jsonSyntax,
	"sh":   shellSyntax, "bash": shellSyntax, "shell": shellSyntax, "console": shellSyntax,
	"py": pythonSyntax, "python": pythonSyntax,
	"rs": rustSyntax, "rust": rustSyntax,
	"java": javaSyntax,
	"sql":  sqlSyntax,
	"yaml": yamlSyntax, "yml": yamlSyntax,
}
