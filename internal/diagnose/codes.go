package diagnose

// codeTable finds records by the codes under which they appear.
type codeTable map[string][]int

func newCodeTable(entries []entry) codeTable {
	t := codeTable{}
	for i := range entries {
		e := &entries[i]
		for _, code := range append([]string{e.Code}, e.Aliases...) {
			if isCode([]byte(code)) {
				t[code] = append(t[code], i)
			}
		}
	}
	return t
}

// isCode reports whether a word has the shape of an error code: capitals with
// digits or underscores ("TS2307", "ERR_MODULE_NOT_FOUND", "E0382", "23505").
func isCode(t []byte) bool {
	if len(t) < 4 || len(t) > 80 {
		return false
	}
	capitals, others := 0, 0
	for _, c := range t {
		switch {
		case c >= 'A' && c <= 'Z':
			capitals++
		case isDigit(c) || c == '_' || c == '-':
			others++
		default:
			return false
		}
	}
	return capitals > 0 && (others > 0 || len(t) >= 5)
}

func (w *work) findCodes() {}

func (w *work) findCut() {}
