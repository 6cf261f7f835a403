//go:build !amd64

package pattern

func eachWay(f func(way string)) { f("portable") }
