package main

import (
	"math"
	"runtime"
	"runtime/debug"
)

// freeMemory is how much the program may use before memory is collected at all.
const freeMemory = 96 << 20

// collectLate puts garbage collection off until the program has used some memory: most runs end
// before it would pay. With the first collection the usual rules come back.
func collectLate() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(freeMemory)
	sentinel := new([16]byte)
	runtime.SetFinalizer(sentinel, func(*[16]byte) {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
	})
}
