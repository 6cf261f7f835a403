// Package pattern recognises messages in text and reads the values out of them.
//
// # API
//
// Compile turns the expression of a record into a Pattern, a list of literals and
// gaps. Match and MatchAll lay it on a text. Weak, Reduced, Literals and Names say
// what it is made of.
//
// Build makes an Index of many patterns and Find reports which of them stand in a
// text, each place once. AppendBinary and Open write and read an index without
// decoding it; With replaces single patterns. All of them may be used by several
// goroutines at once, so large texts can be searched in pieces side by side.
//
// # Reading
//
// An expression is matched as a person reads it. A chain is a run of literals and
// white space; gaps stand between chains, before the first (head) and after the
// last (tail). Among all ways to lay the chains on a text the cheapest is taken: one
// thing that looks wrong, such as a bracket left open, a quote that closes inside a
// word or a path cut at its blank, costs more than any length, and of equally good
// readings the shortest wins (reading.go). A tail runs to the end of the message: the
// line, the quote or bracket that encloses the message, a remark that programs add
// (tail.go). A head does not swallow the prefix of the line (head.go).
//
// A pattern finds what its expression finds, by Go's regexp, except:
//
//   - a pattern does not begin or end in the middle of a word: "Error" is not found
//     in "SyntaxError";
//   - a gap written .+? may be empty;
//   - a full stop at the end of a pattern may be missing where the message ends (a
//     match says so: NoStop);
//   - a value that begins on an indented line of its own may be a list of such lines;
//   - white space in an expression stands for the same characters, and \s+ for any
//     run of them;
//   - a value has at most 8 KiB, and of a literal that repeats 8 places are weighed;
//   - a pattern without text of its own finds nothing, and one with less than two
//     letters or digits is left out of an index;
//   - (?i) is for ASCII letters.
//
// What cannot be written as literals and gaps (assertions, repeated groups) stays a
// regular expression, behind a search for a literal that it needs.
//
// # The index
//
// Looking at every byte of a log with a state machine of a hundred thousand patterns
// means a cache miss at every byte. The index looks at word starts only, of which
// there are about a hundred in a kilobyte, and sieves them:
//
//  1. A word starts at an ASCII letter that follows none and is followed by one. Eight
//     bytes at a time are examined with plain integer arithmetic (startsPortable), or
//     64 where the processor has AVX2 (starts_amd64.s) or AVX-512 (sieve_amd64.s).
//  2. Each pattern has one anchor: a word start inside its literals and a key made of
//     the bytes around it, in one of the shapes of keys.go. Of all its anchors the one
//     is chosen whose key is rarest in the set of patterns and in a sample of ordinary
//     logs (rank), so that ordinary lines pass nothing on.
//  3. Two bitmaps are asked at every word start, over the 4 and over the 8 bytes after
//     it; a third is asked for the keys of those that pass (passWords, passKeys). A
//     block of text goes through one stage after the other, so that cache misses
//     overlap. With AVX-512 16 words are asked at once (wordsAVX512), and most that
//     the third bitmap does not know are dropped eight at a time (keysAVX512).
//  4. A hash table leads from a key to its entries, of 24 bytes. An entry has a tag of
//     its key, four more bytes of the literal and a signature of the words that the
//     line must hold, which sort out most candidates before their record is touched
//     (lookUp). The words of the line were found already (sign).
//  5. The record of a pattern is laid out and matched on the line of its anchor, once
//     for each line (verify); a pattern without gaps is only searched for
//     (reportPlain). In lines beyond 16 KiB, and for patterns that go across
//     lines, the text around the anchor is searched instead (around).
//
// The few patterns without a word start of four sure bytes are loose: they are
// searched for by the rarest byte of their longest literal.
//
// Everything is flat arrays of bytes (segment), about 80 bytes for a pattern of 45
// characters: the record with its text, an entry, and 8 bytes of bitmaps and
// buckets. A serialised index is these arrays behind a head with a version, a checksum
// and the caller's stamp, and can be a mapped file. An index whose patterns were
// replaced has a second segment, and a bitmap of the ids that it replaces.
//
// Work is linear in the text whatever it holds: gaps are bounded, every stretch of text
// is searched for a chain once (matcher.find), and each line or stretch is searched for
// a pattern once however often its anchor stands there. TestWorstCaseIsLinear counts.
package pattern
