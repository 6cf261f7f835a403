package diagnose

// commonWords are words that say little: function words, and the words that
// nearly every error message is made of.
var commonWords = setOf(`a an and are as at be been but by can did do does for from get got had has have if in into is
	it its may must no not of off on one only or out over set so than that the their then there these they this to too
	under until up use used using was were when which while will with within without would you your
	able all already any available because before after both cannot could couldn don each end empty error errors
	exist exists exists expected fail failed failing failure file files found given invalid line list missing more name
	new none null number object open option options path please read ready required returned run see should some
	start started string such type types unable unexpected unknown unsupported valid value values wrong write
	argument arguments key keys data input output user users try first last same different another other
	again also currently still instead make allowed supported support specified specify provided provide
	code call called create created creating update updated delete deleted remove removed add added`)

func setOf(list string) map[string]bool {
	set := map[string]bool{}
	from := 0
	for i := 0; i <= len(list); i++ {
		if i == len(list) || list[i] == ' ' || list[i] == '\n' || list[i] == '\t' {
			if i > from {
				set[list[from:i]] = true
			}
			from = i + 1
		}
	}
	return set
}

// worthOf weighs the literal text of a message: how unlikely it is to stand in
// a text by chance. A telling word counts one, a common one a third.
func worthOf(literals []string) (worth float64, words int) {
	for _, l := range literals {
		eachWord(l, func(from, to int) {
			words++
			worth += worthOfWord(l[from:to])
		})
	}
	return worth, words
}

// worthOfShape weighs what is telling besides words: gaps that take numbers
// only, and marks that set values off.
func worthOfShape(parts []segment) float64 {
	worth := 0.0
	for i, p := range parts {
		switch {
		case p.gap != "" && (len(p.expr) < 4 || p.expr[0] != '.' && p.expr[:4] != "(?-s"):
			worth += 0.3
		case p.gap == "" && i > 0 && i+1 < len(parts) && !hasLetter(p.text) && p.text != " ":
			worth += 0.1
		}
	}
	return min(worth, 1)
}

func worthOfWord(w string) float64 {
	var buf [32]byte
	if len(w) > len(buf) {
		return 1.5
	}
	odd := false // capitals inside, digits, underscores: a name
	for i := 0; i < len(w); i++ {
		c := w[i]
		if c >= 'A' && c <= 'Z' {
			odd = odd || i > 0
			c += 'a' - 'A'
		} else if isDigit(c) || c == '_' {
			odd = true
		}
		buf[i] = c
	}
	switch {
	case odd && len(w) > 3:
		return 1.5
	case len(w) == 1:
		return 0.1
	case commonWords[string(buf[:len(w)])]:
		return 0.35
	case len(w) <= 3:
		return 0.6
	}
	return 1
}

// eachWord calls f with the bounds of every word of s.
func eachWord[T string | []byte](s T, f func(from, to int)) {
	for i := 0; i < len(s); {
		if !isWord(s[i]) {
			i++
			continue
		}
		j := i
		for j < len(s) && isWord(s[j]) {
			j++
		}
		f(i, j)
		i = j
	}
}
