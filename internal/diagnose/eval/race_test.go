//go:build race

package eval

const underRaceDetector = true
