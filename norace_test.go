//go:build !race

package oxpatch_test

const raceDetector = false
