// Package cpu says what the processor can do, for the few loops that are written
// for it. Each of them has a portable twin.
package cpu
