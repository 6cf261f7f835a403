package lint

import (
	"regexp"
	"strings"
	"sync"
)

// Filler is recognised by its shape: a verb of advice or explanation, an object
// that any error has, and nothing else up to the full stop. One particular word
// more and the sentence is left alone.
//
// It is a large expression, compiled when first needed and not at the start of
// every command.
var fillerShapes = sync.OnceValue(func() *regexp.Regexp {
	const (
		thing   = `(?:(?:the|your|this|that|an?|all|any|some)\s+)?(?:relevant\s+|related\s+|underlying\s+|unexpected\s+|unknown\s+|internal\s+|certain\s+|specific\s+|invalid\s+|required\s+|official\s+|system\s+|application\s+|server\s+)*`
		anyNoun = `(?:something|everything|errors?|exceptions?|problems?|issues?|operations?|conditions?|failures?|functions?|methods?|code|application|app|program|system|process|service|server|request|input|inputs|parameters?|arguments?|values?|data|configuration|config|settings?|setup|environment|logs?|log files?|documentation|docs|stack trace|error message|message|permissions?|network|connection|network connection|internet connection|dependencies|requirements|prerequisites)`
		fails   = `(?:fails?|failed|occurs?|occurred|happens?|happened|goes wrong|went wrong|is wrong|is invalid|is incorrect|is not valid|is encountered|is not (?:supported|allowed|possible)|cannot be (?:completed|performed|processed)|could not be (?:completed|performed|processed))`
		good    = `(?:correct|valid|proper|properly set up|set up (?:properly|correctly)|properly configured|configured (?:properly|correctly)|up to date|as expected|in order|works?|working(?: properly| correctly)?|available|stable|complete)`
		tail    = `(?:\s+(?:for|and)\s+(?:any\s+|more\s+|further\s+|other\s+|additional\s+|possible\s+)*(?:details?|information|issues?|errors?|problems?|clues|try again|retry))?`
		end     = `\W*$`
	)
	shapes := []string{
		// what it means
		`(?:this|the) (?:error|exception|warning|message|problem|issue) (?:occurs?|happens?|is (?:thrown|raised|returned|logged|shown)|appears|indicates|means|signals|is caused)\s*(?:when|if|because|that|by)?\s*(?:there (?:is|was)\s+)?` + thing + anyNoun + `(?:\s+` + fails + `)?`,
		`(?:an?\s+)?(?:unexpected|unknown|internal|generic)?\s*(?:error|exception|problem|issue|something)\s+(?:has\s+)?` + fails,
		`there (?:are|can be|may be|could be) (?:many|several|various|multiple|different) (?:possible\s+|potential\s+)?(?:reasons?|causes?|situations?)(?: for (?:this|the) (?:error|problem|issue))?`,
		`(?:many|several|various|different|multiple|common) (?:reasons?|causes?|situations?|scenarios?|cases)`,
		`(?:this|it) (?:can|may|might|could) (?:occur|happen)(?: (?:in|for|under) (?:many|several|various|different|certain) (?:situations?|reasons?|cases|conditions|circumstances))?`,
		// what to do
		`(?:please\s+)?(?:check|review|inspect|examine|look at|read|consult|see|refer to|verify|validate|double-check|analy[sz]e|debug) ` + thing + anyNoun + tail,
		`(?:please\s+)?(?:make sure|ensure|verify|confirm|check)(?: that)? ` + thing + anyNoun + `\s+(?:is|are|has been|have been)\s+` + good,
		`(?:please\s+)?(?:try|retry|repeat|rerun|restart|reinstall|update|upgrade|reset)(?: again)?(?: ` + thing + anyNoun + `)?(?: again)?(?: later)?(?: to the latest version)?`,
		`(?:please\s+)?(?:contact|reach out to|ask|get in touch with) ` + thing + `(?:support|support team|administrator|admin|maintainers?|vendor|developers?|team)` + `(?: for (?:help|assistance|support|more information))?`,
		`(?:please\s+)?(?:fix|resolve|solve|address|correct|handle|catch|log|report|investigate|avoid|prevent) ` + thing + anyNoun + `(?:\s+(?:properly|gracefully|appropriately|correctly|accordingly))?` + tail,
		`(?:always |please )?(?:follow|use|apply|adopt) (?:the )?(?:best|good|common) practices?`,
		`(?:always |please )?(?:write|add|use) (?:more |good |proper |unit |automated |thorough )*(?:tests?|logging|error handling|validation|documentation|monitoring)`,
		`(?:always |please )?(?:test|validate|monitor) ` + thing + anyNoun + `(?:\s+(?:thoroughly|carefully|regularly|before use|before using it))?`,
		`(?:always )?be (?:careful|cautious|aware)`,
		// nothing yet
		`(?:n/?a|none|tbd|tba|todo|fixme|xxx|lorem ipsum.*|placeholder|unknown|not applicable|coming soon|to be (?:written|done|determined|added)|no (?:information|details?|description|documentation)(?: available)?|see above|see below)`,
		`as an ai\b.*`, `i hope this helps`,
	}
	return regexp.MustCompile(`^(?:` + strings.Join(shapes, `|`) + `)` + end)
})

// maxFiller is longer than any sentence that has one of the shapes, in bytes.
const maxFiller = 200

// isFiller reports whether a sentence would fit any error.
func isFiller(sentence string) bool {
	if len(sentence) > maxFiller {
		return false
	}
	s := strings.Join(strings.Fields(strings.ToLower(sentence)), " ")
	return plainWords(s) == "" || fillerShapes().MatchString(s)
}
