// Package pattern recognises messages in text and reads the values out of them.
//
// Compile turns the expression of a record into a Pattern, a list of literals
// and gaps; Match and MatchAll lay it on a text. Build makes an Index of many
// patterns, and Find reports which of them stand in a text.
package pattern
