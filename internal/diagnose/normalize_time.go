package diagnose

import "bytes"

const (
	months = "JanFebMarAprMayJunJulAugSepOctNovDec"
	days   = "MonTueWedThuFriSatSun"
)

// timeLen is the length of a time at the start, with its brackets, zone and
// the mark after it.
func timeLen(t []byte) int {
	i := 0
	bracket := byte(0)
	if t[0] == '[' || t[0] == '(' {
		bracket = t[0] + 1 + t[0]>>6 // [ → ], ( → )
		i++
	}
	n := dateTimeLen(t[i:])
	if n == 0 {
		return 0
	}
	i += n
	// Zone and fraction words that belong to it.
	for {
		j := skipBlank(t, i, len(t))
		k := zoneLen(t[j:])
		if k == 0 {
			break
		}
		i = j + k
	}
	if bracket != 0 {
		end := bytes.IndexByte(t[i:min(len(t), i+60)], bracket)
		if end < 0 {
			return 0
		}
		// More may stand in the brackets: "[time: ERROR/MainProcess]".
		i += end + 1
	}
	j := skipBlank(t, i, len(t))
	if j < len(t) && (t[j] == ':' || t[j] == ',' || t[j] == '-' && dashEnds(t[j:])) && (j+1 == len(t) || t[j+1] == ' ') {
		j++
	}
	if j < len(t) && j == i && t[j] != ' ' {
		return 0
	}
	return j
}

// dashEnds reports whether a dash behind a time belongs to the prefix: a level
// or a tag follows. Else it may be the bullet of a list.
func dashEnds(t []byte) bool {
	if len(t) < 3 || t[1] != ' ' {
		return true
	}
	n, level := labelLen(t[2:])
	return n > 2 && (level != levelNone || t[2] == '[')
}

var zones = [...]string{"UTC", "GMT", "CEST", "CET", "EST", "EDT", "PST", "PDT", "JST", "MSK"}

// zoneLen reads "UTC", "+0000", "Z" and a year after a date.
func zoneLen(t []byte) int {
	if len(t) < 3 || t[0] > 'U' {
		return 0
	}
	for _, z := range zones {
		if t[0] == z[0] && bytes.HasPrefix(t, []byte(z)) && (len(t) == len(z) || !isWord(t[len(z)])) {
			return len(z)
		}
	}
	if len(t) >= 5 && (t[0] == '+' || t[0] == '-') {
		i := digits(t, 1)
		if i < len(t) && t[i] == ':' {
			i = digits(t, i+1)
		}
		if i == 5 || i == 6 {
			return i
		}
	}
	return 0
}

// dateTimeLen is the length of a date with time, of a time or of a date in one
// of the forms that logs use; 0 when there is none.
func dateTimeLen(t []byte) int {
	if isISO(t) {
		if end := clockEnd(t, 19); end > 0 {
			return yearEnd(t, end)
		}
		return 10
	}
	i := 0
	if len(t) > 4 && !isDigit(t[0]) && isOneOf(t[:3], days) && (t[3] == ' ' || t[3] == ',') {
		i = skipBlank(t, 4, len(t))
	}
	date := 0
	end := digits(t, i) // of the first number
	switch size := len(t) - i; {
	case size >= 10 && end == i+4 && (t[i+4] == '-' || t[i+4] == '/') && digits(t, i+5) == i+7 && digits(t, i+8) == i+10:
		date = i + 10
	case size >= 10 && end == i+2 && (t[i+2] == '/' || t[i+2] == '.' || t[i+2] == '-') && digits(t, i+3) == i+5 && t[i+5] == t[i+2] && digits(t, i+6) == i+10:
		date = i + 10
	case size >= 6 && end == i && isOneOf(t[i:i+3], months) && t[i+3] == ' ':
		j := skipBlank(t, i+3, len(t))
		if k := digits(t, j); k > j && k <= j+2 {
			date = k
		}
	case size >= 7 && end > i && end <= i+2 && (t[end] == ' ' || t[end] == '-' || t[end] == '/') &&
		len(t) >= end+4 && isOneOf(t[end+1:end+4], months):
		date = end + 4
		if date+5 <= len(t) && digits(t, date+1) == date+5 {
			date += 5
		}
	}
	j := i
	if date > 0 {
		j = date
		if j < len(t) && (t[j] == 'T' || t[j] == ',' || t[j] == '/' || t[j] == ':') {
			j++
		} else {
			j = skipBlank(t, j, len(t))
		}
	}
	if k := clockLen(t[j:]); k > 0 {
		if date > 0 {
			return yearEnd(t, j+k)
		}
		return j + k
	}
	if date > 0 && i+10 == date {
		return date
	}
	return 0
}

// yearEnd is the end of a time with the year behind it, if there is one:
// "Sun Dec 04 04:47:44 2005".
func yearEnd(t []byte, end int) int {
	if y := skipBlank(t, end, len(t)); y > end && digits(t, y) == y+4 && (y+4 == len(t) || t[y+4] == ']' || t[y+4] == ' ') {
		return y + 4
	}
	return end
}

// isISO reports whether a text begins with the most frequent form of a time, up to
// the seconds: "2026-03-01T08:15:02".
func isISO(t []byte) bool {
	return len(t) > 19 && t[4] == '-' && t[7] == '-' && t[13] == ':' && t[16] == ':' && (t[10] == 'T' || t[10] == ' ') &&
		areDigits(eight(t)&^(0xff<<32|0xff<<56)|'0'<<32|'0'<<56) && areDigits(eight(t[8:])&^(0xff<<16|0xff<<40)|'0'<<16|'0'<<40) &&
		isDigit(t[17]) && isDigit(t[18]) && !isDigit(t[19])
}

// areDigits reports whether the bytes of x are digits.
func areDigits(x uint64) bool {
	x ^= ones * '0'
	return x&(ones*0xf0) == 0 && (x+ones*6)&(ones*0x10) == 0
}

// isOneOf reports whether three bytes are in a list of such.
func isOneOf(word []byte, list string) bool {
	for i := 0; i+3 <= len(list); i += 3 {
		if word[0] == list[i] && word[1] == list[i+1] && word[2] == list[i+2] {
			return true
		}
	}
	return false
}

// clockLen reads hh:mm:ss with a fraction and a zone letter.
func clockLen(t []byte) int {
	i := digits(t, 0)
	if i == 0 || i > 2 || i >= len(t) || t[i] != ':' {
		return 0
	}
	j := digits(t, i+1)
	if j != i+3 || j >= len(t) || t[j] != ':' {
		return 0
	}
	k := digits(t, j+1)
	if k != j+3 {
		return 0
	}
	return clockEnd(t, k)
}

// clockEnd is the end of a time of day whose seconds end at k, 0 when it is none.
func clockEnd(t []byte, k int) int {
	if k < len(t) && (t[k] == '.' || t[k] == ',' || t[k] == ':') && digits(t, k+1) > k+1 {
		k = digits(t, k+1)
	}
	if k < len(t) && t[k] == 'Z' {
		k++
	} else if k+2 < len(t) && (t[k] == '+' || t[k] == '-') {
		k += zoneLen(t[k:])
	}
	if k < len(t) && isWord(t[k]) {
		return 0
	}
	return k
}

// sourceLen reads what syslog and its relatives put after the time: host and
// program with its number ("host-01 systemd[1]: ").
func sourceLen(t []byte) int {
	if bytes.IndexByte(t, '[') < 0 {
		return 0
	}
	i := skipBlank(t, 0, len(t))
	for words := 0; words < 2 && i < len(t); words++ {
		j := i
		for j < len(t) && j-i < 80 && byteKinds[t[j]]&inSource != 0 {
			j++
		}
		if j == i {
			return 0
		}
		if j < len(t) && t[j] == '[' {
			k := digits(t, j+1)
			if k > j+1 && k+1 < len(t) && t[k] == ']' && t[k+1] == ':' {
				return k + 2
			}
			return 0
		}
		i = skipBlank(t, j, len(t))
		if i == j {
			return 0
		}
	}
	return 0
}
