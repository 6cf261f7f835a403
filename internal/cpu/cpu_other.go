//go:build !amd64

package cpu

// AVX2 says that the processor and the system know AVX2, BMI1 and POPCNT.
const AVX2 = false
